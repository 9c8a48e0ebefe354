package exam

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// notes returns a table of forty rows with a text of each kind, of which half say "plain",
// and a column with few values.
func notes() *Subject {
	texts := []string{
		"first\nsecond", "it's late", `said "no"`, `C:\temp`, "100% wool", "a_b", "a+b", "b & c", "x;y", "one,two", "so 😀", "e\u0301te",
		"Maß", "İzmir", "émigré", "behind ", " before",
	}
	var rows [][]wire.Value
	for i := range 40 {
		text := "plain"
		if i < len(texts) {
			text = texts[i]
		}
		rows = append(rows, []wire.Value{wire.Int(int64(i)), wire.Text(text), wire.Text(fmt.Sprint("state", i*i%5))})
	}
	return subject("notes", []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "note", Type: wire.TypeString},
		{Name: "state", Type: wire.TypeString}}, rows)
}

func TestEachValueIsAsked(t *testing.T) {
	s := notes()
	g := gridOf(s, wire.OpEq, wire.OpIn)
	first, equal, all := "", map[string]bool{}, false
	for _, q := range askedOf(g, false, query...) {
		f := q.And[0]
		switch {
		case f.Field != "state":
		case f.Op == wire.OpIn:
			all = all || !slices.ContainsFunc(s.column("state").cells, func(v wire.Value) bool { return !slices.Contains(f.Values, v) })
		case first == "":
			first = f.Value.String()
			fallthrough
		default:
			equal[f.Value.String()] = true
		}
	}
	require.False(t, s.column("state").has(wire.Text(first)), "a value that no row has comes before those of the rows: %q", first)
	for _, v := range s.column("state").cells {
		require.True(t, equal[v.String()], "%v", v)
	}
	require.True(t, all, "in of all values")
}

// TestEachKindOfTextIsAsked: each operator on texts is asked with an operand of each kind
// that some row holds, and that keeps that row.
func TestEachKindOfTextIsAsked(t *testing.T) {
	for _, op := range []wire.Op{wire.OpEq, wire.OpIn, wire.OpIncludes, wire.OpStartsWith} {
		g, asked := gridOf(notes(), op), map[string]bool{}
		for _, q := range askedOf(g, false, query...) {
			f := q.And[0]
			for _, v := range append([]wire.Value{f.Value}, f.Values...) {
				for _, k := range kinds {
					if f.Field == "note" && k.of(v.String()) && q.matching(q.And, nil) > 0 {
						asked[k.name] = true
					}
				}
			}
		}
		for _, k := range kinds {
			require.True(t, asked[k.name], "%s with %s", op, k.name)
		}
	}
}

// TestParticularCombinations requires two bounds with values of rows, of both kinds, and
// groups of which one has a second condition.
func TestParticularCombinations(t *testing.T) {
	bounds, unequal := map[[2]wire.Op]bool{}, 0
	for q := range ofCorpus(3).Combinations(KeepAll, wire.PathQuery) {
		if len(q.And) == 2 && len(q.Or) == 0 && q.And[0].Field == q.And[1].Field && terms.ShapeOf(q.And[0].Op) == terms.ShapeValue {
			if c := q.column(q.And[0].Field); c.has(q.And[0].Value) && c.has(q.And[1].Value) {
				bounds[[2]wire.Op{q.And[0].Op, q.And[1].Op}] = true
			}
		}
		if len(q.And) == 0 && len(q.Or) == 2 && len(q.Or[0])+len(q.Or[1]) == 3 {
			unequal++
			long, short := q.Or[0], q.Or[1]
			if len(long) == 1 {
				long, short = short, long
			}
			require.Equal(t, long[0].Field, short[0].Field)
			in := []wire.Filter{{Field: short[0].Field, Op: wire.OpIn, Values: []wire.Value{long[0].Value, short[0].Value}}}
			require.Greater(t, q.matching(in, nil), q.matching(nil, q.Or), "%v: the second condition matters", q.Where)
		}
	}
	for _, ops := range [][2]wire.Op{{wire.OpGt, wire.OpLt}, {wire.OpGte, wire.OpLte}} {
		require.True(t, bounds[ops], "%v", ops)
	}
	require.Greater(t, unequal, 5)
}

// tabular are the columns of a table.
type tabular []wire.Column

func (t tabular) Columns() []wire.Column { return t }

// TestTurns: every table has a turn, one with more columns has more of them, and tables
// with the same columns share theirs.
func TestTurns(t *testing.T) {
	columns := func(prefix string, n int) (list []wire.Column) {
		for i := range n {
			list = append(list, wire.Column{Name: fmt.Sprint(prefix, i), Type: wire.TypeString})
		}
		return list
	}
	tables := []tabular{columns("a", 12), columns("b", 6)}
	for range 4 {
		tables = append(tables, columns("list", 4))
	}
	turns := NewTurns(tables)
	for range 80 {
		require.NotEqual(t, 5, turns.Next(func(i int) bool { return i != 5 }), "it is not open")
	}
	require.InDelta(t, 2, float64(turns.taken[0])/float64(turns.taken[1]), 0.4)
	for i := 2; i < 5; i++ {
		require.Positive(t, turns.taken[i], "table %d", i)
		require.Less(t, 3*turns.taken[i], turns.taken[1], "table %d", i)
	}
	require.Equal(t, -1, turns.Next(func(int) bool { return false }))
}

// TestLongListsOnly: a column of which every list is too long to be an operand has none that is worth asking for.
func TestLongListsOnly(t *testing.T) {
	var rows [][]wire.Value
	for i := range 3 {
		long := fmt.Sprintf(`["tag %d","%s"]`, i, strings.Repeat("x", maxLongOperand))
		rows = append(rows, []wire.Value{wire.Int(int64(i)), wire.Text(long)})
	}
	s := subject("t", []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "tags", Type: wire.TypeArray}}, rows)
	c := gridOf(s, wire.OpContains).Cell("t", wire.Filter{Field: "tags", Op: wire.OpContains})
	require.NotPanics(t, c.plan)
}
