package generate

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Grid plans questions about every cell: every operator that the document declares on
// every field that filters may name. Tables take turns, and the filter that tells most
// comes first, so that any budget of requests is spread over all of them.
type Grid struct {
	*Generator
	tables []*tableCells
	turns  *Turns // of single filters
	packs  *Turns
	// shown counts how often a misreading was shown to be none, by field and by type. One
	// that a field's other operators, or other fields of the type, do not have is less likely.
	shown map[string]int
	// nullsPlanned is set when the questions about nulls alone are known, since the last restart.
	nullsPlanned bool
}

// tableCells are the cells of one table, of which only the first are asked about before
// the others are looked at.
type tableCells struct {
	cells      []*Cell
	open, step int
	asked      bool // about this table
	packed     bool // nothing is left to be packed
	// alone are the operators without operands that were asked by themselves since the last
	// restart, nulls the questions about them that are still to be asked so.
	alone map[wire.Op]bool
	nulls []nullQuestion
}

// nullQuestion is a cell with an operator without operands, for a route. Where the rows of a
// table are counted in several ways, each of them can take other cells for null.
type nullQuestion struct {
	*Cell
	route string
}

// nullQuestions plans for each table isnull and notnull on each route, about one of its
// fields with nulls. Tables with the same columns share them.
func (g *Grid) nullQuestions(routes []string) {
	alike := map[string]int{}
	for _, s := range g.subjects {
		alike[shapeOf(s.Table.Columns)]++
	}
	turn := map[string]int{}
	for i, t := range g.tables {
		shape := shapeOf(g.subjects[i].Table.Columns)
		n := 0
		for _, op := range []wire.Op{wire.OpNotNull, wire.OpIsNull} {
			cells := slices.DeleteFunc(slices.Clone(t.cells), func(c *Cell) bool { return c.Op != op || c.column().nulls == 0 })
			for _, route := range routes {
				ask := len(cells) > 0 && (route == wire.PathQuery || g.subjects[i].Window == 0)
				if ask && n%alike[shape] == turn[shape] {
					t.nulls = append(t.nulls, nullQuestion{cells[n%len(cells)], route})
				}
				n++
			}
		}
		turn[shape]++
	}
}

// nextNulls returns the next question about nulls alone, or nil.
func (g *Grid) nextNulls(routes []string) *Question {
	if !g.nullsPlanned {
		g.nullsPlanned = true
		g.nullQuestions(routes)
	}
	for _, t := range g.tables {
		for len(t.nulls) > 0 {
			next := t.nulls[0]
			t.nulls = t.nulls[1:]
			if next.Broken {
				continue
			}
			if next.plan(); next.asked < len(next.filters) {
				g.use(next.Cell)
			}
			t.alone[next.Op] = true
			return g.Asking(next.Subject, next.route, wire.Where{And: []wire.Filter{{Field: next.Field, Op: next.Op}}})
		}
	}
	return nil
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
	shape   string // of the table
	kind    wire.Type
	planned bool
	filters []*candidate // most telling first
	asked   int          // how many of them were asked for the present route
	fresh   bool         // none was since the last restart
}

// column returns what is known of the cell's column.
func (c *Cell) column() *Column { return c.Subject.column(c.Field) }

// Grid returns a plan of all cells.
func (g *Generator) Grid() *Grid {
	plan := &Grid{Generator: g}
	ops := g.operators()
	alike := map[string]int{}
	for _, s := range g.subjects {
		t := &tableCells{}
		// The first cells of a table are about different fields and operators, and other
		// ones than those of a table with the same columns.
		shape := shapeOf(s.Table.Columns)
		for shift := range ops {
			for i, c := range s.columns {
				if c.filterable && len(ops) > 0 {
					op := ops[(i+shift+5*alike[shape])%len(ops)]
					t.cells = append(t.cells, &Cell{grid: plan, shape: shape, kind: c.Type, Subject: s, Field: c.Name, Op: op})
				}
			}
		}
		alike[shape]++
		plan.tables = append(plan.tables, t)
	}
	for i, s := range g.subjects {
		t := plan.tables[i]
		t.step = max(fewCells, len(t.cells)/alike[shapeOf(s.Table.Columns)])
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

// Restart begins again, for another route: with the filter of each cell that comes after
// those that were asked, or with the most telling if there is none.
func (g *Grid) Restart() {
	g.turns, g.packs, g.shown = turnsOf(g.subjects), turnsOf(g.subjects), map[string]int{}
	g.nullsPlanned = false
	for _, t := range g.tables {
		t.open, t.packed, t.alone, t.nulls = min(t.step, len(t.cells)), false, map[wire.Op]bool{}, nil
		for _, c := range t.cells {
			c.fresh = true
			if c.asked == len(c.filters) {
				c.asked = 0
			}
		}
	}
}

// Next returns the next question, with a single filter: first one about each table, then
// those about nulls alone, then the tables take turns. Questions about a table take the routes in turn. It returns nil
// when all that can be told apart was asked.
func (g *Grid) Next(routes ...string) *Question {
	for _, t := range g.tables {
		if t.asked {
			continue
		}
		t.asked = true
		if c := g.best(t, routes); c != nil {
			return g.take(c, routes)
		}
	}
	if q := g.nextNulls(routes); q != nil {
		return q
	}
	i := g.turns.Next(func(i int) bool { return g.best(g.tables[i], routes) != nil })
	if i < 0 {
		return nil
	}
	return g.take(g.best(g.tables[i], routes), routes)
}

// Untouched reports whether nothing was asked of some table yet.
func (g *Grid) Untouched() bool {
	return slices.ContainsFunc(g.tables, func(t *tableCells) bool { return !t.asked })
}

// best returns the cell of a table whose next filter tells most, or nil.
func (g *Grid) best(t *tableCells, routes []string) (best *Cell) {
	for {
		most := 0.0
		for _, c := range t.cells[:t.open] {
			c.plan()
			if c.Broken || c.asked >= len(c.filters) || c.Window > 0 && !slices.Contains(routes, wire.PathQuery) {
				continue
			}
			if gain := g.gain(c); gain > most {
				best, most = c, gain
			}
		}
		if best != nil || t.open == len(t.cells) {
			return best
		}
		t.open = min(len(t.cells), t.open+t.step)
	}
}

// gain returns how much the next filter of a cell tells: that of a cell that was not
// asked about tells whether the operator is understood at all.
func (g *Grid) gain(c *Cell) (gain float64) {
	for _, m := range c.filters[c.asked].adds {
		again := 1.0
		for i, key := range c.keys(m) {
			again *= 1 + float64(g.shown[key])*repeated[i]
		}
		gain += m.weight / again
	}
	if c.fresh {
		gain += sometimes
	}
	return gain
}

// repeated is how much less a misreading is likely once it was shown to be none: by the
// same operators on the field, by others on the field, by the same operators on other
// fields of the type, by any on the type.
var repeated = [...]float64{1, 1.0 / 4, 1.0 / 4, 1.0 / 16}

// keys names a misreading, as repeated counts it. Tables with the same columns share them.
func (c *Cell) keys(m *misreading) [len(repeated)]string {
	like := "\x00" + string(likeOperator(c.Op)) + "\x00" + m.as
	return [...]string{c.shape + c.Field + like, c.shape + c.Field + "\x00" + m.as, string(c.kind) + like, string(c.kind) + "\x00" + m.as}
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

// take returns the question with the next filter of a cell.
func (g *Grid) take(c *Cell, routes []string) *Question {
	f := g.use(c)
	route := routes[c.taken%len(routes)]
	if terms.ShapeOf(f.Op) == terms.ShapeNullary {
		g.tables[slices.Index(g.subjects, c.Subject)].alone[f.Op] = true
	}
	return g.Asking(c.Subject, route, wire.Where{And: []wire.Filter{f}})
}

// use returns the next filter of a cell, and notes that it was asked.
func (g *Grid) use(c *Cell) wire.Filter {
	next := c.filters[c.asked]
	c.asked++
	c.fresh = false
	for _, m := range next.adds {
		for _, key := range c.keys(m) {
			g.shown[key]++
		}
	}
	return next.filter
}

// Asking returns the question with some filters for a route.
func (g *Grid) Asking(s *Subject, path string, where wire.Where) *Question {
	s.taken++
	q := &Question{Subject: s, Path: path, Where: where}
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
	if c.Op == wire.OpEq && len(column.cells) <= fewValues {
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
		matches := n.as(column.Type).Matcher(f)
		expected := make([]bool, len(n.witnesses))
		kept := 0
		for i := range expected {
			if expected[i] = matches(i); expected[i] {
				kept++
			}
		}
		o := &candidate{filter: f}
		likely := misreadings
		if len(f.Values) > judgedList {
			likely = longListMisreadings
		}
		for i := range likely {
			if m := &likely[i]; n.show(m, f, column.Type, expected) {
				if f.Op == wire.OpIn && len(f.Values) == 1 && m.ofOne != nil {
					m = m.ofOne
				}
				o.shows = append(o.shows, m)
			}
		}
		o.shows = append(o.shows, column.particular(f)...)
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
	if !isTime(c.Type) || c.uniform || terms.ShapeOf(f.Op) == terms.ShapeNullary {
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
