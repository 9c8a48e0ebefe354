package sqltext

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// bareNear compares the bare column n with what is bound.
func bareNear(sign string, arg any, bind func(any) string) string {
	return "n " + sign + " " + bind(arg)
}

// TestNear shows what stands beside the exact condition of a filter.
func TestNear(t *testing.T) {
	day := Column{Column: sqlengine.Column{
		Type: wire.TypeDate, Class: sqlengine.ClassDate, Raw: "day(n)", Index: sqlengine.Index{Near: bareNear},
	}}
	guarded := day
	guarded.Loose.Guard = "odd(n)"
	word := Column{Column: sqlengine.Column{
		Type: wire.TypeString, Class: sqlengine.ClassText, Raw: "bytes(n)", Text: "bytes(n)", Index: sqlengine.Index{Near: bareNear},
	}}
	same := word
	same.Index.Equal = func(args []any, bind func(any) string) string { return "n = " + bind(args[0]) }
	filter := func(op wire.Op, values ...string) wire.Filter {
		f := wire.Filter{Field: "n", Op: op}
		if op == wire.OpIn || op == wire.OpNin {
			for _, v := range values {
				f.Values = append(f.Values, wire.Text(v))
			}
			return f
		}
		f.Value = wire.Text(values[0])
		return f
	}
	for _, c := range []struct {
		why    string
		column Column
		filter wire.Filter
		want   string
		args   int
	}{
		{"a comparison", day, filter(wire.OpGte, "2024-01-02"), "((n >= ?1) AND day(n) >= ?2)", 2},
		{"an operand that was cut", day, filter(wire.OpGt, "2024-01-02T10:00:00Z"), "((n > ?1) AND day(n) > ?2)", 2},
		{"a cut operand, where values of another type may lie between", guarded, filter(wire.OpGt, "2024-01-02T10:00:00Z"), "day(n) > ?1", 1},
		{"what is unequal is nearly everything", day, filter(wire.OpNeq, "2024-01-02"), "day(n) <> ?1", 1},
		{"a list", day, filter(wire.OpIn, "2024-01-02", "2024-01-03"), "(((n = ?1) OR (n = ?2)) AND (day(n) IN (?3, ?4)))", 4},
		{"all but a list", day, filter(wire.OpNin, "2024-01-02"), "(day(n) IS NULL OR NOT (day(n) IN (?1)))", 1},
		{"what the column cannot hold", day, filter(wire.OpEq, "soon"), False, 0},
		{"texts", word, filter(wire.OpLt, "x"), "((n < ?1) AND bytes(n) < ?2)", 2},
		{"a prefix", word, filter(wire.OpStartsWith, "ab"),
			"(((n >= ?1) AND (n < ?2)) AND substr(CAST(bytes(n) AS BLOB), 1, length(CAST(?3 AS BLOB))) = CAST(?3 AS BLOB))", 3},
		{"equality that has an index already", same, filter(wire.OpEq, "x"), "n = ?1", 1},
	} {
		b := &Builder{Flavor: sqlite.Flavor{}}
		got, ok := b.Condition(&c.column, c.filter)
		require.True(t, ok, c.why)
		require.Equal(t, c.want, got, c.why)
		require.Len(t, b.Args, c.args, c.why)
	}
}
