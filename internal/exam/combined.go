package exam

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shape is how the filters of a question are combined.
type shape struct {
	and      int  // filters of the conjunction
	or       int  // groups
	group    int  // filters of each group
	oneField bool // all of them are about one field
	alike    bool // the groups begin with the same filter
}

// shapes lists the most frequent first. Each shows what a smaller one does not: a
// second filter on one field, a later group, groups that differ behind their first filter, a third filter of a group, a fifth filter.
var shapes = []shape{
	{and: 2, oneField: true}, {or: 2, group: 1}, {and: 2}, {or: 2, group: 1, oneField: true}, {or: 2, group: 2, oneField: true},
	{and: 2, oneField: true},
	{and: 1, or: 2, group: 1}, {or: 3, group: 1}, {and: 3}, {or: 2, group: 2}, {and: 2, oneField: true}, {and: 6},
	{and: 1, or: 3, group: 2}, {or: 6, group: 1}, {and: 4}, {or: 2, group: 3}, {or: 11, group: 1}, {and: 2, or: 2, group: 2},
	{or: 2, group: 2, alike: true},
}

// Combinations returns questions with several filters, of which each matters: without
// it the answer would be another. skip leaves out filters, such as those that are
// answered wrongly on their own. The questions about a table take the routes in turn; an aggregate
// has groups and measures too. These, and the fields, are chosen as a question is taken, so take them once: most runs
// ask a part of them, and to look for groups that have an exact answer takes long.
func (g *Generator) Combinations(skip func(*Question) bool, routes ...string) iter.Seq[*Question] {
	const rounds = 3
	list := slices.Collect(kindsInTurn(g.subjects, func(s *Subject) (list []*Question) {
		p := g.pool(s, skip)
		particular := g.particularCombinations(s, p, skip)
		for n := range max(rounds*len(shapes), len(particular)) {
			if n < len(particular) {
				list = append(list, particular[n])
			}
			if n >= rounds*len(shapes) {
				continue
			}
			// Other tables begin with other shapes, so that a few questions show most of them.
			if q := p.question(shapes[(n+slices.Index(g.subjects, s))%len(shapes)]); q != nil {
				list = append(list, q)
			}
		}
		for i, q := range list {
			q.Path = routes[i%len(routes)]
		}
		return list
	}))
	return func(yield func(*Question) bool) {
		for _, q := range list {
			// Some rows give no number of all of them.
			if q.Window > 0 || q.Path == wire.PathAggregate && !g.fold(q) {
				q.Path = wire.PathQuery
			}
			if q.Path == wire.PathQuery {
				q.Fields = g.fewFields(q)
			}
			if !yield(q) {
				return
			}
		}
	}
}

// KeepAll leaves out no question.
func KeepAll(*Question) bool { return false }

// Packed returns questions of many filters, of every operator on every column, whose answers show each of
// them. Operators on types that were asked least come first, and of these the rarest types. Of a strict subject,
// filters that many databases leave to the connector are not beside others.
func (g *Generator) Packed() []*Question {
	type cell struct {
		op wire.Op
		of wire.Type
	}
	columns, asked := map[wire.Type]int{}, map[cell]int{}
	for _, s := range g.subjects {
		for _, c := range s.columns {
			columns[c.Type]++
		}
	}
	return slices.Collect(InTurn(g.subjects, func(s *Subject) []*Question {
		filters := g.pool(s, KeepAll).filters
		shuffle(chanceOf(g.seed, "packed", s.Table.Name), filters)
		type ranked struct {
			wire.Filter
			rank int
		}
		var order []ranked
		for _, f := range filters {
			c := cell{f.Op, s.column(f.Field).Type}
			order = append(order, ranked{f, asked[c]<<16 + columns[c.of]})
			asked[c]++
		}
		slices.SortStableFunc(order, func(a, b ranked) int { return a.rank - b.rank })
		var left, apart []wire.Filter
		for _, o := range order {
			if s.strict && !usual(o.Filter, s.column(o.Field)) {
				apart = append(apart, o.Filter)
			} else {
				left = append(left, o.Filter)
			}
		}
		return slices.Collect(InTurn([]packing{{s, left, maxPackedOr}, {s, apart, maxUnusual}}, g.allPacked))
	}))
}

// packing are filters that are asked for together, at most so many in one question.
type packing struct {
	*Subject
	filters []wire.Filter
	most    int
}

// allPacked returns questions that hold all of the filters.
func (g *Generator) allPacked(p packing) (list []*Question) {
	var rows []rowSet
	for _, f := range p.filters {
		rows = append(rows, p.kept(f))
	}
	for left := p.filters; len(left) > 0; {
		where, packed := p.packed(len(left), p.most, func(i int) (wire.Filter, rowSet) { return left[i], rows[i] },
			func(int) float64 { return 1 })
		if len(packed) == 0 {
			where.And, packed = left[:1], []int{0}
		}
		for _, i := range slices.Backward(packed) {
			left, rows = without(left, i), without(rows, i)
		}
		q := &Question{Subject: p.Subject, Path: wire.PathQuery, Where: where}
		q.Fields = g.fewFields(q)
		list = append(list, q)
	}
	return list
}

// rowSet is a set of the sample's rows.
type rowSet []uint64

func (r rowSet) and(other rowSet) rowSet {
	out := make(rowSet, len(r))
	for i := range r {
		out[i] = r[i] & other[i]
	}
	return out
}

func (r rowSet) without(other rowSet) rowSet {
	out := make(rowSet, len(r))
	for i := range r {
		out[i] = r[i] &^ other[i]
	}
	return out
}

func (r rowSet) add(i int) { r[i/64] |= 1 << (i % 64) }

func (r rowSet) count() (n int) {
	for _, word := range r {
		n += bits.OnesCount64(word)
	}
	return n
}

// setOf returns the set of n rows, or of none of them.
func setOf(n int, all bool) rowSet {
	set := make(rowSet, (n+63)/64)
	for i := range n {
		if all {
			set.add(i)
		}
	}
	return set
}

// rows returns the set of all rows of the sample, or of none.
func (s *Subject) rows(all bool) rowSet { return setOf(len(s.sample.Rows), all) }

// kept returns the set of the sample's rows that a filter keeps.
func (s *Subject) kept(f wire.Filter) rowSet {
	c := s.column(f.Field)
	if c.sample == nil {
		c.sample = oracle.NewCells(cellsOf(s.sample, c.at), c.Type)
	}
	return keptOf(c.sample, f, len(s.sample.Rows))
}

// keptOf returns which of n cells a filter keeps.
func keptOf(cells *oracle.Cells, f wire.Filter, n int) rowSet {
	kept, matches := setOf(n, false), cells.Matcher(f)
	for i := range n {
		if matches(i) {
			kept.add(i)
		}
	}
	return kept
}

// keptBy returns the set of the sample's rows that the filters of and keep and, if or has
// groups, one of these.
func (s *Subject) keptBy(and []wire.Filter, or [][]wire.Filter) rowSet {
	kept := s.rows(true)
	for _, f := range and {
		kept = kept.and(s.kept(f))
	}
	if len(or) == 0 {
		return kept
	}
	var groups []rowSet
	for _, group := range or {
		groups = append(groups, s.keptBy(group, nil))
	}
	return kept.and(union(groups))
}

// pool holds filters on a table: those that discriminating returns.
type pool struct {
	random
	subject *Subject
	all     rowSet
	filters []wire.Filter
	rows    []rowSet         // that each of the filters keeps
	about   map[string][]int // the places of the filters on a field, and of all under ""
	fields  []string         // those with filters
	turn    int              // the field that comes next
}

// filtersOfCell is how many filters of one operator on one field a pool has.
const filtersOfCell = 4

// pool returns the filters on a table, without those of questions to skip.
func (g *Generator) pool(s *Subject, skip func(*Question) bool) *pool {
	p := &pool{random: chanceOf(g.seed, "combined", s.Table.Name), subject: s, all: s.rows(true), about: map[string][]int{}}
	for _, f := range g.discriminating(s) {
		if skip(&Question{Subject: s, Where: wire.Where{And: []wire.Filter{f}}}) {
			continue
		}
		p.add(f, s.kept(f))
		if !slices.Contains(p.fields, f.Field) {
			p.fields = append(p.fields, f.Field)
		}
	}
	shuffle(p.random, p.fields)
	return p
}

// discriminating returns filters of every operator on every column that tell rows of the table apart and,
// of a strict subject, as many with hard operands, whatever they keep.
func (g *Generator) discriminating(s *Subject) []wire.Filter {
	if s.discriminating != nil {
		return s.discriminating
	}
	chance, filters := chanceOf(g.seed, "pool", s.Table.Name), []wire.Filter{}
	for _, c := range s.columns {
		for _, op := range g.operators() {
			if !c.filterable || c.unsettled(op) {
				continue
			}
			if s.strict {
				filters = append(filters, chance.hardFilters(c, op, filtersOfCell)...)
			}
			list := chance.candidates(c, g.edgeValuesOf(s, c), op)
			shuffle(chance, list)
			n := 0
			for _, f := range list {
				if len(f.Values) <= longList && s.discriminates(s.kept(f).count()) && c.settled(f) {
					filters = append(filters, f)
					if n++; n == filtersOfCell {
						break
					}
				}
			}
		}
	}
	s.discriminating = filters
	return filters
}

// combinationTries is how often a question of a shape is drawn until one is found whose
// filters all matter.
const combinationTries = 60

// question returns a question of a shape, or nil if the data give none.
func (p *pool) question(shape shape) *Question {
	if len(p.fields) == 0 {
		return nil
	}
	for range combinationTries {
		field := ""
		if shape.oneField {
			field = p.fields[p.turn%len(p.fields)]
			p.turn++
		}
		if q := p.draw(shape, field); q != nil {
			return q
		}
	}
	return nil
}

// draw draws filters one after the other, each of which matters beside the others.
func (p *pool) draw(shape shape, field string) *Question {
	q := &Question{Subject: p.subject}
	kept := p.all
	var groups, conditions []rowSet
	var parts [][]rowSet
	if shape.or > 0 {
		if q.Or, parts = p.groups(shape, field); q.Or == nil {
			return nil
		}
		for _, sets := range parts {
			groups = append(groups, inEach(p.all, sets))
		}
		kept = union(groups)
	}
	for range shape.and {
		f, rows, ok := p.narrowing(kept, field, q.And, false)
		if !ok {
			return nil
		}
		q.And, conditions, kept = append(q.And, f), append(conditions, rows), kept.and(rows)
	}
	if !eachMatters(p.all, conditions, groups) || !matterInGroups(inEach(p.all, conditions), parts, groups) {
		return nil
	}
	return q
}

// matterInGroups reports whether the answer would have more rows without any one of the filters of a group.
func matterInGroups(rows rowSet, parts [][]rowSet, groups []rowSet) bool {
	for _, sets := range parts {
		for i := range sets {
			if inEach(rows, without(sets, i)).without(union(groups)).count() == 0 {
				return false
			}
		}
	}
	return true
}

// union returns the rows that are in one of the sets.
func union(sets []rowSet) rowSet {
	all := make(rowSet, len(sets[0]))
	for _, rows := range sets {
		for i := range all {
			all[i] |= rows[i]
		}
	}
	return all
}

// groups draws groups of or, and returns the rows that each of their filters keeps.
func (p *pool) groups(shape shape, field string) (groups [][]wire.Filter, parts [][]rowSet) {
	var begin []wire.Filter
	var sets []rowSet
	if shape.alike {
		f, rows, ok := p.narrowing(p.all, field, nil, false)
		if !ok {
			return nil, nil
		}
		begin, sets = []wire.Filter{f}, []rowSet{rows}
	}
	for range shape.or {
		group, of := slices.Clone(begin), slices.Clone(sets)
		for len(group) < shape.group {
			// Of two filters that both keep few rows, one does not matter.
			few := shape.group == 1 || p.chance(2)
			f, rows, ok := p.narrowing(inEach(p.all, of), field, group, few)
			if !ok {
				return nil, nil
			}
			group, of = append(group, f), append(of, rows)
		}
		groups, parts = append(groups, group), append(parts, of)
	}
	return groups, parts
}

// narrowing returns a filter that keeps some of the rows and drops others: of several
// the one that keeps fewest, if few is set, and otherwise most. It is about a field or,
// if that is empty, about one that the list does not name yet, if there is one.
func (p *pool) narrowing(rows rowSet, field string, list []wire.Filter, few bool) (wire.Filter, rowSet, bool) {
	const choices = 4
	n := rows.count()
	named := func(f wire.Filter) bool {
		return slices.ContainsFunc(list, func(other wire.Filter) bool { return other.Field == f.Field })
	}
	best, bestLeft, seen := -1, 0, 0
	among := p.about[field] // a choice begins anywhere among them, so that no operator comes first
	start := p.IntN(max(len(among), 1))
	for i := range among {
		at := among[(start+i)%len(among)]
		f := p.filters[at]
		left := rows.and(p.rows[at]).count()
		if left == 0 || left == n {
			continue
		}
		fresh := field != "" || !named(f)
		if best < 0 || fresh && (named(p.filters[best]) || few == (left < bestLeft)) {
			best, bestLeft = at, left
		}
		if fresh {
			seen++
		}
		if seen == choices {
			break
		}
	}
	if best < 0 {
		return wire.Filter{}, nil, false
	}
	return p.filters[best], p.rows[best], true
}

// add adds a filter and the rows that it keeps.
func (p *pool) add(f wire.Filter, rows rowSet) {
	for _, field := range []string{"", f.Field} {
		p.about[field] = append(p.about[field], len(p.filters))
	}
	p.filters, p.rows = append(p.filters, f), append(p.rows, rows)
}

// longListMembers is how many members a list of a column with many values has.
const longListMembers = 110

// manyMembers returns a question with a long list, with each operator that takes one, or none: a list that is cut loses
// rows, or adds some, and the answers to its parts, one behind the other, are in no order. Tables take turns with their
// columns.
func (g *Generator) manyMembers(s *Subject, p *pool, table int, skip func(*Question) bool) (list []*Question) {
	for i := range s.columns {
		c := s.columns[(i+table)%len(s.columns)]
		values := short(c.ladder())
		if !c.filterable || len(values) <= MaxValues {
			continue
		}
		members := short(slices.Clone(g.edgeValuesOf(s, c).values))
		for len(members) < min(longListMembers, len(values)-len(values)/4) {
			if v := pick(p.random, values); !slices.Contains(members, v) {
				members = append(members, v)
			}
		}
		shuffle(p.random, members)
		for _, op := range []wire.Op{wire.OpIn, wire.OpNin} {
			f := wire.Filter{Field: c.Name, Op: op, Values: members}
			if q := (&Question{Subject: s, Where: wire.Where{And: []wire.Filter{f}}}); g.document.Declares(op) && c.settled(f) && !skip(q) {
				list = append(list, q)
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// FilteredWindows returns questions with a sort and a window over filters: under each
// column that has an order, in both directions, alone and before others. Every second is
// about nulls, as long as there are such.
func (g *Generator) FilteredWindows(skip func(*Question) bool) []*Question {
	table, inTurn := -1, len(byShape(g.subjects))
	list := slices.Collect(kindsInTurn(g.subjects, func(s *Subject) []*Question {
		if s.Window > 0 {
			return nil
		}
		table++
		return g.windowsOf(s, g.pool(s, skip), table, inTurn, skip)
	}))
	for i, q := range g.nullsInWindows(skip) {
		list = slices.Insert(list, min(2*i, len(list)), q)
	}
	return list
}

// of returns the filters of a pool with one operator.
func (p *pool) of(op wire.Op) *pool {
	some := &pool{random: p.random, subject: p.subject, all: p.all, fields: p.fields, about: map[string][]int{}}
	for i, f := range p.filters {
		if f.Op == op {
			some.add(f, p.rows[i])
		}
	}
	return some
}

// oftenLeft are the operators that connectors most often apply behind a window themselves.
var oftenLeft = []wire.Op{wire.OpIncludes, wire.OpContains, wire.OpStartsWith, wire.OpNin, wire.OpNeq, wire.OpIn}

// windowsOf returns the questions about one table, those that differ most first. The table has this number in the order in
// which tables are first asked, of which so many are asked before one is asked again. Questions with a single filter take the
// operators in turn, and other tables begin with other ones: a connector may push some to its source and apply the others
// behind the window.
func (g *Generator) windowsOf(s *Subject, p *pool, table, inTurn int, skip func(*Question) bool) (list []*Question) {
	shapes := []shape{{and: 1}, {and: 2}, {and: 1}, {or: 2, group: 1}}
	ops := slices.DeleteFunc(terms.Operators[wire.Op](), func(op wire.Op) bool { return !g.document.Declares(op) })
	slices.SortStableFunc(ops, func(a, b wire.Op) int { // the others, at -1, come last
		return cmp.Compare(uint(slices.Index(oftenLeft, a)), uint(slices.Index(oftenLeft, b)))
	})
	place := func(q *Question, n int, keys ...wire.SortKey) {
		q.Path, q.Sort = wire.PathQuery, keys
		rows := max(1, s.matching(q.And, q.Or)*s.Rows()/len(s.sample.Rows))
		if g.document.Capabilities.Offset && n != 1 && rows > 1 {
			q.Offset = int64(min(2+p.IntN(rows-1), rows-1)) // what is wrong by one row may be right for the first
		}
		if n != 3 {
			q.Limit = int64(1 + p.IntN(rows-int(q.Offset)))
		}
		q.Limit, q.Offset = g.document.Window(q.Limit, q.Offset)
		q.Fields = g.fewFields(q)
		list = append(list, q)
	}
	turn := 0
	add := func(n int, keys ...wire.SortKey) {
		shape := shapes[(turn+table)%len(shapes)] // other tables have others with an offset
		q := p.question(shape)
		if shape.and == 1 && len(ops) > 0 {
			// Every other question has a single filter, so that each of them is about the next operator.
			next := (turn*inTurn+table)/2 + turn*inTurn/2/len(ops) // the second time around, of other tables
			if some := p.of(ops[next%len(ops)]); len(some.filters) > 0 {
				q = cmp.Or(some.question(shape), q)
			}
		}
		turn++
		if len(p.filters) == 0 {
			q = &Question{Subject: s}
		}
		if q != nil {
			place(q, n, keys...)
		}
	}
	add(1)
	if g.document.SortKeys() == 0 {
		return list
	}
	sortable := s.columnsThat(func(c *Column) bool { return c.sortable && len(c.cells) > 1 })
	shuffle(p.random, sortable)
	key := func(c *Column, dir wire.Direction) wire.SortKey { return wire.SortKey{Field: c.Name, Dir: dir} }
	if len(sortable) > 0 {
		for i, q := range g.manyMembers(s, p, table, skip) {
			place(q, 2*i+1, key(sortable[0], wire.Desc))
		}
	}
	var single, several [][]wire.SortKey
	for _, dir := range []wire.Direction{wire.Desc, wire.Asc} {
		for _, c := range sortable {
			single = append(single, []wire.SortKey{key(c, dir)})
		}
	}
	if g.document.SortKeys() > 1 {
		slices.SortStableFunc(sortable, func(a, b *Column) int { return len(a.cells) - len(b.cells) })
		dirs := []wire.Direction{wire.Asc, wire.Desc}
		for i, c := range sortable[:max(0, len(sortable)-1)] {
			for n := range 2 {
				second := sortable[i+1+n*p.IntN(len(sortable)-i-1)]
				keys := []wire.SortKey{key(c, dirs[(i+n)%2]), key(second, dirs[n])}
				if last := sortable[len(sortable)-1]; last != second {
					keys = append(keys, key(last, dirs[(i+n+1)%2])) // often it is the order of the rows, ascending
				}
				several = append(several, keys)
			}
		}
	}
	// Of every second table first, since a few requests reach a few questions of each, and over all of its rows: a filter
	// leaves too few for a later key to matter.
	if len(several) > 0 && table%2 == 1 {
		place(&Question{Subject: s}, 2, several[0]...)
		several = several[1:]
	}
	const each = 2 // sorts by one column before one by several
	for i := range max((len(single)+each-1)/each, len(several)) {
		for n := i * each; n < min((i+1)*each, len(single)); n++ {
			add(n%4, single[n]...)
		}
		if i < len(several) {
			add(i%4, several[i]...)
		}
	}
	return list
}
