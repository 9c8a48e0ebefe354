package exam

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// stock returns a table with columns that pack well: each has values that few rows share.
func stock() *Subject {
	var rows [][]wire.Value
	for i := range int64(60) {
		kind := []string{"Bolt", "bolt", "nut", "NUT", "gear"}[i%5]
		rows = append(rows, []wire.Value{
			wire.Int(i), wire.Text(fmt.Sprint(kind, i%7)), wire.Text(fmt.Sprint("Bin ", i%11)), wire.Decimal(fmt.Sprintf("%d.50", i%13)),
			wire.Text(fmt.Sprintf(`{"n":%d}`, i%3)),
		})
	}
	return subject("stock", []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "part", Type: wire.TypeString},
		{Name: "place", Type: wire.TypeString}, {Name: "price", Type: wire.TypeDecimal}, {Name: "more", Type: wire.TypeJSON}}, rows)
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
	for _, q := range askedOf(g, true, query...) {
		if len(q.And)+len(q.Or) > 1 {
			packs++
		}
		for f := range q.Filters() {
			for i := range misreadings {
				m := &misreadings[i]
				if f.Op == wire.OpIn && len(f.Values) == 1 && m.ofOne != nil {
					m = m.ofOne
				}
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
	for _, q := range askedOf(g, true, query...) {
		handedOn, filters := 0, 0
		for f := range q.Filters() {
			if filters++; usual(f, s.column(f.Field)) {
				handedOn++
			}
		}
		require.Contains(t, []int{0, filters}, handedOn)
		if filters > 1 {
			packs[min(handedOn, 1)]++
		}
	}
	require.Positive(t, packs[0])
	require.Positive(t, packs[1])
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
		f := wire.Filter{Field: c.field, Op: c.op, Value: c.value}
		require.Equal(t, c.want, usual(f, s.column(c.field)), "%s %s %v", c.field, c.op, c.value)
	}
}

// matcherOf returns what a misreading takes for a match, or nil if it does not concern the filter.
func matcherOf(m *misreading, f wire.Filter, t wire.Type) matcher {
	switch {
	case !m.mayConcern(f.Op, t):
		return nil
	case m.other == nil:
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

// TestQueueAsksWhatNoChanceDecides requires lists without members, values and lists that no row has, all values of a
// column with few in one list, and operands without letters.
func TestQueueAsksWhatNoChanceDecides(t *testing.T) {
	s := notes()
	ops := []wire.Op{wire.OpEq, wire.OpIn, wire.OpNin, wire.OpIncludes, wire.OpStartsWith}
	asked := map[string]bool{}
	longest := map[string]int{}
	for _, q := range askedOf(gridOf(s, ops...), true, query...) {
		for f := range q.Filters() {
			keeps := s.matching([]wire.Filter{f}, nil) > 0
			switch {
			case f.Value == wire.Text(""):
				asked[f.Field+" "+string(f.Op)+" nothing"] = true
			case terms.ShapeOf(f.Op) == terms.ShapeMember && len(f.Values) == 0:
				asked[f.Field+" "+string(f.Op)+" none"] = true
			case f.Op == wire.OpIn && len(f.Values) == 1 && !keeps:
				asked[f.Field+" in absent"] = true
			case f.Op == wire.OpEq && !keeps:
				asked[f.Field+" eq absent"] = true
			case f.Op == wire.OpIn && keeps:
				longest[f.Field] = max(longest[f.Field], len(f.Values))
			}
		}
	}
	for _, c := range s.columns {
		wanted := []string{" in none", " nin none", " eq absent"}
		if c.Type == wire.TypeString {
			require.GreaterOrEqual(t, longest[c.Name], len(c.cells), "in of all values of %s", c.Name)
			wanted = append(wanted, " in absent", " includes nothing", " startswith nothing")
		}
		for _, what := range wanted {
			require.True(t, asked[c.Name+what], c.Name+what)
		}
	}
}

// TestNullsOnRoutes requires each operator by itself on a column with nulls, on each route and in a group of or.
func TestNullsOnRoutes(t *testing.T) {
	ops := []wire.Op{wire.OpEq, wire.OpNeq, wire.OpIsNull, wire.OpNotNull}
	g := New(7, declaring(wire.Capabilities{Operators: ops}), []*Subject{small(t)})
	asked := map[string]bool{}
	for _, q := range g.NullsOnRoutes(wire.PathQuery, wire.PathCount, wire.PathAggregate) {
		require.Len(t, q.And, 1)
		require.Positive(t, q.column(q.And[0].Field).nulls)
		asked[q.Path+string(q.And[0].Op)] = true
	}
	require.Len(t, asked, 3*len(ops))
	for _, q := range g.NullsInGroups(KeepAll) {
		require.Empty(t, q.And)
		require.Positive(t, q.column(q.Or[1][0].Field).nulls)
		asked["or"+string(q.Or[1][0].Op)] = true
	}
	require.Len(t, asked, 4*len(ops))
}

// TestLongListOfManyValues: a list of a column with many values has more members than careless
// sources send, and all of them are in the column. It is asked for with in and with nin.
func TestLongListOfManyValues(t *testing.T) {
	const many = 200
	var rows [][]wire.Value
	for i := range many {
		rows = append(rows, []wire.Value{wire.Int(int64(i))})
	}
	s := subject("t", []wire.Column{{Name: "id", Type: wire.TypeNumber}}, rows)
	kept := map[wire.Op]int{}
	for _, q := range gridOf(s, wire.OpIn, wire.OpNin).FilteredWindows(KeepAll) {
		if len(q.And) == 1 && len(q.And[0].Values) == longListMembers {
			kept[q.And[0].Op] = s.matching(q.And, nil)
		}
	}
	require.Equal(t, map[wire.Op]int{wire.OpIn: longListMembers, wire.OpNin: many - longListMembers}, kept)
}
