package generate

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Packs returns questions that ask for every cell at once, for a budget that is smaller
// than the plan: conjunctions of so many filters, all of which one row satisfies. A
// filter that is read wrongly most often loses that row.
func (g *Grid) Packs(size int) (list []*Question) {
	for n := 0; ; n++ {
		more := false
		for _, s := range g.subjects {
			if q := g.pack(s, n, size); q != nil {
				list = append(list, q)
				more = true
			}
		}
		if !more {
			return list
		}
	}
}

// pack returns the n-th pack of a table, or nil.
func (g *Grid) pack(s *Subject, n, size int) *Question {
	var cells []*Cell
	for _, c := range g.cells {
		if c.Subject == s {
			cells = append(cells, c)
		}
	}
	if n*size >= len(cells) {
		return nil
	}
	anchor := g.anchor(s, n)
	var filters []wire.Filter
	for _, c := range cells[n*size : min(len(cells), (n+1)*size)] {
		if f, ok := g.holding(c, anchor[c.column().at]); ok {
			filters = append(filters, f)
		}
	}
	if len(filters) == 0 {
		return nil
	}
	return g.single(s, wire.PathQuery, filters...)
}

// anchor returns a row with many notable values.
func (g *Grid) anchor(s *Subject, n int) (best []wire.Value) {
	most := -1
	start := chanceOf(g.seed, s.Table.Name).IntN(len(s.sample.Rows)) + n
	for i := range min(len(s.sample.Rows), 60) {
		row := s.sample.Rows[(start+i)%len(s.sample.Rows)]
		points := 0
		for _, c := range s.columns {
			if slices.ContainsFunc(g.notableOf(s, c).values, func(v wire.Value) bool { return v.String() == row[c.at].String() }) {
				points++
			}
		}
		if points > most {
			best, most = row, points
		}
	}
	return best
}

// holding returns a filter of a cell that a value satisfies, at the edge where there is
// one.
func (g *Grid) holding(c *Cell, v wire.Value) (f wire.Filter, ok bool) {
	column := c.column()
	f = wire.Filter{Field: c.Field, Op: c.Op}
	others := slices.DeleteFunc(slices.Clone(g.notableOf(c.Subject, column).values), func(other wire.Value) bool {
		return oracle.Same(other, v, column.Type)
	})
	if len(others) == 0 || len(v.String()) > MaxOperand || column.unsettled(c.Op) {
		return f, false
	}
	switch {
	case c.Op == wire.OpEq || c.Op == wire.OpGte || c.Op == wire.OpLte:
		f.Value = v
	case c.Op == wire.OpIn:
		f.Values = []wire.Value{others[0], v}
	case c.Op == wire.OpNin:
		f.Values = others[:1]
	case c.Op == wire.OpStartsWith:
		f.Value = wire.Text(string([]rune(v.String())[:(1+len([]rune(v.String())))/2]))
	case c.Op == wire.OpIncludes:
		f.Value = wire.Text(string([]rune(v.String())[len([]rune(v.String()))/2:]))
	case c.Op == wire.OpContains:
		if list := Elements(v.String()); len(list) > 0 {
			f.Value = list[len(list)-1]
		}
	case c.Op.Shape() != wire.ShapeNullary:
		for _, other := range others { // neq, gt and lt: the nearest that holds
			with := f
			with.Value = other
			nearer := f.Value.IsNull()
			if order, ok := oracle.Compare(other, f.Value, column.Type); ok && !nearer {
				nearer = c.Op == wire.OpGt && order > 0 || c.Op == wire.OpLt && order < 0
			}
			if nearer && oracle.Match(v, with, column.Type) {
				f = with
			}
		}
	}
	return f, oracle.Match(v, f, column.Type) && column.settled(f)
}
