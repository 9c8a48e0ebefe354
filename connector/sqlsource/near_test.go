package sqlsource

import (
	"strings"
	"testing"

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
	day := column{Column: sqlengine.Column{
		Type: wire.TypeDate, Class: sqlengine.ClassDate, Raw: "day(n)", Index: sqlengine.Index{Near: bareNear},
	}}
	guarded := day
	guarded.Loose.Guard = "odd(n)"
	word := column{Column: sqlengine.Column{
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
		column column
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
		{"what the column cannot hold", day, filter(wire.OpEq, "soon"), falseSQL, 0},
		{"texts", word, filter(wire.OpLt, "x"), "((n < ?1) AND bytes(n) < ?2)", 2},
		{"a prefix", word, filter(wire.OpStartsWith, "ab"),
			"(((n >= ?1) AND (n < ?2)) AND substr(CAST(bytes(n) AS BLOB), 1, length(CAST(?3 AS BLOB))) = CAST(?3 AS BLOB))", 3},
		{"equality that has an index already", same, filter(wire.OpEq, "x"), "n = ?1", 1},
	} {
		b := &builder{flavor: SQLite()}
		got, ok := b.condition(&c.column, c.filter)
		require.True(t, ok, c.why)
		require.Equal(t, c.want, got, c.why)
		require.Len(t, b.args, c.args, c.why)
	}
}

// TestScope shows among which rows values are looked for that SQL would misjudge:
// all that any filter may select if the engine judged them rightly.
func TestScope(t *testing.T) {
	r := &relation{byName: map[string]*column{
		"day": {name: "day", Column: sqlengine.Column{Class: sqlengine.ClassDate, Raw: "d",
			Loose: sqlengine.Loose{Guard: "odd(d)"}, Index: sqlengine.Index{Near: bareNear}}},
		"far":  {name: "far", Column: sqlengine.Column{Class: sqlengine.ClassDate, Raw: "f", Loose: sqlengine.Loose{Guard: "odd(f)"}}},
		"part": {name: "part", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "p"}},
	}}
	on := func(field string, op wire.Op, value wire.Value) wire.Filter {
		return wire.Filter{Field: field, Op: op, Value: value}
	}
	from, part := on("day", wire.OpGte, wire.Text("2024-01-02")), on("part", wire.OpEq, wire.Int(7))
	for _, c := range []struct {
		why   string
		where wire.Where
		want  string
	}{
		{"no filter", wire.Where{}, ""},
		{"a filter that judges every value rightly", wire.Where{And: []wire.Filter{part}}, "p = ?1"},
		{"one that may misjudge values: where the index has it", wire.Where{And: []wire.Filter{from}}, "(n >= ?1)"},
		{"one that may misjudge them and has no index", wire.Where{And: []wire.Filter{on("far", wire.OpGte, wire.Text("2024-01-02"))}}, ""},
		{"inequality", wire.Where{And: []wire.Filter{on("day", wire.OpNeq, wire.Text("2024-01-02"))}}, ""},
		{"several", wire.Where{And: []wire.Filter{from, part}}, "(n >= ?1) AND p = ?2"},
		{"a group of or: a row may meet another", wire.Where{Or: [][]wire.Filter{{from}, {part}}}, ""},
	} {
		b := &builder{flavor: SQLite()}
		require.Equal(t, c.want, strings.Join(r.within(c.where).conditions(b), " AND "), c.why)
	}
}

// TestTies shows how the ties of a sort are broken. A sort that values may leave to
// the library has them in the library's order.
func TestTies(t *testing.T) {
	id := &column{name: "id", Column: sqlengine.Column{Class: sqlengine.ClassText, Raw: "id", Key: "bytes(id)", Index: sqlengine.Index{Stored: "id"}}}
	plain := &column{name: "n", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "n", Key: "n"}}
	guarded := &column{name: "g", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "g", Key: "g", Loose: sqlengine.Loose{Guard: "odd(g)"}}}
	r := &relation{columns: []*column{id, plain, guarded}, primary: []*column{id}, unique: []*column{id}, enforced: true}
	for _, c := range []struct {
		why  string
		ties ties
		want []orderTerm
	}{
		{"no sort: as the index has it", ties{unsorted: true}, []orderTerm{{"id", false, false}}},
		{"ascending", ties{used: []*column{plain}}, []orderTerm{{"id", false, false}}},
		{"descending: the index is read backwards", ties{used: []*column{plain}, desc: true}, []orderTerm{{"id", true, false}}},
		{"a sort that the library may have to do", ties{used: []*column{guarded}, desc: true}, []orderTerm{{"bytes(id)", false, false}}},
		{"a sort by the key itself", ties{used: []*column{id}, desc: true}, nil},
	} {
		o := order{total: true}
		o.breakTies(r, c.ties)
		require.Equal(t, c.want, o.terms, c.why)
		require.True(t, o.total, c.why)
	}
}
