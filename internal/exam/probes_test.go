package exam

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// probesOf returns all probes about some tables.
func probesOf(g *Grid, routes ...string) (list []*Question) {
	for _, t := range g.tables {
		for q := g.probe(t, routes); q != nil; q = g.probe(t, routes) {
			list = append(list, q)
		}
	}
	return list
}

// TestProbes requires what no chance decides: each kind of text with each operator on texts, each value
// of a column with few, all of them in one list, a long list of a column with many, operands that
// no row has, and operands without letters.
func TestProbes(t *testing.T) {
	s := notes()
	ops := []wire.Op{wire.OpEq, wire.OpIn, wire.OpNin, wire.OpIncludes, wire.OpStartsWith}
	kindsOf, equal, longest := map[string]bool{}, map[string]bool{}, map[string]int{}
	everything, empty, without, absent, single := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, q := range probesOf(gridOf(s, ops...), query...) {
		for f := range q.Filters() {
			keeps := s.matching([]wire.Filter{f}, nil) > 0
			switch {
			case f.Value == wire.Text(""):
				everything[f.Field+" "+string(f.Op)] = true
			case f.Op == wire.OpNin:
				without[f.Field] = true
			case f.Op == wire.OpIn && len(f.Values) == 0:
				empty[f.Field] = true
			case f.Op == wire.OpIn && !keeps && len(f.Values) == 1:
				single[f.Field] = true
			case f.Op == wire.OpIn && keeps:
				longest[f.Field] = max(longest[f.Field], len(f.Values))
			case f.Op == wire.OpEq && !keeps:
				absent[f.Field] = true
			case f.Op == wire.OpEq:
				equal[f.Field+" "+f.Value.String()] = true
			}
			for _, k := range kinds {
				if f.Field == "note" && keeps && k.of(f.Value.String()) {
					kindsOf[string(f.Op)+" "+k.name] = true
				}
			}
		}
	}
	for _, k := range kinds {
		for _, op := range []wire.Op{wire.OpEq, wire.OpIncludes, wire.OpStartsWith} {
			require.True(t, kindsOf[string(op)+" "+k.name], "%s with %s", op, k.name)
		}
	}
	for _, name := range []string{"note", "state"} {
		c := s.column(name)
		for _, v := range c.cells {
			require.True(t, equal[name+" "+v.String()], "%s eq %s", name, v)
		}
		require.Equal(t, len(c.cells), longest[name], "in of all values of %s", name)
		require.True(t, everything[name+" includes"] && everything[name+" startswith"], name)
	}
	for _, c := range s.columns {
		require.True(t, empty[c.Name] && without[c.Name] && absent[c.Name], c.Name)
		require.Equal(t, c.Type == wire.TypeString, single[c.Name], c.Name)
	}
}

// TestProbesHideNothing requires that each group of a probe that keeps rows keeps one that no other
// group keeps.
func TestProbesHideNothing(t *testing.T) {
	both := notes() // some texts are of two kinds
	for i, text := range []string{`O'Brien "x"`, "100% of 😀_", "a+b & c", "d+e & f", `C:\x "b"`} {
		both.Table.Rows[i] = []wire.Value{wire.Int(int64(i)), wire.Text(text), wire.Text("state0")}
	}
	both.Renew(both.Table, &wire.Table{Name: "notes", PrimaryKey: []string{"id"}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber}, {Name: "note", Type: wire.TypeString}, {Name: "state", Type: wire.TypeString},
	}})
	for _, q := range probesOf(gridOf(both, wire.OpEq, wire.OpIncludes, wire.OpStartsWith), query...) {
		whole := q.matching(q.And, q.Or)
		for i := range q.Or {
			if q.matching(nil, q.Or[i:i+1]) > 0 {
				others := slices.Delete(slices.Clone(q.Or), i, i+1)
				require.True(t, len(others) > 0 && q.matching(q.And, others) < whole || len(others) == 0, "%v of %v", q.Or[i], q.Where)
			}
		}
		require.LessOrEqual(t, len(q.Or), maxPackedOr)
	}
}

// TestProbesAreShared: tables with the same columns take turns with their probes, a table that was
// not read whole is asked for conditions of and only, and a broken cell is left out.
func TestProbesAreShared(t *testing.T) {
	of := func(window int64, names ...string) *Grid {
		var subjects []*Subject
		for _, name := range names {
			s := notes()
			s.Table.Name, s.Window = name, window
			subjects = append(subjects, s)
		}
		ops := []wire.Op{wire.OpEq, wire.OpIn, wire.OpNin, wire.OpIncludes}
		return New(7, declaring(wire.Capabilities{Operators: ops}), subjects).Grid()
	}
	alone, shared := probesOf(of(0, "a"), query...), of(0, "a", "b", "c")
	tables := map[string]int{}
	for _, q := range probesOf(shared, query...) {
		tables[q.Table.Name]++
	}
	require.Len(t, tables, 3)
	require.InDelta(t, len(alone), tables["a"]+tables["b"]+tables["c"], 3, "as many as of one table")
	require.Empty(t, probesOf(shared, query...), "each is asked once")
	shared.Restart()
	require.NotEmpty(t, probesOf(shared, query...))

	windowed := probesOf(of(10, "a"), query...)
	require.NotEmpty(t, windowed)
	for _, q := range windowed {
		require.Empty(t, q.Or, "%v", q.Where)
	}

	broken := of(0, "a")
	broken.Cell("a", wire.Filter{Field: "note", Op: wire.OpIncludes}).Broken = true
	for _, q := range probesOf(broken, query...) {
		for f := range q.Filters() {
			require.False(t, f.Field == "note" && f.Op == wire.OpIncludes)
		}
	}
}

// TestLongListOfManyValues: a list of a column with many values has more members than careless
// sources send, and all of them are in the column. It is asked for with in and with nin.
func TestLongListOfManyValues(t *testing.T) {
	described := &wire.Table{Name: "t", PrimaryKey: []string{"id"}, Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}}}
	const many = 200
	var rows [][]wire.Value
	for i := range many {
		rows = append(rows, []wire.Value{wire.Int(int64(i))})
	}
	s := NewSubject(&oracle.Table{Name: "t", Columns: described.Columns(), PrimaryKey: described.PrimaryKey, Rows: rows}, described)
	kept := map[wire.Op]int{}
	for _, q := range probesOf(gridOf(s, wire.OpIn, wire.OpNin), query...) {
		if len(q.And) == 1 && len(q.And[0].Values) == probedList {
			kept[q.And[0].Op] = s.matching(q.And, nil)
		}
	}
	require.Equal(t, map[wire.Op]int{wire.OpIn: probedList, wire.OpNin: many - probedList}, kept)
}

// TestPartOf requires the part that makes a text one of its kind, with a character on either side.
func TestPartOf(t *testing.T) {
	kindOf := func(name string) *kind {
		return &kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
	}
	tests := []struct {
		kind, text, includes, startswith string
	}{
		{"a backslash", `C:\temp`, `:\t`, `C:\t`},
		{"a blank at the end", "behind ", "d ", "behind "},
		{"a blank at the begin", " before", " b", " b"},
		{"a control character", "a\nb", "a\nb", "a\nb"},
		{"%", "100%", "0%", "100%"},
	}
	for _, test := range tests {
		k := kindOf(test.kind)
		require.Equal(t, test.includes, k.partOf(test.text, wire.OpIncludes), test.kind)
		require.Equal(t, test.startswith, k.partOf(test.text, wire.OpStartsWith), test.kind)
		require.Equal(t, test.text, k.partOf(test.text, wire.OpEq), test.kind)
	}
}
