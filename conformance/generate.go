package conformance

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// subject is a table whose rows are known, so that questions about it have
// known answers.
type subject struct {
	table *oracle.Table
	// sample is some of its rows, enough to tell what a filter comes to.
	sample  *oracle.Table
	columns []*column
}

const sampleRows = 400

func newSubject(t *oracle.Table, described *wire.Table) *subject {
	s := &subject{table: t, sample: t}
	if n := len(t.Rows); n > sampleRows {
		s.sample = &oracle.Table{Name: t.Name, Columns: t.Columns, PrimaryKey: t.PrimaryKey}
		for i := range sampleRows {
			s.sample.Rows = append(s.sample.Rows, t.Rows[i*n/sampleRows])
		}
	}
	for at, c := range t.Columns {
		s.columns = append(s.columns, profile(t, at, described.Field(c.Name)))
	}
	return s
}

func (s *subject) rows() int { return len(s.table.Rows) }

func (s *subject) column(name string) *column { return s.columns[s.table.Index(name)] }

// large tables are asked about rarely.
func (s *subject) large() bool { return s.rows() > 1000 }

// predicate is a filter of a class on a table.
type predicate struct {
	*subject
	wire.Filter
	class class
}

// generator makes questions, by chance and always the same ones from a seed,
// whatever other checks are run. It stays within what the document declares,
// and within what the protocol settles: where a ruling is only a decision, all
// readings of it give a question of this generator the same answer.
type generator struct {
	draws
	doc      *document
	subjects []*subject
	all      []*column // of all subjects, with values
	dealt    map[string]int
}

func newGenerator(seed uint64, id string, doc *document, subjects []*subject) *generator {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	g := &generator{draws: draws{rand.New(rand.NewPCG(seed, h.Sum64()))}, doc: doc, dealt: map[string]int{}}
	for _, s := range subjects {
		if s.rows() < 2 {
			continue // nothing to tell apart
		}
		g.subjects = append(g.subjects, s)
		for _, c := range s.columns {
			if len(c.cells) > 0 {
				g.all = append(g.all, c)
			}
		}
	}
	return g
}

// subject picks a table to ask about.
func (g *generator) subject() *subject {
	s := pick(g.draws, g.subjects)
	for range 6 {
		if !s.large() || g.chance(4) {
			break
		}
		s = pick(g.draws, g.subjects)
	}
	return s
}

// operators are those the document declares.
func (g *generator) operators() (ops []wire.Op) {
	for _, op := range g.doc.Capabilities.Operators {
		if op.Shape() != wire.ShapeUnknown && !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
	}
	return ops
}

// predicate makes a filter of a class; ok is false where the column has none,
// or none that is settled.
func (g *generator) predicate(s *subject, c *column, op wire.Op, k class) (p predicate, ok bool) {
	switch {
	case !c.filterable, !c.uniform && op.Shape() != wire.ShapeNullary:
		return p, false
	case op == wire.OpContains && len(c.elements) > 0 && c.Type != wire.TypeArray && c.Type != wire.TypeJSON:
		// Whether the text of an array is one in a column of texts is nowhere said.
		return p, false
	}
	p = predicate{subject: s, Filter: wire.Filter{Field: c.Name, Op: op}, class: k}
	tries := 5
	if k == classKind || k == classSpelling {
		tries = 40 // few texts look like numbers
	}
	for range tries {
		switch op.Shape() {
		case wire.ShapeNullary:
			return p, true
		case wire.ShapeMember:
			p.Values, ok = g.members(c, k, g.all)
		default:
			p.Value, ok = g.operand(c, op, k, g.all)
		}
		if ok && c.steady(p.Filter) {
			return p, true
		}
	}
	return p, false
}

// any is a predicate on a table, by chance.
func (g *generator) any(s *subject) (predicate, bool) {
	ops := g.operators()
	for range 12 {
		if len(ops) == 0 {
			break
		}
		c, op := pick(g.draws, s.columns), pick(g.draws, ops)
		if p, ok := g.predicate(s, c, op, pick(g.draws, classes(op, c.Type))); ok {
			return p, true
		}
	}
	return predicate{}, false
}

// matching counts the rows of the sample that filters keep.
func (s *subject) matching(and []wire.Filter, or [][]wire.Filter) int {
	kept, err := oracle.Filter(s.sample, and, or, nil)
	if err != nil {
		panic(err) // the generator knows the table's fields
	}
	return len(kept.Rows)
}

// telling reports whether an answer with n rows of the sample is neither empty
// nor everything.
func (s *subject) telling(n int) bool { return n > 0 && n < len(s.sample.Rows) }

// conditions are filters by chance: conjuncts, groups of several filters, now
// and then an empty or, or an empty group.
func (g *generator) conditions(q *question) {
	s := q.subject
	if len(g.operators()) == 0 {
		return
	}
	for range 4 {
		q.and, q.or = nil, nil
		draw := func(n int) (list []wire.Filter) {
			for range n {
				if p, ok := g.any(s); ok {
					list = append(list, p.Filter)
				}
			}
			return list
		}
		q.and = draw(g.IntN(3))
		for range g.IntN(4) {
			q.or = append(q.or, draw(1+g.IntN(2)))
		}
		switch g.IntN(20) {
		case 0:
			q.or = append(q.or, []wire.Filter{})
		case 1:
			q.or = [][]wire.Filter{}
		}
		if s.telling(s.matching(q.and, q.or)) {
			break
		}
	}
	if g.chance(8) {
		q.types = g.fieldTypes(s)
	}
}

// fieldTypes are types for some columns, right or wrong: they never override
// what the source declares (A10).
func (g *generator) fieldTypes(s *subject) map[string]wire.Type {
	types := map[string]wire.Type{}
	for _, c := range s.columns {
		switch {
		case c.Type == "": // here they would decide
		case g.chance(3):
			types[c.Name] = c.Type
		case g.chance(3):
			types[c.Name] = pick(g.draws, []wire.Type{wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeDatetime, wire.TypeArray})
		}
	}
	return types
}

// fields are those of an answer: what is filtered and sorted by, all, or some.
func (g *generator) fields(q *question) []string {
	var all []string
	for _, c := range q.subject.columns {
		all = append(all, c.Name)
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	switch g.IntN(4) {
	case 0:
		return all
	case 1:
		return all[:1+g.IntN(len(all))]
	}
	return q.needed(q.subject.table.PrimaryKey)
}

// filters are questions of filters alone: of every operator, type and class at
// least one, as far as the most questions about one table reach, and others up
// to a number.
func (g *generator) filters(n, most int) []*question {
	if len(g.subjects) == 0 || len(g.operators()) == 0 {
		return nil
	}
	list := g.pack(g.deck(), most)
	for range 10 * n {
		if len(list) >= n {
			break
		}
		q := &question{subject: g.subject()}
		if g.conditions(q); len(q.and)+len(q.or) > 0 {
			list = append(list, q)
		}
	}
	for _, q := range list {
		q.path, q.fields = wire.PathQuery, g.fields(q)
	}
	return list
}

// counts are questions for a number of rows.
func (g *generator) counts(n int) (list []*question) {
	for range n {
		if len(g.subjects) == 0 {
			break
		}
		q := &question{path: wire.PathCount, subject: g.subject()}
		g.conditions(q)
		g.fill(q)
		list = append(list, q)
	}
	return list
}

// windows are questions with sorts and windows over filters.
func (g *generator) windows(n int) (list []*question) {
	for i := range n {
		if len(g.subjects) == 0 {
			break
		}
		q := &question{path: wire.PathQuery, subject: g.subject()}
		if g.chance(2) {
			g.conditions(q)
		}
		keys := g.IntN(3)
		if i%3 == 0 {
			keys = 3 + g.IntN(2)
		}
		q.sort = g.keys(q.subject, keys)
		rows := q.subject.matching(q.and, q.or) * q.rows() / len(q.sample.Rows)
		if !g.chance(4) {
			q.limit = int64(1 + g.IntN(rows+2))
			if most := g.doc.Capabilities.Limits.PageSizeMax; most > 0 {
				q.limit = min(q.limit, most)
			}
		}
		if g.doc.Capabilities.Offset && g.chance(2) {
			q.offset = int64(g.IntN(rows + 2))
			if most := g.doc.Capabilities.Limits.OffsetMax; most > 0 {
				q.offset = min(q.offset, most)
			}
		}
		q.fields = g.fields(q)
		list = append(list, q)
	}
	return list
}

// keys are sort keys, as many as are declared. Of several the first ones have
// few values, so that the later ones matter.
func (g *generator) keys(s *subject, n int) (keys []wire.SortKey) {
	switch g.doc.Capabilities.Sort {
	case wire.SortMulti:
	case wire.SortSingle:
		n = min(n, 1)
	default:
		n = 0
	}
	if n == 0 {
		return nil
	}
	var few, many []*column
	for _, c := range s.columns {
		switch {
		case !c.ordered:
		case len(c.cells) <= s.rows()/2:
			few = append(few, c)
		default:
			many = append(many, c)
		}
	}
	for _, list := range [][]*column{few, many} {
		g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	columns := append(few, many...)
	if n == 1 {
		g.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	} else if n < len(columns) && len(many) > 0 {
		columns = append(columns[:min(n-1, len(few))], many...)
	}
	for _, c := range columns[:min(n, len(columns))] {
		keys = append(keys, wire.SortKey{Field: c.Name, Dir: pick(g.draws, []wire.Direction{wire.Asc, wire.Desc}), Collate: g.chance(6)})
	}
	return keys
}

// claims are questions that leave a connector much to claim, with every field,
// so that what it claims can be held against the rows.
func (g *generator) claims(n int) []*question {
	list := g.windows(n)
	for i, q := range list {
		if len(q.and)+len(q.or) == 0 {
			g.conditions(q)
		}
		if i%2 == 0 && q.limit == 0 {
			q.limit = int64(1 + g.IntN(max(q.subject.matching(q.and, q.or), 1)))
		}
		q.fields = nil
		for _, c := range q.subject.columns {
			q.fields = append(q.fields, c.Name)
		}
	}
	return list
}
