package sqlsourcetest

import (
	"math/rand/v2"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// generator generates requests.
type generator struct {
	rng    *rand.Rand
	f      *fixture
	report *report
}

func newGenerator(f *fixture, seed, stream uint64, r *report) *generator {
	return &generator{rng: rand.New(rand.NewPCG(seed, stream)), f: f, report: r}
}

// filters generates a request's and and or, and notes for the report.
func (g *generator) filters(t *table) (and []wire.Filter, or [][]wire.Filter, notes []note) {
	one := func() wire.Filter {
		f, n := g.filter(t)
		notes = append(notes, n)
		return f
	}
	and = []wire.Filter{}
	for range []int{1, 1, 1, 1, 1, 2, 2, 0, 3}[g.rng.IntN(9)] {
		and = append(and, one())
	}
	if g.rng.IntN(4) == 0 {
		for range 1 + g.rng.IntN(3) {
			group := []wire.Filter{}
			for range []int{1, 1, 2, 2, 3, 0}[g.rng.IntN(6)] {
				group = append(group, one())
			}
			or = append(or, group)
		}
	}
	return and, or, notes
}

// filter generates one filter on a random column.
func (g *generator) filter(t *table) (wire.Filter, note) {
	ops := filter.Operators()
	column := g.rng.IntN(len(t.columns))
	f := wire.Filter{Field: t.columns[column].Name, Op: ops[g.rng.IntN(len(ops))]}
	n := note{op: f.Op, column: f.Field}
	switch terms.ShapeOf(f.Op) {
	case terms.ShapeValue:
		o := g.pick(t, column, f.Op)
		f.Value, n.edge = o.value, o.edge
	case terms.ShapeMember:
		f.Values = []wire.Value{}
		n.edge = "no members"
		for range []int{1, 2, 3, 5, 0, 12}[g.rng.IntN(6)] {
			o := g.pick(t, column, f.Op)
			f.Values, n.edge = append(f.Values, o.value), o.edge
		}
	default:
		n.edge = "-"
	}
	return f, n
}

// query generates a query with everything but joins.
func (g *generator) query(t *table) (*wire.QueryRequest, []note) {
	req := &wire.QueryRequest{Table: t.name}
	var notes []note
	req.And, req.Or, notes = g.filters(t)
	req.Sort = []wire.SortKey{}
	for range []int{0, 1, 1, 2, 3}[g.rng.IntN(5)] {
		req.Sort = append(req.Sort, wire.SortKey{Field: g.column(t), Dir: []wire.Direction{wire.Asc, wire.Desc}[g.rng.IntN(2)]})
	}
	req.Fields = []string{}
	for _, c := range t.columns {
		if g.rng.IntN(3) == 0 {
			req.Fields = append(req.Fields, c.Name)
		}
	}
	if g.rng.IntN(2) == 0 {
		req.Fields = append(req.Fields, t.key...)
		slices.Sort(req.Fields)
		req.Fields = slices.Compact(req.Fields)
	}
	if g.rng.IntN(2) == 0 {
		req.Limit = int64(1 + g.rng.IntN(20))
	}
	if g.rng.IntN(3) == 0 {
		req.Offset = int64(g.rng.IntN(15))
	}
	return req, notes
}

// column returns a random column.
func (g *generator) column(t *table) string { return t.columns[g.rng.IntN(len(t.columns))].Name }

// columnOf returns mostly a column of a kind. At times it returns any, because
// what is asked of a wrong one must be declined.
func (g *generator) columnOf(t *table, kind func(wire.Column) bool) string {
	for range 100 {
		if c := t.columns[g.rng.IntN(len(t.columns))]; kind(c) || g.rng.IntN(200) == 0 {
			return c.Name
		}
	}
	return g.column(t)
}

// joined generates a query with hops.
func (g *generator) joined() (*wire.QueryRequest, []note) {
	base := g.f.tables[[]string{tableValues, tableTwin}[g.rng.IntN(2)]]
	req, notes := g.query(base)
	reached := []*table{base}
	taken := map[string]bool{}
	for _, f := range req.Fields {
		taken[f] = true
	}
	for i := range 1 + g.rng.IntN(2) {
		from := reached[0]
		if i > 0 && g.rng.IntN(2) == 0 && reached[1] != base {
			from = reached[1]
		}
		to := g.f.tables[g.f.names[g.rng.IntN(len(g.f.names))]]
		if i > 0 && to == reached[1] && from == reached[1] {
			continue
		}
		key := g.column(from)
		other := key
		if g.rng.IntN(3) == 0 || !hasColumn(to, key) {
			other = g.column(to)
		}
		j := wire.JoinHop{FromTable: from.name, ToTable: to.name, FromField: key, ToField: other, Fields: []wire.JoinField{}}
		for range 1 + g.rng.IntN(3) {
			field := g.column(to)
			as := []string{"j1 ", "j2 "}[i] + field
			if !taken[as] {
				taken[as] = true
				j.Fields = append(j.Fields, wire.JoinField{Field: field, As: as})
			}
		}
		req.Joins = append(req.Joins, j)
		reached = append(reached, to)
	}
	return req, notes
}

func hasColumn(t *table, name string) bool {
	return slices.ContainsFunc(t.columns, func(c wire.Column) bool { return c.Name == name })
}

// link generates a link between two columns, of the same name half of the time.
func (g *generator) link() *wire.LinkHitRateRequest {
	from, to := g.f.tables[g.f.names[g.rng.IntN(3)]], g.f.tables[g.f.names[g.rng.IntN(3)]]
	req := &wire.LinkHitRateRequest{FromTable: from.name, ToTable: to.name, FromColumn: g.column(from), ToColumn: g.column(to)}
	if g.rng.IntN(2) == 0 && hasColumn(to, req.FromColumn) {
		req.ToColumn = req.FromColumn
	}
	return req
}

// aggregate generates an aggregate request.
func (g *generator) aggregate(t *table) (*wire.AggregateRequest, []note) {
	req := &wire.AggregateRequest{Table: t.name, Limit: wire.AggregateLimit, GroupBy: []wire.GroupKey{}, Measures: []wire.Measure{}}
	var notes []note
	req.And = []wire.Filter{}
	if g.rng.IntN(3) == 0 {
		req.And, req.Or, notes = g.filters(t)
	}
	temporal := func(c wire.Column) bool { return c.Type == wire.TypeDate || c.Type == wire.TypeDatetime }
	for i := range []int{0, 1, 1, 1, 2}[g.rng.IntN(5)] {
		group := wire.GroupKey{Field: g.column(t), As: "g" + string(rune('0'+i))}
		if g.rng.IntN(3) == 0 {
			group.Grain = []wire.Grain{wire.GrainYear, wire.GrainQuarter, wire.GrainMonth, wire.GrainDay}[g.rng.IntN(4)]
			group.Field = g.columnOf(t, temporal)
		}
		req.GroupBy = append(req.GroupBy, group)
	}
	fns := []wire.AggFunc{wire.AggCount, wire.AggSum, wire.AggMin, wire.AggMax, wire.AggCountDistinct}
	if g.rng.IntN(4) == 0 { // alone, an index may answer them
		req.GroupBy, fns = []wire.GroupKey{}, []wire.AggFunc{wire.AggMin, wire.AggMax}
	}
	for i := range 1 + g.rng.IntN(2) {
		m := wire.Measure{Fn: fns[g.rng.IntN(len(fns))], As: "m" + string(rune('0'+i))}
		if m.Fn != wire.AggCount || g.rng.IntN(2) == 0 {
			m.Field = g.column(t)
		}
		if m.Fn == wire.AggSum {
			m.Field = g.columnOf(t, func(c wire.Column) bool { return c.Type.Numeric() })
		}
		req.Measures = append(req.Measures, m)
	}
	return req, notes
}
