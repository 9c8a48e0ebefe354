// Package generate makes requests by chance about tables whose rows are known: a seed
// always makes the same requests. An [Runner] sends them, judges the answers, and reports
// the smallest request that is still answered wrongly.
package generate

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Subject is a table whose rows are known, so that questions about it have known
// answers.
type Subject struct {
	Table *oracle.Table
	// Window is set when the table has more rows than those: questions then ask for at
	// most that many.
	Window int64
	// sample holds some of the rows, enough to estimate what a filter keeps.
	sample  *oracle.Table
	columns []*Column
	taken   int // how many questions with a single filter were planned
}

const sampleRows = 400

// NewSubject returns a table as a subject; described is what discovery says of it.
func NewSubject(t *oracle.Table, described *wire.Table) *Subject {
	s := &Subject{Table: t, sample: t}
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

// renew gives the subject the rows that its table has now. Questions about it stay as
// they are, and have other answers.
func (s *Subject) renew(t *oracle.Table, described *wire.Table) {
	window := s.Window
	*s = *NewSubject(t, described)
	s.Window = window
}

// Columns returns the columns of the table.
func (s *Subject) Columns() []wire.Column { return s.Table.Columns }

// Rows returns how many rows the table has.
func (s *Subject) Rows() int { return len(s.Table.Rows) }

func (s *Subject) column(name string) *Column { return s.columns[s.Table.Index(name)] }

// columnsThat returns the columns for which a condition holds.
func (s *Subject) columnsThat(hold func(*Column) bool) (some []*Column) {
	for _, c := range s.columns {
		if hold(c) {
			some = append(some, c)
		}
	}
	return some
}

// names returns the names of all columns.
func (s *Subject) names() (all []string) {
	for _, c := range s.columns {
		all = append(all, c.Name)
	}
	return all
}

// large reports whether the table is asked about rarely.
func (s *Subject) large() bool { return s.Rows() > 1000 }

// Generator makes questions by chance. The same seed makes the same questions,
// whatever other checks run. A generator uses only what the document declares and
// what the protocol settles: where a rule is only our decision, all readings of it
// give its questions the same answer.
type Generator struct {
	random
	seed     uint64
	document *session.Document
	subjects []*Subject
	all      []*Column // of all subjects, with values
}

// New returns a generator for the check with the id.
func New(seed uint64, id string, document *session.Document, subjects []*Subject) *Generator {
	g := &Generator{random: chanceOf(seed, id), seed: seed, document: document}
	for _, s := range subjects {
		if s.Rows() < 2 {
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

// chanceOf returns a source of chance that depends on a seed and names only.
func chanceOf(seed uint64, names ...string) random {
	h := fnv.New64a()
	for _, name := range names {
		_, _ = h.Write([]byte(name))
	}
	return random{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// subject returns a table to ask about.
func (g *Generator) subject() *Subject {
	s := pick(g.random, g.subjects)
	for range 6 {
		if !s.large() || g.chance(4) {
			break
		}
		s = pick(g.random, g.subjects)
	}
	return s
}

// operators returns those that the document declares.
func (g *Generator) operators() (ops []wire.Op) {
	for _, op := range g.document.Capabilities.Operators {
		if terms.ShapeOf(op) != terms.ShapeUnknown && !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
	}
	return ops
}

// judgeable reports whether the column allows a filter and its answer is settled.
func (c *Column) judgeable(f wire.Filter) bool {
	return c.filterable && !c.unsettled(f.Op) && c.settled(f)
}

// Filter returns a filter on one of some columns by chance that keeps some rows of the table and
// drops others.
func (g *Generator) Filter(s *Subject, columns ...string) (wire.Filter, bool) {
	for range 12 {
		if f, ok := g.any(s, columns...); ok && s.discriminates(s.kept(f).count()) {
			return f, true
		}
	}
	return wire.Filter{}, false
}

// any returns a filter on one of some columns of a table by chance, with any operator and operand.
func (g *Generator) any(s *Subject, columns ...string) (wire.Filter, bool) {
	ops := g.operators()
	for range 12 {
		if len(ops) == 0 {
			break
		}
		c := s.column(pick(g.random, columns))
		if f := pick(g.random, g.filters(c, pick(g.random, ops))); c.judgeable(f) {
			return f, true
		}
	}
	return wire.Filter{}, false
}

// matching counts the rows of the sample that filters keep.
func (s *Subject) matching(and []wire.Filter, or [][]wire.Filter) int {
	return s.keptBy(and, or).count()
}

// discriminates reports whether an answer with n rows of the sample is neither empty
// nor everything: only then can a filter that is applied wrongly show in it.
func (s *Subject) discriminates(n int) bool { return n > 0 && n < len(s.sample.Rows) }

// conditions gives a question filters by chance: conjuncts, groups of several
// filters, now and then an empty or or an empty group.
func (g *Generator) conditions(q *Question) {
	s := q.Subject
	if len(g.operators()) == 0 {
		return
	}
	for range 4 {
		q.And, q.Or = nil, nil
		draw := func(n int) (list []wire.Filter) {
			for range n {
				f, ok := g.Filter(s, s.names()...)
				if g.chance(6) {
					f, ok = g.any(s, s.names()...)
				}
				if ok {
					list = append(list, f)
				}
			}
			return list
		}
		q.And = draw(g.IntN(3))
		for range g.IntN(4) {
			q.Or = append(q.Or, draw(1+g.IntN(2)))
		}
		switch g.IntN(20) {
		case 0:
			q.Or = append(q.Or, []wire.Filter{})
		case 1:
			q.Or = [][]wire.Filter{}
		}
		if s.discriminates(s.matching(q.And, q.Or)) {
			break
		}
	}
	if g.chance(8) {
		q.FieldTypes = g.fieldTypes(s)
	}
}

// fieldTypes returns types for some columns, right or wrong. They never override
// what the source declares.
func (g *Generator) fieldTypes(s *Subject) map[string]wire.Type {
	types := map[string]wire.Type{}
	for _, c := range s.columns {
		switch {
		case c.Type == "": // here they would decide
		case g.chance(3):
			types[c.Name] = c.Type
		case g.chance(3):
			types[c.Name] = pick(g.random, []wire.Type{wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeDatetime, wire.TypeArray})
		}
	}
	return types
}

// fields returns the fields to ask for: those that are filtered and sorted by, all,
// or some.
func (g *Generator) fields(q *Question) []string {
	all := q.names()
	shuffle(g.random, all)
	switch g.IntN(4) {
	case 0:
		return all
	case 1:
		return all[:1+g.IntN(len(all))]
	}
	return q.needed(q.Subject.Table.PrimaryKey)
}

// Filters returns questions with filters only: of every operator and type, within n
// questions about one table, and others up to n.
func (g *Generator) Filters(n int) []*Question {
	if len(g.subjects) == 0 || len(g.operators()) == 0 {
		return nil
	}
	list := g.combine(g.ofEach(), n)
	list = append(list, g.questions(n-len(list), func(_ int, q *Question) bool {
		g.conditions(q)
		return len(q.And)+len(q.Or) > 0
	})...)
	for _, q := range list {
		q.Path, q.Fields = wire.PathQuery, g.fields(q)
	}
	return list
}

// questions returns n questions about tables by chance, if the function that completes one
// reports often enough that it is worth asking.
func (g *Generator) questions(n int, complete func(i int, q *Question) bool) (list []*Question) {
	for range 10 * n {
		if len(list) == n || len(g.subjects) == 0 {
			break
		}
		if q := (&Question{Subject: g.subject()}); complete(len(list), q) {
			list = append(list, q)
		}
	}
	return list
}

// Counts returns n questions for a number of rows.
func (g *Generator) Counts(n int) []*Question {
	return g.questions(n, func(_ int, q *Question) bool {
		q.Path = wire.PathCount
		g.conditions(q)
		return true
	})
}

// Windows returns n questions with sorts and windows over filters.
func (g *Generator) Windows(n int) []*Question {
	return g.questions(n, func(i int, q *Question) bool {
		q.Path = wire.PathQuery
		keys := g.IntN(3)
		if i%3 == 0 {
			keys = 3 + g.IntN(2)
		}
		if i%3 > 0 || g.chance(4) { // many keys matter where many rows are alike
			g.conditions(q)
		}
		q.Sort = g.keys(q.Subject, keys)
		rows := q.Subject.matching(q.And, q.Or) * q.Rows() / len(q.sample.Rows)
		if !g.chance(4) {
			q.Limit = int64(1 + g.IntN(rows+2))
		}
		if g.document.Capabilities.Offset && g.chance(2) {
			q.Offset = int64(g.IntN(rows + 2))
		}
		q.Limit, q.Offset = g.document.Window(q.Limit, q.Offset)
		q.Fields = g.fields(q)
		return true
	})
}

// keys returns up to n sort keys, within what the document declares. If there are
// several, the first ones have few values, so that the later ones matter.
func (g *Generator) keys(s *Subject, n int) (keys []wire.SortKey) {
	if n = min(n, g.document.SortKeys()); n == 0 {
		return nil
	}
	columns := s.columnsThat(func(c *Column) bool { return c.sortable })
	shuffle(g.random, columns)
	if n > 1 {
		distinct := func(c *Column) int { return min(1, 2*len(c.cells)/(s.Rows()+1)) } // 1 of a column with many values
		slices.SortStableFunc(columns, func(a, b *Column) int { return distinct(a) - distinct(b) })
	}
	for _, c := range columns[:min(n, len(columns))] {
		keys = append(keys, wire.SortKey{Field: c.Name, Dir: pick(g.random, []wire.Direction{wire.Asc, wire.Desc}), Collate: g.chance(6)})
	}
	return keys
}

// Claims returns n questions that leave a connector much to claim as served: sorts by many keys,
// windows over filters, and filters without a window, which some connectors treat apart. They
// ask for every field, so that the rows show whether a claim is true.
func (g *Generator) Claims(n int) []*Question {
	list := g.Windows(n)
	for i, q := range list {
		q.Fields = q.names()
		if i%3 == 0 {
			continue // by many keys, which matter where many rows are alike
		}
		if len(q.And)+len(q.Or) == 0 {
			g.conditions(q)
		}
		if i%3 == 2 {
			q.Limit, q.Offset = 0, 0
		} else if q.Limit == 0 {
			q.Limit = int64(1 + g.IntN(max(q.matching(q.And, q.Or), 1)))
		}
	}
	return list
}
