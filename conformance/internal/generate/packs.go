package generate

import (
	"cmp"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Of how many filters a pack is made: conditions that most rows pass, where each can drop
// rows, or groups of or that keep few rows, where each can add some. Conditions beside
// groups would hide most of what a group adds or drops.
const (
	maxPackedAnd = 6
	maxPackedOr  = 10
)

// Pack returns a question about several cells of a table, with the next filter of each, for
// a budget that is smaller than the plan: first about each table, then as they take turns. A filter that is read wrongly
// shows as if it were asked alone, unless another one keeps or drops the same rows. It
// returns nil when nothing is left to be packed.
func (g *Grid) Pack(routes ...string) *Question {
	for {
		i := slices.IndexFunc(g.tables, func(t *tableCells) bool { return !t.asked })
		if i < 0 {
			i = g.packs.Next(func(i int) bool { return !g.tables[i].packed })
		}
		if i < 0 {
			return nil
		}
		t, s := g.tables[i], g.subjects[i]
		t.asked = true
		if q := g.pack(t, s); q != nil {
			return g.Asking(s, routes[s.taken%len(routes)], q.Where)
		}
		t.packed = true
	}
}

// pack returns a question of the cells that are looked at, those first that tell most.
func (g *Grid) pack(t *tableCells, s *Subject) *Question {
	if s.Window > 0 {
		return nil
	}
	type ranked struct {
		*Cell
		gain float64
	}
	var cells []ranked
	for _, c := range t.cells[:t.open] {
		if c.plan(); !c.Broken && c.asked < len(c.filters) {
			cells = append(cells, ranked{c, g.gain(c)})
		}
	}
	slices.SortStableFunc(cells, func(a, b ranked) int { return cmp.Compare(b.gain, a.gain) })
	and, or := &Question{Subject: s}, &Question{Subject: s}
	var conditions, groups []*Cell
	rows := len(s.sample.Rows)
	narrowed, widened := s.rows(true), s.rows(false)
	gains := map[*Question]float64{}
	for _, c := range cells {
		f := c.filters[c.asked].filter
		if len(f.Values) > longList || c.gain < seldom || c.column().nulls > 0 && !withOperands(f) && !t.alone[f.Op] {
			continue // for questions of their own
		}
		kept := s.kept(f)
		with, beside := narrowed.and(kept), widened.or(kept)
		switch n := kept.count(); {
		case 2*n >= rows && len(and.And) < maxPackedAnd && 2*with.count() >= rows:
			and.And, narrowed = append(and.And, f), with
			conditions = append(conditions, c.Cell)
			gains[and] += c.gain
		case 3*n <= rows && len(or.Or) < maxPackedOr && 2*beside.count() <= rows && (n == 0 || beside.count() > widened.count()):
			or.Or, widened = append(or.Or, []wire.Filter{f}), beside
			groups = append(groups, c.Cell)
			gains[or] += c.gain
		}
	}
	q, packed := or, groups
	if gains[and] > gains[or] {
		q, packed = and, conditions
	}
	if len(packed) < 2 {
		return nil
	}
	for _, c := range packed {
		g.use(c)
	}
	return q
}
