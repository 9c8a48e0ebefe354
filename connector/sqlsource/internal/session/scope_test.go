package session

import (
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
	"github.com/stretchr/testify/require"
)

// nearBare compares the bare column n with what is bound.
func nearBare(sign string, arg any, bind func(any) string) string {
	return "n " + sign + " " + bind(arg)
}

// TestScope shows among which rows values are looked for that SQL would misjudge:
// all that any filter may select if the engine judged them rightly.
func TestScope(t *testing.T) {
	r := &Relation{byName: map[string]*sqltext.Column{
		"day": {Name: "day", Column: sqlengine.Column{Class: sqlengine.ClassDate, Raw: "d",
			Loose: sqlengine.Loose{Guard: "odd(d)"}, Index: sqlengine.Index{Near: nearBare}}},
		"far":  {Name: "far", Column: sqlengine.Column{Class: sqlengine.ClassDate, Raw: "f", Loose: sqlengine.Loose{Guard: "odd(f)"}}},
		"part": {Name: "part", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "p"}},
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
		b := &sqltext.Builder{Flavor: sqlite.Flavor{}}
		require.Equal(t, c.want, strings.Join(r.Within(c.where).conditions(b), " AND "), c.why)
	}
}
