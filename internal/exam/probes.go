package exam

import (
	"cmp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// probedList is how many members the list of a column with many values has.
const probedList = 110

// probe is a question about a table without its fields.
type probe struct {
	wire.Where
	route string // "": the next of those that the caller asks on
}

// probe returns the next question about a table that is asked whatever chance chooses, or nil when all were asked.
// Tables with the same columns share theirs.
func (g *Grid) probe(t *tableCells, routes []string) *Question {
	if t.probes == nil {
		t.probes = []probe{}
		for i, next := range g.probes(t.Subject, routes) {
			if i%t.of == t.turn {
				t.probes = append(t.probes, next)
			}
		}
	}
	for len(t.probes) > 0 {
		next := t.probes[0]
		t.probes = t.probes[1:]
		if where := g.unbroken(t, next.Where); len(where.And)+len(where.Or) > 0 {
			return g.Asking(t.Subject, cmp.Or(next.route, routes[t.taken%len(routes)]), where)
		}
	}
	return nil
}

// unbroken returns the filters whose cells are not broken, and notes that they are asked.
func (g *Grid) unbroken(t *tableCells, where wire.Where) (left wire.Where) {
	s := t.Subject
	broken := func(f wire.Filter) bool {
		c := g.Cell(s.Table.Name, f)
		return c == nil || c.Broken
	}
	left.And = slices.DeleteFunc(slices.Clone(where.And), broken)
	left.Or = slices.DeleteFunc(slices.Clone(where.Or), func(group []wire.Filter) bool { return broken(group[0]) })
	and, or := s.sets(left)
	open := openTo(s.rows(true), and, or)
	for i, f := range slices.Concat(left.And, slices.Concat(left.Or...)) { // groups of one
		c := g.Cell(s.Table.Name, f)
		n := g.edgeValuesOf(s, c.column())
		if o := c.judgeFilter(n, f, n.seen(s, c.column(), open[i])); o != nil {
			g.note(c, o.shows)
		}
		if !withOperands(f) {
			t.alone[f.Op] = true
		}
		if c.plan(); c.asked < len(c.filters) && (!withOperands(f) || unchanged(c.filters[c.asked].filter, f)) {
			g.use(c, nil)
		}
	}
	return left
}

// probes returns the questions about a table whose answers show, for all columns or all values at
// once, what connectors often get wrong and what the luck of a seed should not decide. Of a table
// that was not read whole only a condition of and can be judged. Nulls are asked about alone and on
// each route, since rows that are counted in several ways can be null to one of them only. The others
// are for /query.
func (g *Grid) probes(s *Subject, routes []string) (list []probe) {
	columns := s.columnsThat(func(c *Column) bool { return c.filterable && len(c.cells) > 0 })
	list = g.nullsAlone(s, routes)
	if !slices.Contains(routes, wire.PathQuery) {
		return list
	}
	list = append(list, g.commonAlone(s)...)
	chance := chanceOf(g.seed, "probes", s.Table.Name)
	var lists, values, texts, near, wheres []wire.Where
	for _, c := range columns {
		n := g.edgeValuesOf(s, c)
		lists = append(lists, g.longLists(chance, c, n)...)
		if s.Window == 0 {
			values = append(values, g.eachValue(c)...)
			near = append(near, g.nearly(chance, c)...)
			texts = append(texts, g.eachKind(chance, c)...)
			near = append(near, g.betweenDays(c)...)
		}
	}
	if s.Window == 0 {
		wheres = g.nothing(chance, columns)
	}
	for i := range max(len(lists), len(values), len(texts), len(near)) {
		for _, kind := range [][]wire.Where{texts, near, lists, values} {
			if i < len(kind) {
				wheres = append(wheres, kind[i])
			}
		}
	}
	for _, where := range append(wheres, g.everything(columns)...) {
		list = append(list, probe{Where: where})
	}
	return list
}

// nullsAlone returns isnull and notnull on each route, about the fields with nulls in turn.
func (g *Grid) nullsAlone(s *Subject, routes []string) (list []probe) {
	nullable := s.columnsThat(func(c *Column) bool { return c.filterable && c.nulls > 0 })
	for _, op := range []wire.Op{wire.OpNotNull, wire.OpIsNull} {
		for _, route := range routes {
			if len(nullable) > 0 && g.document.Declares(op) && (route == wire.PathQuery || s.Window == 0) {
				f := wire.Filter{Field: nullable[len(list)%len(nullable)].Name, Op: op}
				list = append(list, probe{wire.Where{And: []wire.Filter{f}}, route})
			}
		}
	}
	return list
}

// commonAlone returns what sources are asked most, by itself, because many connectors hand on only that: each operator
// of a range, about the columns in turn, and eq of each column of texts with few values. Operands are those that
// show most.
func (g *Grid) commonAlone(s *Subject) (list []probe) {
	add := func(c *Column, op wire.Op) (added bool) {
		cell := g.Cell(s.Table.Name, wire.Filter{Field: c.Name, Op: op})
		if cell == nil {
			return false
		}
		if cell.plan(); len(cell.filters) > 0 {
			list = append(list, probe{wire.Where{And: []wire.Filter{cell.filters[0].filter}}, wire.PathQuery})
		}
		return len(cell.filters) > 0
	}
	for i, op := range []wire.Op{wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte} {
		for n := range s.columns { // planning a cell takes long, so that no more are than it takes to find one
			if add(s.columns[(i+n)%len(s.columns)], op) {
				break
			}
		}
	}
	for _, c := range s.columns {
		if terms.IsText(c.Type) && len(c.cells) <= MaxValues {
			add(c, wire.OpEq)
		}
	}
	return list
}

// nothing returns groups of or that no row satisfies: a list without members, a value that is not
// in the column, and a list of texts that only a careless comparison finds.
func (g *Grid) nothing(chance random, columns []*Column) []wire.Where {
	var groups [][]wire.Filter
	add := func(f wire.Filter) {
		if f.Op != wire.OpIn || g.document.Declares(wire.OpIn) {
			groups = append(groups, []wire.Filter{f})
		}
	}
	for _, c := range columns {
		add(wire.Filter{Field: c.Name, Op: wire.OpIn, Values: []wire.Value{}})
		if v, ok := c.absent(0); ok && c.uniform && g.document.Declares(wire.OpEq) {
			add(wire.Filter{Field: c.Name, Op: wire.OpEq, Value: v})
		}
		if terms.IsText(c.Type) {
			others := short(chance.neighbours(c, c.edgeValues))
			add(wire.Filter{Field: c.Name, Op: wire.OpIn, Values: others[:min(len(others), absentLists)]})
		}
	}
	return groupsOf(groups)
}

// nearly returns in of one member, and eq, with a text beside those of the column for each way in
// which a careless comparison takes it for one of them.
func (g *Grid) nearly(chance random, c *Column) []wire.Where {
	if !terms.IsText(c.Type) {
		return nil
	}
	var groups [][]wire.Filter
	for _, op := range []wire.Op{wire.OpIn, wire.OpEq} {
		for _, others := range chance.neighboursByKind(c, c.edgeValues) {
			if len(others) == 0 || len(others[0].String()) > MaxOperand || !g.document.Declares(op) {
				continue
			}
			f := wire.Filter{Field: c.Name, Op: op, Value: others[0]}
			if op == wire.OpIn {
				f.Value, f.Values = wire.Value{}, others[:1]
			}
			groups = append(groups, []wire.Filter{f})
		}
	}
	return groupsOf(groups)
}

// betweenDays returns instants from a day to another, with rows on both: who takes a day for more
// than its midnight keeps the rows of the last, or loses those of the first.
func (g *Grid) betweenDays(c *Column) (list []wire.Where) {
	days := daysOf(c.cells)
	if c.Type != wire.TypeDatetime || len(days) < 2 {
		return nil
	}
	slices.SortFunc(days, func(a, b wire.Value) int { return strings.Compare(a.Text(), b.Text()) })
	first, last := days[len(days)/3], days[len(days)-1-len(days)/3]
	for _, ops := range [][]wire.Op{{wire.OpGt, wire.OpLte}, {wire.OpGte, wire.OpLt}} {
		from, to := wire.Filter{Field: c.Name, Op: ops[0], Value: first}, wire.Filter{Field: c.Name, Op: ops[1], Value: last}
		if g.document.Declares(ops...) && c.settled(from) && c.settled(to) {
			list = append(list, wire.Where{And: []wire.Filter{from, to}})
		}
	}
	return list
}

// everything returns conditions that every row, or every one that is not null, satisfies: nin of a
// list without members, and a part without letters.
func (g *Grid) everything(columns []*Column) (list []wire.Where) {
	for _, f := range []wire.Filter{
		{Op: wire.OpNin, Values: []wire.Value{}}, {Op: wire.OpStartsWith, Value: wire.Text("")}, {Op: wire.OpIncludes, Value: wire.Text("")},
	} {
		var conditions []wire.Filter
		for _, c := range columns {
			f.Field = c.Name
			if g.document.Declares(f.Op) && (f.Op == wire.OpNin || terms.IsText(c.Type) && c.settled(f)) {
				conditions = append(conditions, f)
			}
		}
		for some := range slices.Chunk(conditions, maxPackedAnd) {
			list = append(list, wire.Where{And: some})
		}
	}
	return list
}

// groupsOf divides groups of or into questions.
func groupsOf(groups [][]wire.Filter) (list []wire.Where) {
	for some := range slices.Chunk(groups, maxPackedOr) {
		list = append(list, wire.Where{Or: some})
	}
	return list
}

// longLists returns in of every value of a column with few, or of many of them, and then nin too. A list
// that is cut or divided, or a member that gets lost, loses rows, or adds some.
func (g *Generator) longLists(chance random, c *Column, n *edgeValues) []wire.Where {
	list, ops := short(c.ladder()), []wire.Op{wire.OpIn}
	if len(list) > MaxValues {
		ops = append(ops, wire.OpNin)
		some := short(slices.Clone(n.values))
		for len(some) < min(probedList, len(list)-len(list)/4) {
			if v := pick(chance, list); !slices.Contains(some, v) {
				some = append(some, v)
			}
		}
		list = some
	}
	shuffle(chance, list)
	var wheres []wire.Where
	for _, op := range ops {
		if f := (wire.Filter{Field: c.Name, Op: op, Values: list}); len(list) > 2 && g.document.Declares(op) && c.settled(f) {
			wheres = append(wheres, wire.Where{And: []wire.Filter{f}})
		}
	}
	return wheres
}

// eachValue returns eq of every value of a column with few, in groups of or. Values that a
// careless comparison takes for one are not in the same question, where they would hide it.
func (g *Grid) eachValue(c *Column) []wire.Where {
	values := short(c.ladder())
	if len(values) < 2 || len(c.cells) > MaxValues || !g.document.Declares(wire.OpEq) {
		return nil
	}
	slices.SortStableFunc(values, func(a, b wire.Value) int { return cmp.Compare(folded(a.String()), folded(b.String())) })
	list := make([]wire.Where, max(2, (len(values)+maxPackedOr-1)/maxPackedOr))
	for i, v := range values {
		if f := (wire.Filter{Field: c.Name, Op: wire.OpEq, Value: v}); c.settled(f) {
			list[i%len(list)].Or = append(list[i%len(list)].Or, []wire.Filter{f})
		}
	}
	return slices.DeleteFunc(list, func(w wire.Where) bool { return len(w.Or) == 0 })
}

// eachKind returns the operators on parts of texts, and eq of a column with many values, with an
// operand of each kind that the column holds.
func (g *Grid) eachKind(chance random, c *Column) (list []wire.Where) {
	if !isText(c.Type) {
		return nil
	}
	values := short(c.ladder())
	for _, op := range []wire.Op{wire.OpIncludes, wire.OpStartsWith, wire.OpEq} {
		if !g.document.Declares(op) || len(values) == 0 || op == wire.OpEq && len(c.cells) <= MaxValues {
			continue
		}
		var filters []wire.Filter
		for _, k := range kinds {
			start := chance.IntN(len(values))
			for i := range values {
				v := values[(start+i)%len(values)].String()
				if !k.of(v) {
					continue
				}
				if f := (wire.Filter{Field: c.Name, Op: op, Value: wire.Text(k.partOf(v, op))}); c.settled(f) {
					filters = append(filters, f)
					break
				}
			}
		}
		list = append(list, apart(filters, oracle.NewCells(values, c.Type), len(values))...)
	}
	return list
}

// partOf returns an operand for a text of the kind: the text itself for eq, and otherwise the part
// that makes it one of the kind, with a character on either side.
func (k *kind) partOf(text string, op wire.Op) string {
	if terms.ShapeOf(op) == terms.ShapeValue && op != wire.OpIncludes && op != wire.OpStartsWith {
		return text
	}
	runes := []rune(text)
	at := slices.IndexFunc(runes, func(r rune) bool { return r != ' ' && k.of(string(r)) })
	switch {
	case at >= 0:
	case strings.HasPrefix(text, " ") && k.of(text[:1]+"x"):
		at = 0
	default:
		at = len(runes) - 1
	}
	from := 0
	if op == wire.OpIncludes {
		from = max(0, at-1)
	}
	return string(runes[from:min(len(runes), at+2)])
}

// apart divides filters on some values into groups of or, such that each group keeps a value that the
// others of its question do not keep, and shows when it finds nothing.
func apart(filters []wire.Filter, values *oracle.Cells, n int) (list []wire.Where) {
	var kept [][]rowSet // the values that the groups of each question keep
	for i, f := range filters {
		if slices.ContainsFunc(filters[:i], func(o wire.Filter) bool { return o.Value == f.Value }) {
			continue
		}
		found := keptOf(values, f, n)
		at := slices.IndexFunc(kept, func(groups []rowSet) bool {
			return len(groups) < maxPackedOr && eachMatters(setOf(n, true), nil, slices.Concat(groups, []rowSet{found}))
		})
		if at < 0 {
			at = len(list)
			list, kept = append(list, wire.Where{}), append(kept, nil)
		}
		list[at].Or, kept[at] = append(list[at].Or, []wire.Filter{f}), append(kept[at], found)
	}
	return list
}
