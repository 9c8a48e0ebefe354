package exam

import (
	"cmp"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Of how many filters a pack is made: conditions that most rows pass, where each can drop
// rows, or groups of or that keep few rows, where each can add some. Conditions beside
// groups would hide most of what a group adds or drops.
const (
	maxPackedAnd = 6
	maxPackedOr  = 10
	maxUnusual   = 2 // of filters that [usual] is false for
)

// pack returns a question about several cells of a table, those first that tell most, with the next filter of each,
// for a budget that is smaller than the plan. A filter that is read wrongly shows as if it were asked alone, unless
// another one keeps or drops the same rows. It returns nil when nothing is left to be packed.
func (g *Grid) pack(t *tableCells, routes []string) *Question {
	if t.Window > 0 {
		return nil
	}
	var cells []ranked
	for _, c := range t.cells[:t.open] {
		if c.plan(); !c.Broken && c.asked < len(c.filters) {
			cells = append(cells, ranked{c, g.gain(c)})
		}
	}
	slices.SortStableFunc(cells, func(a, b ranked) int { return cmp.Compare(b.gain, a.gain) })
	// Those of the kind of the best, and only if these are too few the others.
	var halves [2][]ranked
	for _, c := range cells {
		next := c.filters[c.asked]
		if next.alone || len(next.filter.Values) > longList || c.gain < seldom ||
			c.column().nulls > 0 && !withOperands(next.filter) && !t.alone[next.filter.Op] {
			continue // for questions of their own
		}
		half := 1
		if best := halves[0]; len(best) == 0 || usual(next.filter, c.column()) == usual(best[0].next(), best[0].column()) {
			half = 0
		}
		halves[half] = append(halves[half], c)
	}
	for _, alike := range halves {
		if where := g.packOf(t.Subject, alike); len(where.And)+len(where.Or) > 0 {
			return g.Asking(t.Subject, routes[t.taken%len(routes)], where)
		}
	}
	return nil
}

// ranked is a cell with what its next filter tells.
type ranked struct {
	*Cell
	gain float64
}

func (r ranked) next() wire.Filter { return r.filters[r.asked].filter }

// packOf returns the filters of as many of the cells as one question can hold, none if it is less than two.
func (g *Grid) packOf(s *Subject, cells []ranked) wire.Where {
	var filters []wire.Filter
	var kept []rowSet
	for _, c := range cells {
		filters, kept = append(filters, c.next()), append(kept, s.kept(c.next()))
	}
	where, packed := s.packed(filters, kept, maxPackedOr, func(i int) float64 { return cells[i].gain })
	if len(packed) < 2 {
		return wire.Where{}
	}
	and, or := s.sets(where)
	open := openTo(s.rows(true), and, or)
	for i, at := range packed {
		c := cells[at].Cell
		g.use(c, g.edgeValuesOf(s, c.column()).seen(s, c.column(), open[i]))
	}
	return where
}

// packed returns those of some filters that one question can hold, at most so many, and their indices: as
// conditions or as groups of or, whichever gain more. kept are the rows that each keeps.
func (s *Subject) packed(filters []wire.Filter, kept []rowSet, most int, gain func(i int) float64) (where wire.Where, packed []int) {
	var and, or []int
	gainOfAnd, gainOfOr := 0.0, 0.0
	rows := len(s.sample.Rows)
	narrowed, widened := s.rows(true), s.rows(false)
	for i := range filters {
		with, beside := narrowed.and(kept[i]), union([]rowSet{widened, kept[i]})
		switch n := kept[i].count(); {
		case 2*n >= rows && len(and) < min(most, maxPackedAnd) && 2*with.count() >= rows:
			and, narrowed = append(and, i), with
			gainOfAnd += gain(i)
		case 3*n <= rows && len(or) < most && 2*beside.count() <= rows && (n == 0 || beside.count() > widened.count()):
			or, widened = append(or, i), beside
			gainOfOr += gain(i)
		}
	}
	if gainOfAnd > gainOfOr {
		for _, i := range and {
			where.And = append(where.And, filters[i])
		}
		return where, and
	}
	for _, i := range or {
		where.Or = append(where.Or, []wire.Filter{filters[i]})
	}
	return where, or
}

// usual reports whether most connectors have their upstream evaluate a filter. One that they do
// not hides what happens to those beside it, because then the connector evaluates them all.
func usual(f wire.Filter, c *Column) bool {
	switch {
	case terms.IsDocument(c.Type) || c.Type == "" || f.Op == wire.OpContains:
		return false
	case !withOperands(f):
		return true
	case (f.Op == wire.OpIncludes || f.Op == wire.OpStartsWith) && !isText(c.Type):
		return false
	}
	operands := f.Values
	if terms.ShapeOf(f.Op) == terms.ShapeValue {
		operands = []wire.Value{f.Value}
	}
	return !slices.ContainsFunc(operands, func(v wire.Value) bool {
		return v.IsNull() || c.Type.Numeric() && v.Kind() == wire.KindText && !c.has(v)
	})
}
