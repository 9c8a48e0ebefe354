package exam

import (
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/shrink"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Grid plans questions about every cell: every operator that the document declares on
// every field that filters may name. Tables take turns, and the filter that tells most
// comes first, so that any budget of requests is spread over all of them.
type Grid struct {
	*Generator
	tables []*tableCells
	turns  *Turns
	// ruledOut counts the questions whose answers would have shown a misreading, by field and by type. One
	// that a field's other operators, or other fields of the type, do not have is less likely.
	ruledOut map[ruledOutAs]*float64
}

// tableCells are the cells of one table, of which only the first are asked about before
// the others are looked at.
type tableCells struct {
	*Subject
	cells      []*Cell
	open, step int
	turns      int  // that it had since the last restart
	done       bool // nothing is left to be asked
}

// Cell is an operator on a field of a table.
type Cell struct {
	*Subject
	Field string
	Op    wire.Op
	// Broken is set by the caller, when a filter of the cell was answered wrongly. No others
	// are asked then.
	Broken bool

	grid    *Grid
	place   string // the columns of the table, and which of them this is
	planned bool
	filters []*candidate // those that were asked for the present route, then the others, most telling first
	asked   int          // how many were
	alone   bool         // one was, by itself
}

// column returns what is known of the cell's column.
func (c *Cell) column() *Column { return c.Subject.column(c.Field) }

// Grid returns a plan of all cells.
func (g *Generator) Grid() *Grid {
	plan := &Grid{Generator: g, ruledOut: map[ruledOutAs]*float64{}}
	ops := g.operators()
	alike := map[string][]*tableCells{}
	for _, s := range g.subjects {
		// The first cells of a table are about different fields and operators, and other
		// ones than those of a table with the same columns.
		shape := shapeOf(s.Table.Columns)
		t := &tableCells{Subject: s}
		for shift := range ops {
			for i, c := range s.columns {
				if c.filterable && len(ops) > 0 {
					op := ops[(i+shift+5*len(alike[shape]))%len(ops)]
					t.cells = append(t.cells, &Cell{grid: plan, place: shape + c.Name, Subject: s, Field: c.Name, Op: op})
				}
			}
		}
		alike[shape] = append(alike[shape], t)
		plan.tables = append(plan.tables, t)
	}
	for _, same := range alike {
		for _, t := range same {
			t.step = max(fewCells, len(t.cells)/len(same))
		}
	}
	plan.Restart()
	return plan
}

// fewCells is how many cells of a table are looked at for the next question, if others
// have the same columns.
const fewCells = 8

// Cells returns how many cells there are.
func (g *Grid) Cells() (n int) {
	for _, t := range g.tables {
		n += len(t.cells)
	}
	return n
}

// Cell returns the cell of a filter on a table.
func (g *Grid) Cell(table string, f wire.Filter) *Cell {
	for _, t := range g.tables {
		for _, c := range t.cells {
			if c.Table.Name == table && c.Field == f.Field && c.Op == f.Op {
				return c
			}
		}
	}
	return nil
}

// Restart begins again, for other routes: what one has shown, another may get wrong by code of its own.
func (g *Grid) Restart() {
	g.turns = NewTurns(g.subjects)
	for _, times := range g.ruledOut {
		*times = 0
	}
	for _, t := range g.tables {
		t.open, t.turns, t.done = min(t.step, len(t.cells)), 0, false
		for _, c := range t.cells {
			c.asked, c.alone = 0, false
		}
	}
}

// Asking returns the question with some filters for a route.
func (g *Grid) Asking(s *Subject, path string, where wire.Where) *Question {
	s.taken++
	q := &Question{Subject: s, Where: where}
	g.onRoute(q, path)
	return q
}

// onRoute sets a question's route, and what it asks there: a few fields, or the number of rows.
func (g *Generator) onRoute(q *Question, path string) {
	q.Path = path
	switch path {
	case wire.PathQuery:
		q.Fields = g.fewFields(q)
	case wire.PathAggregate:
		q.Measures = []wire.Measure{{Fn: wire.AggCount, As: "n"}}
	}
}

// fewFields returns the fields that show whether the right rows were answered: the
// key, those that are filtered and sorted by, and two others. Now and then it returns
// all, and of a table with a key often not those that the filters are about: a connector
// that reads only what is asked for has nothing to filter by.
func (g *Generator) fewFields(q *Question) []string {
	others := q.names()
	chance := chanceOf(g.seed, shrink.Body(q.Message()))
	shuffle(chance, others)
	if chance.chance(8) {
		return others
	}
	key := q.Subject.Table.PrimaryKey
	fields := q.Needed(key)
	if len(key) > 0 && q.Window == 0 && chance.chance(3) {
		fields = slices.Clone(key)
	}
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
	maxFilters = 24
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
	most := maxFilters
	if c.Op == wire.OpEq && len(column.cells) <= MaxValues {
		most += len(column.cells)
	}
	for len(c.filters) < most && len(candidates) > 0 {
		best, tells := -1, 0.0
		for i, o := range candidates {
			if gain := o.gain(shown); gain > tells {
				best, tells = i, gain
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
	return !c.strict && op == wire.OpContains && len(c.elements) > 0 && c.Type != wire.TypeArray && c.Type != wire.TypeJSON
}

// candidate is a filter with the misreadings that its answer would show.
type candidate struct {
	filter wire.Filter
	shows  []*misreading
	adds   []*misreading // those that no filter before it shows
	alone  bool          // others have hidden what it adds
	extra  float64       // decides between candidates that show as much

	ruledOut [][len(repeated)]*float64 // how often each that it adds was, once it was ranked
	rows     rowSet                    // of the sample that it keeps, once it may stand beside others
	of       *oracle.Table             // that sample
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
	n := c.grid.edgeValuesOf(c.Subject, column)
	chance := chanceOf(c.grid.seed, c.Table.Name, c.Field, string(c.Op))
	about := func(list []misreading) (some []*misreading) {
		for i := range list {
			if list[i].mayConcern(c.Op, column.Type) {
				some = append(some, &list[i])
			}
		}
		return some
	}
	likely, ofLongLists := about(misreadings), about(longListMisreadings)
	for _, f := range chance.candidates(column, n, c.Op) {
		if o := c.judgeFilter(n, f, likely, ofLongLists); o != nil {
			list = append(list, o)
		}
	}
	return list
}

// judgeFilter returns a filter of the cell with what it shows of the likely misreadings, or of those of long lists; nil if
// that is nothing.
func (c *Cell) judgeFilter(n *edgeValues, f wire.Filter, likely, ofLongLists []*misreading) *candidate {
	column := c.column()
	expected, kept := n.expected(f, column.Type)
	o := &candidate{filter: f}
	if len(f.Values) > judgedList {
		likely = ofLongLists
	}
	for _, m := range likely {
		if n.show(m, f, column.Type, expected, nil) {
			if f.Op == wire.OpIn && len(f.Values) == 1 && m.ofOne != nil {
				m = m.ofOne
			}
			o.shows = append(o.shows, m)
		}
	}
	o.shows = append(o.shows, column.particular(f)...)
	if len(o.shows) == 0 {
		return nil
	}
	if kept > 0 && kept < len(n.witnesses) {
		o.extra = 0.2
	}
	if c.large() && kept*c.Rows() > manyRows*len(n.witnesses) {
		o.extra -= 0.15
	}
	return o
}

// edgeValuesOf returns the edge values of a column, which all its operators share.
func (g *Generator) edgeValuesOf(s *Subject, c *Column) *edgeValues {
	if c.edgeValues == nil {
		c.edgeValues = chanceOf(g.seed, s.Table.Name, c.Name).edgeValues(c)
	}
	return c.edgeValues
}

// settled reports whether every reading of the protocol answers a filter alike, however
// the cells are spelled.
func (c *Column) settled(f wire.Filter) bool {
	switch {
	case c.strict:
		return true
	case !c.spellingIndependent(f):
		return false
	}
	other := f.Value.Kind() == wire.KindText && (len(f.Value.Text()) == len(time.DateOnly)) != (c.Type == wire.TypeDate)
	if !terms.IsTime(c.Type) || c.uniform && !other || terms.ShapeOf(f.Op) == terms.ShapeNullary {
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
