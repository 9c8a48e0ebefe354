package conformance

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// coverage is what a run has asked for. It tells a green report from an empty one.
type coverage struct {
	Requests  int   // HTTP requests made
	Streams   int   // requests answered by a stream
	Rows      int64 // rows read
	Bytes     int64 // bytes of answers read
	Cases     int   // cases judged, over all checks
	Generated int   // generated requests judged
	// Decisive is how many of the generated requests kept some rows and dropped others,
	// so that a filter that is applied wrongly can show in the answer.
	Decisive int
	// Filters counts the judged filters by operator and type of field, such as
	// "eq number".
	Filters map[string]int
	// Operators are those that the document declares.
	Operators []wire.Op
	// Tables are those that discovery lists for the first tenant, the first thousand of them.
	Tables []tableCoverage
}

// tableCoverage is what was judged of a table.
type tableCoverage struct {
	Name string
	Rows int // the most rows that one answer held
	// Partly says why the table was not read whole by one plain request; empty if it was, or
	// if no check wanted it.
	Partly string
	Fields []fieldCoverage
}

// fieldCoverage is what was judged of a field.
type fieldCoverage struct {
	Name       string
	Type       wire.Type
	Filterable bool
	Empty      bool            // no cell that was read holds a value
	Judged     map[wire.Op]int // answers to filters of the field that were judged
}

// maxCovered limits the tables and the fields of a table that a report lists: they are
// the connector's to make up.
const maxCovered = 1000

// newCoverage returns what a session has asked.
func newCoverage(s *session.Session, outcomes []Outcome) coverage {
	counts := s.Covered.Counts
	c := coverage{
		Requests: counts.Requests, Streams: counts.Streams, Rows: counts.Rows, Bytes: counts.Bytes,
		Generated: counts.Generated, Decisive: counts.Telling, Filters: s.Covered.Filters(),
	}
	for _, o := range outcomes {
		c.Cases += o.Cases
	}
	if s.Document == nil {
		return c
	}
	c.Operators = s.Document.Capabilities.Operators
	judged := s.Covered.Judged()
	tables := s.Found()
	for i := range tables[:min(len(tables), maxCovered)] {
		c.Tables = append(c.Tables, newTableCoverage(s, &tables[i], judged))
	}
	return c
}

func newTableCoverage(s *session.Session, t *wire.Table, judged map[session.FieldOf]map[wire.Op]int) tableCoverage {
	held, why := s.Held(t)
	table := tableCoverage{Name: s.Clean(t.Name), Rows: s.Covered.RowsOf(t.Name), Partly: s.Clean(why)}
	for at, f := range t.Fields[:min(len(t.Fields), maxCovered)] {
		field := fieldCoverage{
			Name: s.Clean(f.Name), Type: f.Type, Filterable: f.Filterable == nil || *f.Filterable,
			Empty: table.Rows == 0, Judged: judged[session.FieldOf{Table: t.Name, Field: f.Name}],
		}
		if held != nil {
			field.Empty = !slices.ContainsFunc(held.Rows, func(row []wire.Value) bool { return !row[at].IsNull() })
		}
		table.Fields = append(table.Fields, field)
	}
	return table
}

// basis counts what a run has judged.
type basis struct {
	Rows   int // of all tables, each counted by its largest answer
	Tables int // with rows
	// Pairs are those of a field that can be filtered and a declared operator.
	Pairs, Judged int
	Empty         int // of the pairs that were not judged: the field has no value anywhere
}

// Basis returns the counts of what was judged.
func (c *coverage) Basis() (b basis) {
	for _, t := range c.Tables {
		b.Rows += t.Rows
		if t.Rows > 0 {
			b.Tables++
		}
		for _, f := range t.Fields {
			if !f.Filterable {
				continue
			}
			for _, op := range c.Operators {
				b.Pairs++
				switch {
				case f.Judged[op] > 0:
					b.Judged++
				case f.Empty:
					b.Empty++
				}
			}
		}
	}
	return b
}

// String returns a sentence such as "judged 12,345 rows of 12 tables, 96 of 104 fields x
// operators (8 without data)".
func (b basis) String() string {
	text := fmt.Sprintf("judged %s of %s", plural(b.Rows, "row"), plural(b.Tables, "table"))
	if b.Pairs > 0 {
		text += fmt.Sprintf(", %s of %s fields x operators", thousands(b.Judged), thousands(b.Pairs))
	}
	if b.Empty > 0 {
		text += fmt.Sprintf(" (%s without data)", thousands(b.Empty))
	}
	return text
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}

// thousands writes a number in groups of three digits.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
