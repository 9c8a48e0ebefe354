package exam

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// stock returns a table with some columns, nil for all, that pack well: each has values that few rows share.
func stock(names ...string) *Subject {
	var rows [][]wire.Value
	for i := range int64(60) {
		kind := []string{"Bolt", "bolt", "nut", "NUT", "gear"}[i%5]
		rows = append(rows, []wire.Value{
			wire.Int(i), wire.Text(fmt.Sprint(kind, i%7)), wire.Text(fmt.Sprint("Bin ", i%11)), wire.Decimal(fmt.Sprintf("%d.50", i%13)),
			wire.Text(fmt.Sprintf(`{"n":%d}`, i%3)),
		})
	}
	described := &wire.Table{Name: "stock", PrimaryKey: []string{"id"}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber}, {Name: "part", Type: wire.TypeString}, {Name: "place", Type: wire.TypeString},
		{Name: "price", Type: wire.TypeDecimal}, {Name: "more", Type: wire.TypeJSON},
	}}
	for i := len(described.Fields) - 1; i > 0; i-- {
		if len(names) > 0 && !slices.Contains(names, described.Fields[i].Name) {
			described.Fields = slices.Delete(described.Fields, i, i+1)
			for j := range rows {
				rows[j] = slices.Delete(rows[j], i, i+1)
			}
		}
	}
	return NewSubject(&oracle.Table{Name: "stock", Columns: described.Columns(), PrimaryKey: described.PrimaryKey, Rows: rows}, described)
}

var packedOps = []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpIn, wire.OpIncludes, wire.OpStartsWith}

// answers returns which rows satisfy a question, with one of its filters read by a matcher.
func answers(q *Question, misread *wire.Filter, by matcher) (kept string) {
	passes := func(row []wire.Value, f wire.Filter) bool {
		c := q.column(f.Field)
		if misread != nil && f.Field == misread.Field && f.Op == misread.Op {
			return by(row[c.at])
		}
		return right(f, c.Type)(row[c.at])
	}
	for i, row := range q.Table.Rows {
		and, or := true, len(q.Or) == 0
		for _, f := range q.And {
			and = and && passes(row, f)
		}
		for _, group := range q.Or {
			or = or || passes(row, group[0])
		}
		if and && or {
			kept += fmt.Sprint(i, " ")
		}
	}
	return kept
}

// TestWhatOthersHideIsAsked reads each filter wrongly in each way that its cell was planned to show:
// the answer to some question differs, although most questions have several filters.
func TestWhatOthersHideIsAsked(t *testing.T) {
	s := stock()
	g := gridOf(s, packedOps...)
	type planned struct{ field, op, as string }
	wanted := map[planned]bool{}
	for _, c := range g.tables[0].cells {
		c.plan()
		for _, o := range c.filters {
			for _, m := range o.adds {
				if m.read != nil || m.other != nil { // else it is particular to the column
					wanted[planned{c.Field, string(c.Op), m.as}] = true
				}
			}
		}
	}
	require.Greater(t, len(wanted), 100)
	packs := 0
	for {
		q := g.pack(g.tables[0], query)
		if q == nil {
			q = g.single(g.tables[0], query)
		} else {
			packs++
		}
		if q == nil {
			break
		}
		for f := range q.Filters() {
			for i := range misreadings {
				m := &misreadings[i]
				key := planned{f.Field, string(f.Op), m.as}
				if by := matcherOf(m, f, q.column(f.Field).Type); by != nil && wanted[key] && answers(q, &f, by) != answers(q, nil, nil) {
					delete(wanted, key)
				}
			}
		}
	}
	require.Greater(t, packs, 10)
	require.Empty(t, wanted)
}

// TestPacksAreOfOneKind requires that what connectors evaluate themselves is not asked beside what they
// hand on.
func TestPacksAreOfOneKind(t *testing.T) {
	s := stock()
	g := gridOf(s, append(packedOps, wire.OpContains)...)
	packs := [2]int{}
	for q := g.pack(g.tables[0], query); q != nil; q = g.pack(g.tables[0], query) {
		handedOn, filters := 0, 0
		for f := range q.Filters() {
			if filters++; usual(f, s.column(f.Field)) {
				handedOn++
			}
		}
		require.Contains(t, []int{0, filters}, handedOn)
		packs[min(handedOn, 1)]++
	}
	require.Positive(t, packs[0], "when nothing usual is left, the others have their turn")
	require.Positive(t, packs[1])
	for _, few := range [][]string{{"id", "part", "place"}, {"id", "price", "place"}} { // one column of a kind, two of the other
		g := gridOf(stock(few...), wire.OpEq)
		require.NotNil(t, g.pack(g.tables[0], query), "%s: a filter without others of its kind keeps none of them back", few)
	}
	for _, c := range []struct {
		field string
		op    wire.Op
		value wire.Value
		want  bool
	}{
		{"part", wire.OpIncludes, wire.Text("olt"), true},
		{"price", wire.OpGt, wire.Decimal("1.50"), true},
		{"price", wire.OpGt, wire.Text("+1.50"), false},
		{"price", wire.OpIncludes, wire.Text("1"), false},
		{"part", wire.OpEq, wire.Null(), false},
		{"more", wire.OpEq, wire.Text(`{"n":1}`), false},
		{"part", wire.OpContains, wire.Text("Bolt1"), false},
	} {
		require.Equal(t, c.want, usual(wire.Filter{Field: c.field, Op: c.op, Value: c.value}, s.column(c.field)), "%s %s %v", c.field, c.op, c.value)
	}
}

// matcherOf returns what a misreading takes for a match, or nil if it does not concern the filter.
func matcherOf(m *misreading, f wire.Filter, t wire.Type) matcher {
	if m.other == nil {
		return m.read(f, t)
	}
	f, t, ok := m.other(f, t)
	switch {
	case !ok:
		return nil
	case m.cells != nil:
		return through(m.cells, f, t)
	}
	return right(f, t)
}
