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

const (
	// considered is how many filters of each cell are looked at for the next question.
	considered = maxPackedOr
	// byItself is how many questions about a table there are for one that has a single filter: many connectors
	// hand on only that.
	byItself = 3
	// beside is how much it counts that an answer disproves a misreading of a filter beside others.
	beside = 0.5
)

// Next returns the next question, or nil when nothing is left to tell apart. The tables take turns. A question has the
// filter that tells most or, if packing is set, mostly several that tell more together. Questions about a table take the
// routes in turn.
func (g *Grid) Next(packing bool, routes ...string) *Question {
	for {
		i := g.turns.Next(func(i int) bool { return !g.tables[i].done })
		if i < 0 {
			return nil
		}
		t := g.tables[i]
		alone := !packing || t.Window > 0 || t.turns%byItself == 0
		t.turns++
		if list := g.ranked(t, routes, alone); len(list) > 0 {
			if alone {
				list = list[:1]
			}
			return g.Asking(t.Subject, routes[t.taken%len(routes)], g.take(t, list))
		}
		t.done = true
	}
}

// ranked is a filter of a cell with what it tells.
type ranked struct {
	*Cell
	*candidate
	gain float64
}

// ranked returns what can be asked about a table next, those filters first that tell most.
func (g *Grid) ranked(t *tableCells, routes []string, alone bool) (list []ranked) {
	if t.Window > 0 && !slices.Contains(routes, wire.PathQuery) {
		return nil
	}
	for {
		for _, c := range t.cells[:t.open] {
			if c.plan(); c.Broken {
				continue
			}
			for _, o := range c.filters[c.asked:min(len(c.filters), c.asked+considered)] {
				if gain := g.gain(c, o, alone); gain > 0 {
					list = append(list, ranked{c, o, gain})
				}
			}
		}
		if len(list) > 0 || t.open == len(t.cells) {
			slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.gain, a.gain) })
			return list
		}
		t.open = min(len(t.cells), t.open+t.step)
	}
}

// gain returns how much a filter of a cell tells: the first, and the first by itself, tell whether the operator is
// understood at all.
func (g *Grid) gain(c *Cell, o *candidate, alone bool) (gain float64) {
	for i, counts := range g.countsOf(c, o) {
		again := 1.0
		for k, times := range counts {
			again *= 1 + *times*repeated[k]
		}
		gain += o.adds[i].weight / again
	}
	if c.asked == 0 || alone && !c.alone {
		gain += sometimes
	}
	return gain
}

// repeated is how much less likely a misreading is once an answer disproved it: by the
// same operators on the field, by others on the field, by the same operators on other
// fields of the type, by any on the type.
var repeated = [...]float64{1, 1.0 / 4, 1.0 / 4, 1.0 / 16}

// ruledOutAs is a misreading and where answers disproved it.
type ruledOutAs struct {
	where string  // the column, or the type of columns
	like  wire.Op // of the operators; empty: of any
	as    string
}

// countsOf returns how often each misreading that a filter adds was disproved.
func (g *Grid) countsOf(c *Cell, o *candidate) [][len(repeated)]*float64 {
	for _, m := range o.adds[len(o.ruledOut):] {
		var counts [len(repeated)]*float64
		for i, key := range c.keys(m) {
			if g.ruledOut[key] == nil {
				g.ruledOut[key] = new(float64)
			}
			counts[i] = g.ruledOut[key]
		}
		o.ruledOut = append(o.ruledOut, counts)
	}
	return o.ruledOut
}

// keys names a misreading, as repeated counts it. Tables with the same columns share them.
func (c *Cell) keys(m *misreading) [len(repeated)]ruledOutAs {
	like, kind := likeOperator(c.Op), string(c.column().Type)
	return [...]ruledOutAs{{c.place, like, m.as}, {c.place, "", m.as}, {kind, like, m.as}, {kind, "", m.as}}
}

// likeOperator returns one operator for all those that a connector usually answers by the
// same code.
func likeOperator(op wire.Op) wire.Op {
	switch op {
	case wire.OpNin:
		return wire.OpIn
	case wire.OpGte, wire.OpLt, wire.OpLte:
		return wire.OpGt
	case wire.OpNotNull:
		return wire.OpIsNull
	}
	return op
}

// take returns the filters of a question, and notes that they are asked: the first of a list or, if they tell more, as
// many as one question can hold of those that connectors treat as the first.
func (g *Grid) take(t *tableCells, list []ranked) (where wire.Where) {
	best := list[0]
	var alike []ranked
	if t.packs(best) {
		handedOn := usual(best.filter, best.column())
		for _, r := range list {
			if t.packs(r) && usual(r.filter, r.column()) == handedOn {
				alike = append(alike, r)
			}
		}
	}
	where, packed := t.packed(len(alike), maxPackedOr,
		func(i int) (wire.Filter, rowSet) { return alike[i].filter, alike[i].kept() }, func(i int) float64 { return alike[i].gain })
	gain := 0.0
	for _, i := range packed {
		gain += alike[i].gain
	}
	if gain <= best.gain {
		g.use(best, nil)
		return wire.Where{And: []wire.Filter{best.filter}}
	}
	and, or := t.sets(where)
	open := openTo(t.rows(true), and, or)
	for i, at := range packed {
		g.use(alike[at], open[i])
	}
	return where
}

// packs reports whether a filter may stand beside others. An operator without operands is asked by itself first, since
// rows that are counted in several ways can be null to one of them only.
func (t *tableCells) packs(r ranked) bool {
	return !r.candidate.alone && len(r.filter.Values) <= longList && r.gain >= seldom &&
		(r.column().nulls == 0 || withOperands(r.filter.Op) ||
			slices.ContainsFunc(t.cells, func(c *Cell) bool { return c.alone && c.Op == r.filter.Op }))
}

// kept returns the rows of the sample that the filter keeps.
func (r ranked) kept() rowSet {
	if o := r.candidate; o.of != r.sample {
		o.rows, o.of = r.Subject.kept(o.filter), r.sample
	}
	return r.rows
}

// use notes that a filter is asked, by itself or beside others that leave the place of some rows open. What these hide
// is asked for once more, without them.
func (g *Grid) use(r ranked, open rowSet) {
	c, o := r.Cell, r.candidate
	at := slices.Index(c.filters, o)
	c.filters = slices.Insert(slices.Delete(c.filters, at, at+1), c.asked, o)
	c.asked++
	c.alone = c.alone || open == nil
	times, shows := 1.0, func(*misreading) bool { return true }
	if column := c.column(); open != nil {
		n := g.edgeValuesOf(c.Subject, column)
		expected, _ := n.expected(o.filter, column.Type)
		seen := n.seen(c.Subject, column, open)
		times, shows = beside, func(m *misreading) bool {
			return m.read == nil && m.other == nil || // it is particular to the column
				n.show(m, o.filter, column.Type, expected, seen)
		}
	}
	hidden := &candidate{filter: o.filter, alone: true}
	for i, counts := range g.countsOf(c, o) {
		if !shows(o.adds[i]) {
			hidden.adds = append(hidden.adds, o.adds[i])
			continue
		}
		for _, count := range counts {
			*count += times
		}
	}
	if len(hidden.adds) > 0 {
		at := c.asked
		for at < len(c.filters) && c.filters[at].weight() >= hidden.weight() {
			at++
		}
		c.filters = slices.Insert(c.filters, at, hidden)
	}
}

// weight returns how much the misreadings that a candidate adds count.
func (o *candidate) weight() (weight float64) {
	for _, m := range o.adds {
		weight += m.weight
	}
	return weight
}

// packed returns those of n filters that one question can hold, at most so many, and their indices: as conditions
// or as groups of or, whichever gain more.
func (s *Subject) packed(
	n, most int, filter func(i int) (f wire.Filter, kept rowSet), gain func(i int) float64,
) (where wire.Where, packed []int) {
	var and, or []int
	gainOfAnd, gainOfOr := 0.0, 0.0
	rows := len(s.sample.Rows)
	narrowed, widened := s.rows(true), s.rows(false)
	for i := 0; i < n && (len(and) < min(most, maxPackedAnd) || len(or) < most); i++ {
		f, kept := filter(i)
		with, beside := narrowed.and(kept), union([]rowSet{widened, kept})
		switch n := kept.count(); {
		case 2*n >= rows && len(and) < min(most, maxPackedAnd) && 2*with.count() >= rows:
			and, narrowed = append(and, i), with
			where.And = append(where.And, f)
			gainOfAnd += gain(i)
		case 3*n <= rows && len(or) < most && 2*beside.count() <= rows && (n == 0 || beside.count() > widened.count()):
			or, widened = append(or, i), beside
			where.Or = append(where.Or, []wire.Filter{f})
			gainOfOr += gain(i)
		}
	}
	if gainOfAnd > gainOfOr {
		return wire.Where{And: where.And}, and
	}
	return wire.Where{Or: where.Or}, or
}

// usual reports whether most connectors have their upstream evaluate a filter. One that they do
// not hides what happens to those beside it, because then the connector evaluates them all.
func usual(f wire.Filter, c *Column) bool {
	switch {
	case terms.IsDocument(c.Type) || c.Type == "" || f.Op == wire.OpContains:
		return false
	case !withOperands(f.Op):
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
