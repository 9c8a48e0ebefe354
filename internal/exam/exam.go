package exam

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

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
	strict  bool // see [NewStrictSubject]
	taken   int  // how many questions with a single filter were planned
	// discriminating are filters that tell its rows apart; nil: they were not made yet.
	discriminating []wire.Filter
}

const sampleRows = 400

// Limits of what is asked for.
const (
	// MaxValues is up to how many distinct values of a column each is asked for.
	MaxValues = 50
	// MaxOperand is the length up to which a text is used as an operand.
	MaxOperand = 200
)

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

// NewStrictSubject returns a table as a subject for code that must answer every legal question, where the
// spelling of each cell is known: each filter, sort and measure has one answer then, and none is left
// out. Operands are also chosen from a list of those that databases get wrong.
func NewStrictSubject(t *oracle.Table) *Subject {
	described := &wire.Table{Name: t.Name}
	for _, c := range t.Columns {
		described.Fields = append(described.Fields, wire.Field{Name: c.Name, Type: c.Type})
	}
	s := NewSubject(t, described)
	s.strict = true
	for _, c := range s.columns {
		c.strict, c.sortable, c.uniform, c.manySpellings = true, true, true, false
	}
	return s
}

// Renew gives the subject the rows that its table has now. Questions about it stay as
// they are, and have other answers.
func (s *Subject) Renew(t *oracle.Table, described *wire.Table) {
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
	seed     uint64
	document *Declared
	subjects []*Subject
}

// New returns a generator of questions about tables.
func New(seed uint64, document *Declared, subjects []*Subject) *Generator {
	g := &Generator{seed: seed, document: document}
	for _, s := range subjects {
		if s.Rows() < 2 {
			continue // nothing to tell apart
		}
		g.subjects = append(g.subjects, s)
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

// operators returns those that the document declares.
func (g *Generator) operators() (ops []wire.Op) {
	for _, op := range g.document.Capabilities.Operators {
		if terms.ShapeOf(op) != terms.ShapeUnknown && !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
	}
	return ops
}

// matching counts the rows of the sample that filters keep.
func (s *Subject) matching(and []wire.Filter, or [][]wire.Filter) int {
	return s.keptBy(and, or).count()
}

// Tells reports whether the filters of the question keep some rows of its table and drop others.
func (q *Question) Tells() bool { return q.discriminates(q.matching(q.And, q.Or)) }

// discriminates reports whether an answer with n rows of the sample is neither empty
// nor everything: only then can a filter that is applied wrongly show in it.
func (s *Subject) discriminates(n int) bool { return n > 0 && n < len(s.sample.Rows) }

// InOrder returns a table with its rows in an order that does not depend on the one
// they were read in, so that a seed asks the same questions again. A large table
// without a key stays as it was read.
func InOrder(t *oracle.Table) *oracle.Table {
	names := t.PrimaryKey
	if len(names) == 0 && len(t.Rows) <= 5000 {
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
	}
	var keys []wire.SortKey
	for _, name := range names {
		keys = append(keys, wire.SortKey{Field: name, Dir: wire.Asc})
	}
	sorted, err := oracle.Sort(t, keys, nil)
	if err != nil {
		return t // a declared key that is no column, which another check reports
	}
	return sorted
}
