// Package coverage says what a run has asked of what the document and the data allow: a [Record] notes it while the run
// asks, and the [Report] tells a green verdict from an empty one.
package coverage

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Report is what a run has asked for.
type Report struct {
	Counts
	Cases int `json:"cases"` // judged, over all checks
	// Filters counts the judged filters by operator and type of field, such as "eq number".
	Filters map[string]int `json:"filters"`
	// Operators are those that the document declares.
	Operators []wire.Op `json:"operators"`
	// Tables are those that discovery lists for the first tenant, the first thousand of them.
	Tables []Table `json:"tables"`
	// Kinds says how many questions of each kind were asked of all, and Unasked which were not.
	Kinds   []KindCount `json:"kinds"`
	Unasked []Question  `json:"unasked"`
	// Second is the same of a second account, whose data are judged with few requests; nil without one.
	Second *Report `json:"second,omitempty"`
	Basis  Basis   `json:"basis"`
}

// Table is what was judged of a table.
type Table struct {
	Name string `json:"name"`
	Rows int    `json:"rows"` // the most rows that one answer held
	// Partly says why the table was not read whole by one plain request; empty if it was, or if no check wanted it.
	Partly string `json:"partly,omitempty"`
	// Unjudged says why the verdict says nothing of the table; empty if it does.
	Unjudged string  `json:"unjudged,omitempty"`
	Fields   []Field `json:"fields"`
}

// Field is what was judged of a field.
type Field struct {
	Name       string          `json:"name"`
	Type       wire.Type       `json:"type"`
	Filterable bool            `json:"filterable"`
	Empty      bool            `json:"empty"`  // no cell that was read holds a value
	Judged     map[wire.Op]int `json:"judged"` // answers to filters of the field that were judged
	// Values is how many distinct values the rows hold, if they are at most fifty and there
	// is an operator to ask for one; else 0. Asked is how many of them a judged filter named.
	Values int `json:"values,omitempty"`
	Asked  int `json:"asked,omitempty"`
}

// Basis counts what a run has judged, and says so in words.
type Basis struct {
	Rows   int `json:"rows"`   // of all tables, each counted by its largest answer
	Tables int `json:"tables"` // with rows
	// Pairs are those of a field that can be filtered and a declared operator.
	Pairs    int    `json:"pairs"`
	Judged   int    `json:"judged"` // of the pairs
	Empty    int    `json:"empty"`  // of the pairs that were not judged: the field has no value anywhere
	Values   int    `json:"values"` // of the fields with few distinct values
	Asked    int    `json:"asked"`  // of the values
	Unjudged int    `json:"unjudged"`
	Text     string `json:"text"`
}

// maxCovered limits the tables and the fields of a table that a report lists: they are the connector's to make up.
const maxCovered = 1000

// Source is what a report is made of, besides the record.
type Source struct {
	Document *declared.Document // nil: it was not read
	Tables   []wire.Table       // of the first tenant
	// Held returns the rows that are held of a table, whether they are all, and if not, why.
	Held  func(table string) (rows *oracle.Table, whole bool, partly string)
	Clean func(text string) string // removes secrets
}

// Report returns what the run has asked. Call it when the run is over.
func (r *Record) Report(of Source) Report {
	c := Report{Counts: r.Counts, Filters: r.byType(), Operators: []wire.Op{}, Tables: []Table{}, Kinds: []KindCount{}, Unasked: []Question{}}
	if of.Document == nil {
		return c
	}
	c.Operators = append(c.Operators, of.Document.Capabilities.Operators...)
	for i := range of.Tables {
		t := r.table(&of, &of.Tables[i])
		c.Basis.Add(&t, c.Operators)
		if i < maxCovered {
			c.Tables = append(c.Tables, t)
		}
	}
	c.addKinds(of.Clean, r.heard.questions)
	if len(of.Tables) > 0 {
		c.Basis.Text = c.Basis.String() + c.kindsText()
	}
	return c
}

// table returns what was judged of a table.
func (r *Record) table(of *Source, t *wire.Table) Table {
	c := Table{Name: of.Clean(t.Name), Rows: r.heard.rows[t.Name], Fields: []Field{}}
	held, whole, partly := of.Held(t.Name)
	c.Partly = of.Clean(partly)
	filterable, filters := false, 0
	for at, f := range t.Fields[:min(len(t.Fields), maxCovered)] {
		field := Field{
			Name: of.Clean(f.Name), Type: f.Type, Filterable: terms.Allowed(f.Filterable),
			Empty: c.Rows == 0, Judged: map[wire.Op]int{},
		}
		for op, asked := range r.heard.filters[fieldOf{t.Name, f.Name}] {
			field.Judged[op] = asked.times
			filters += asked.times
		}
		if held != nil {
			field.Empty = !slices.ContainsFunc(held.Rows, func(row []wire.Value) bool { return !row[at].IsNull() })
			field.Values, field.Asked = r.values(of.Document, t.Name, &field, &f, held, at)
		}
		filterable = filterable || field.Filterable && len(of.Document.Capabilities.Operators) > 0
		c.Fields = append(c.Fields, field)
	}
	switch {
	case declared.IsSlow(t), c.Rows == 0 && (whole || !t.StoresRows): // there is nothing to judge
	case c.Rows == 0:
		c.Unjudged = "none of its rows were read"
	case filterable && filters == 0 && c.Rows > 1: // of one row no filter tells anything
		c.Unjudged = "no filter on it was judged"
	}
	return c
}

// values counts the distinct values of a column of few, and those of them that were asked
// for: by eq or, where it is not declared, by in.
func (r *Record) values(
	document *declared.Document, table string, c *Field, f *wire.Field, held *oracle.Table, at int,
) (all, asked int) {
	op := wire.OpEq
	if !document.Declares(op) {
		op = wire.OpIn
	}
	if !c.Filterable || !document.Declares(op) || terms.IsDocument(f.Type) {
		return 0, 0
	}
	distinct := map[string]wire.Value{}
	for _, row := range held.Rows {
		if text := row[at].String(); !row[at].IsNull() && len(text) <= exam.MaxOperand {
			distinct[text] = row[at]
		}
		if len(distinct) > exam.MaxValues {
			return 0, 0
		}
	}
	named := r.heard.filters[fieldOf{table, f.Name}][op]
	if named == nil {
		return len(distinct), 0
	}
	for _, v := range distinct {
		if slices.ContainsFunc(named.operands, func(o wire.Value) bool { return oracle.Same(v, o, f.Type) }) {
			asked++
		}
	}
	return len(distinct), asked
}

// Add counts what was judged of a table.
func (b *Basis) Add(t *Table, operators []wire.Op) {
	b.Rows += t.Rows
	if t.Rows > 0 {
		b.Tables++
	}
	if t.Unjudged != "" {
		b.Unjudged++
	}
	for _, f := range t.Fields {
		b.Values += f.Values
		b.Asked += f.Asked
		if !f.Filterable {
			continue
		}
		for _, op := range operators {
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

// String returns a sentence such as "judged 12,345 rows of 12 tables, 96 of 104 fields x
// operators (8 without data), 31 of 31 values of columns with few".
func (b *Basis) String() string {
	text := fmt.Sprintf("judged %s of %s", phrase.Plural(b.Rows, "row"), phrase.Plural(b.Tables, "table"))
	if b.Pairs > 0 {
		text += fmt.Sprintf(", %s of %s fields x operators", phrase.Thousands(b.Judged), phrase.Thousands(b.Pairs))
	}
	if b.Empty > 0 {
		text += fmt.Sprintf(" (%s without data)", phrase.Thousands(b.Empty))
	}
	if b.Values > 0 {
		text += fmt.Sprintf(", %s of %s of columns with few", phrase.Thousands(b.Asked), phrase.Plural(b.Values, "value"))
	}
	return text
}
