package generate

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Grid plans questions about every cell: every operator that the document declares on
// every field that filters may name. The most telling filter of each cell comes first,
// then the second of each, and so on, so that any budget of requests is spread over
// all of them.
type Grid struct {
	*Generator
	cells []*Cell
	next  int // of the first round
	// shown counts how often a misreading was shown to be none, by field. One that a
	// field's other operators do not have is less likely.
	shown map[string]int
}

// Cell is an operator on a field of a table.
type Cell struct {
	*Subject
	Field string
	Op    wire.Op
	// Broken is set by the caller: a filter of the cell was answered wrongly, so that
	// no others are asked.
	Broken bool

	grid    *Grid
	planned bool
	filters []*candidate // most telling first
	asked   int          // how many of them were asked for the present route
}

// column returns what is known of the cell's column.
func (c *Cell) column() *Column { return c.Subject.column(c.Field) }

// Grid returns a plan of all cells.
func (g *Generator) Grid() *Grid {
	plan := &Grid{Generator: g, shown: map[string]int{}}
	byTable := make([][]*Cell, len(g.subjects))
	ops := g.operators()
	for n, s := range g.subjects {
		// The first cells of a table are about different fields and operators.
		for shift := range ops {
			for i, c := range s.columns {
				if c.filterable && len(ops) > 0 {
					byTable[n] = append(byTable[n], &Cell{grid: plan, Subject: s, Field: c.Name, Op: ops[(i+shift+n)%len(ops)]})
				}
			}
		}
	}
	for i := 0; ; i++ {
		more := false
		for _, cells := range byTable {
			if i < len(cells) {
				plan.cells = append(plan.cells, cells[i])
				more = true
			}
		}
		if !more {
			break
		}
	}
	return plan
}

// Cells returns how many cells there are.
func (g *Grid) Cells() int { return len(g.cells) }

// Cell returns the cell of a filter on a table.
func (g *Grid) Cell(table string, f wire.Filter) *Cell {
	i := slices.IndexFunc(g.cells, func(c *Cell) bool { return c.Table.Name == table && c.Field == f.Field && c.Op == f.Op })
	if i < 0 {
		return nil
	}
	return g.cells[i]
}

// Restart begins with a filter of each cell again, for another route: with the next
// after those that were asked, or with the most telling if there is none.
func (g *Grid) Restart() {
	g.next, g.shown = 0, map[string]int{}
	for _, c := range g.cells {
		if c.asked == len(c.filters) {
			c.asked = 0
		}
	}
}

// Next returns the next question, with a single filter: first one of each cell, then
// the most telling of all. Questions about a table take the routes in turn. It returns
// nil when all that can be told apart was asked.
func (g *Grid) Next(routes ...string) *Question {
	askable := func(c *Cell) bool {
		c.plan()
		return !c.Broken && c.asked < len(c.filters) && (c.Window == 0 || slices.Contains(routes, wire.PathQuery))
	}
	for g.next < len(g.cells) {
		c := g.cells[g.next]
		g.next++
		if askable(c) {
			return g.take(c, routes)
		}
	}
	var best *Cell
	most := 0.0
	for _, c := range g.cells {
		if !askable(c) {
			continue
		}
		if gain := g.gain(c); gain > most {
			best, most = c, gain
		}
	}
	if best == nil {
		return nil
	}
	return g.take(best, routes)
}

// gain returns how much the next filter of a cell tells.
func (g *Grid) gain(c *Cell) (gain float64) {
	for _, m := range c.filters[c.asked].adds {
		gain += m.weight / float64(1+g.shown[c.key(m)])
	}
	return gain
}

// key names a misreading of the cell's field.
func (c *Cell) key(m *misreading) string { return c.Table.Name + "\x00" + c.Field + "\x00" + m.as }

// take returns the question with the next filter of a cell.
func (g *Grid) take(c *Cell, routes []string) *Question {
	next := c.filters[c.asked]
	c.asked++
	path := routes[c.taken%len(routes)]
	c.taken++
	for _, m := range next.adds {
		g.shown[c.key(m)]++
	}
	return g.single(c.Subject, path, next.filter)
}

// single returns the question with one filter for a route.
func (g *Grid) single(s *Subject, path string, filters ...wire.Filter) *Question {
	q := &Question{Subject: s, Path: path, Where: wire.Where{And: filters}}
	switch path {
	case wire.PathQuery:
		q.Fields = g.fewFields(q)
	case wire.PathAggregate:
		q.Measures = []wire.Measure{{Fn: wire.AggCount, As: "n"}}
	}
	return q
}

// fewFields returns the fields that show whether the right rows were answered: the
// key, those that are filtered and sorted by, and two others. Now and then it returns
// all.
func (g *Generator) fewFields(q *Question) []string {
	var others []string
	for _, c := range q.columns {
		others = append(others, c.Name)
	}
	chance := chanceOf(g.seed, bodyOf(q))
	chance.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	if chance.chance(8) {
		return others
	}
	fields := q.Needed(q.Subject.Table.PrimaryKey)
	for _, name := range others[:min(2, len(others))] {
		if !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	return fields
}

// How many filters of one cell are planned, and how many rows of a large table an
// answer should rather not exceed.
const (
	maxFilters = 12
	manyRows   = 2000
	longList   = 9
	judgedList = 40 // the length up to which every misreading of a list is looked for
)

// plan chooses filters one after the other, once: each shows as many misreadings as
// possible which those before it do not show.
func (c *Cell) plan() {
	column := c.column()
	if c.planned || column.unsettled(c.Op) {
		return
	}
	c.planned = true
	candidates := c.judge()
	shown := map[string]bool{}
	for len(c.filters) < maxFilters && len(candidates) > 0 {
		best, most := -1, 0.0
		for i, o := range candidates {
			if gain := o.gain(shown); gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			break
		}
		o := candidates[best]
		candidates = slices.Delete(candidates, best, best+1)
		if !column.settled(o.filter) {
			continue
		}
		for _, m := range o.shows {
			if !shown[m.as] {
				o.adds = append(o.adds, m)
				shown[m.as] = true
			}
		}
		c.filters = append(c.filters, o)
	}
}

// unsettled reports whether no filter with an operator on the column has a settled
// answer: the protocol does not say whether a text in a column of texts can be an
// array.
func (c *Column) unsettled(op wire.Op) bool {
	return op == wire.OpContains && len(c.elements) > 0 && c.Type != wire.TypeArray && c.Type != wire.TypeJSON
}

// candidate is a filter with the misreadings that its answer would show.
type candidate struct {
	filter wire.Filter
	shows  []*misreading
	adds   []*misreading // those that no filter before it shows
	extra  float64       // decides between candidates that show as much
}

// gain returns what a candidate shows beyond what is already shown.
func (o *candidate) gain(shown map[string]bool) (gain float64) {
	for _, m := range o.shows {
		if !shown[m.as] {
			gain += m.weight
		}
	}
	if gain > 0 {
		gain += o.extra
	}
	return gain
}

// judge returns the candidates of the cell that show something.
func (c *Cell) judge() (list []*candidate) {
	column := c.column()
	n := c.grid.notableOf(c.Subject, column)
	chance := chanceOf(c.grid.seed, c.Table.Name, c.Field, string(c.Op))
	for _, f := range chance.candidates(column, n, c.Op) {
		matches := right(f, column.Type)
		expected := make([]bool, len(n.witnesses))
		kept := 0
		for i, v := range n.witnesses {
			if expected[i] = matches(v); expected[i] {
				kept++
			}
		}
		o := &candidate{filter: f}
		likely := misreadings
		if len(f.Values) > judgedList {
			likely = listMisreadings // which is what long lists are for
		}
		for i := range likely {
			m := &likely[i]
			wrong := m.read(f, column.Type)
			if wrong == nil {
				continue
			}
			for i, v := range n.witnesses {
				if wrong(v) != expected[i] {
					o.shows = append(o.shows, m)
					break
				}
			}
		}
		if len(o.shows) == 0 {
			continue
		}
		if kept > 0 && kept < len(n.witnesses) {
			o.extra = 0.2
		}
		if c.large() && kept*c.Rows() > manyRows*len(n.witnesses) {
			o.extra -= 0.15
		}
		list = append(list, o)
	}
	return list
}

// notableOf returns the notable values of a column, which all its operators share.
func (g *Generator) notableOf(s *Subject, c *Column) *notable {
	if c.notable == nil {
		c.notable = chanceOf(g.seed, s.Table.Name, c.Name).notable(c)
	}
	return c.notable
}

// settled reports whether every reading of the protocol answers a filter alike, however
// the cells are spelled.
func (c *Column) settled(f wire.Filter) bool {
	if !c.SpellingIndependent(f) {
		return false
	}
	if !isTime(c.Type) || c.uniform || f.Op.Shape() == wire.ShapeNullary {
		return true
	}
	asInstants, asTexts := oracle.Reading{}.Matcher(f, c.Type), oracle.Reading{DatesAsText: true}.Matcher(f, c.Type)
	for _, v := range c.cells {
		if asInstants(v) != asTexts(v) {
			return false
		}
	}
	return true
}
