package platform

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Rows is the answer of a query, read as it comes. It is not safe for concurrent
// use.
type Rows struct {
	e       *exchange
	reader  *ndjson.Reader
	columns []wire.Column
	sql     bool     // the columns are those of the first row
	checks  []uint16 // of each column, the kinds of cells that need no second look

	request *wire.QueryRequest // empty for a statement
	table   *wire.Table        // nil: not known
	claims  *claims            // nil: none that a row could contradict
	before  *claims            // of the page before; nil for the first
	// unjudged leaves it to the caller to hold the rows against the claims.
	unjudged bool
	count    int64

	first    []wire.Value // read ahead by Served
	waiting  bool         // first is to be yielded
	complete bool         // all rows were read
	err      error        // that ended the answer

	names  []string     // the members of the last row
	order  []int        // the place of each column in such a row; empty: its own
	values []wire.Value // of a row that has the columns elsewhere
}

// stream asks /query, and returns once the connector has accepted the request.
func (c *Client) stream(ctx context.Context, credentials wire.Credentials, k clocks, req wire.Request) (*Rows, error) {
	e, err := c.begin(ctx, wire.PathQuery, credentials, k, req)
	if err != nil {
		return nil, err
	}
	if e.response.StatusCode != http.StatusOK {
		return nil, e.end(e.refusal())
	}
	if e.media() != terms.MediaNDJSON {
		return nil, e.end(e.fault("Content-Type", "stream-10", "is not "+terms.MediaNDJSON))
	}
	return &Rows{e: e, reader: ndjson.NewReader(e.lines())}, nil
}

// All yields the rows, each with a cell for each column, in their order. Cells are
// null, or of the wire's three other kinds; what a text means is for the column's
// type. A row is valid until the next one; the texts of cells that are kept hold a
// whole line in memory, see [wire.Value.Clone].
//
// An error ends the loop: a [*wire.Error] of an error line, an [*AnswerError] of a
// malformed, silent or broken answer, or that of the context. A loop that ends
// without one has seen a complete answer. Leaving the loop closes the answer.
func (r *Rows) All() iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		if r.open() && r.waiting {
			r.waiting = false
			if !yield(r.first, nil) {
				_ = r.Close()
				return
			}
		}
		if r.open() {
			for row, err := range r.reader.Rows() {
				var cells []wire.Value
				if err == nil {
					cells, err = r.read(row)
				}
				if err != nil {
					r.fail(err)
					break
				}
				if !yield(cells, nil) {
					_ = r.Close()
					return
				}
			}
			r.finish()
		}
		if r.err != nil {
			yield(nil, r.err)
		}
	}
}

// open reports whether the answer has not ended yet.
func (r *Rows) open() bool { return !r.complete && r.err == nil }

// finish ends an answer that was read without an error.
func (r *Rows) finish() {
	if r.open() {
		r.complete = true
		_ = r.e.end(nil)
	}
}

// fail ends the answer with an error.
func (r *Rows) fail(err error) {
	var line *ndjson.LineError
	var own *wire.Error
	switch {
	case errors.As(err, &own):
		err = r.e.judge(own, 0)
		var fault *AnswerError
		if errors.As(err, &fault) {
			at, _ := r.reader.Position()
			fault.Place = linePlace(at, fault.Place)
		}
	case errors.As(err, &line):
		err = r.e.lineFault(line)
	}
	r.err = r.e.end(err)
}

// Served returns which parts of the request the rows obey, as the platform
// believes it: filters and a sort count as served where the request has none, and a
// window only beside both. Without a served line nothing else is served. What a SQL
// statement returned counts as served. Served waits for the first row, or for the end
// of the answer.
func (r *Rows) Served() wire.Served {
	r.ahead()
	if r.sql {
		return wire.Served{Filters: true, Sort: true, Window: true}
	}
	return r.believed()
}

// believed returns what the served line says, as far as it is believed.
func (r *Rows) believed() wire.Served {
	s, _ := r.reader.Served()
	s.Filters = s.Filters || !r.request.HasFilters()
	s.Sort = s.Sort || len(r.request.Sort) == 0
	s.Window = s.Window && s.Filters && s.Sort
	return s
}

// ahead reads the first row, unless something was read already.
func (r *Rows) ahead() {
	if !r.open() || r.count > 0 {
		return
	}
	for row, err := range r.reader.Rows() {
		if err == nil {
			r.first, err = r.read(row)
		}
		if err != nil {
			r.fail(err)
		} else {
			r.waiting = true
		}
		return
	}
	r.finish()
}

// Expect compares the rows with what discovery says of their table. A null in a field that
// is not nullable ends them with an error, and so does a key that comes twice, next to each
// other or within the last tens of thousands of rows. Call it before the first row.
func (r *Rows) Expect(t *wire.Table) { r.table = t }

// Columns returns the columns of the rows. Those of a SQL statement are known once
// the first row came; a statement without rows has none.
func (r *Rows) Columns() []wire.Column {
	if r.sql {
		r.ahead()
	}
	return r.columns
}

// Close ends the answer. It is needed only for rows that are not read, and may be
// called again.
func (r *Rows) Close() error {
	if r.open() {
		r.err = errClosed
		_ = r.e.end(nil)
	}
	return nil
}

// read checks a row and returns its cells in the order of the columns.
func (r *Rows) read(row ndjson.Row) ([]wire.Value, error) {
	names := row.Names()
	if r.checks == nil || len(names) != len(r.names) || len(names) > 0 && &names[0] != &r.names[0] {
		if err := r.arrange(names); err != nil {
			return nil, err
		}
	}
	if r.count++; r.request.Limit > 0 && r.count > r.request.Limit {
		if err := r.beyond(); err != nil {
			return nil, err
		}
	}
	cells := row.Values()
	if len(r.order) > 0 {
		for i, at := range r.order {
			r.values[i] = cells[at]
		}
		cells = r.values
	}
	cells = cells[:len(r.checks):len(r.checks)] // members that nobody asked for are dropped
	for i, usual := range r.checks {
		if usual>>cells[i].Kind()&1 == 0 {
			problem, rule := misspelled(cells[i], r.columns[i].Type)
			if cells[i].IsNull() { // unusual only where discovery rules it out
				problem, rule = "is null, and the field is not nullable", "discovery-7"
			}
			if problem != "" {
				return nil, r.fault(r.columns[i].Name, rule, problem)
			}
		}
	}
	if r.claims != nil {
		line, at := r.reader.Position()
		if err := r.claims.check(cells, line, at); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// arrange finds the columns in rows whose members are others than those of the row
// before.
func (r *Rows) arrange(names []string) error {
	if r.checks == nil {
		r.prepare(names)
	}
	if r.sql && len(names) != len(r.columns) {
		return r.fault("", "query-10", fmt.Sprintf("has %d members; the first row has %d", len(names), len(r.columns)))
	}
	r.names, r.order = names, r.order[:0]
	inPlace := true
	for i, c := range r.columns {
		at := i
		if at >= len(names) || names[at] != c.Name {
			if at = slices.Index(names, c.Name); at < 0 {
				return r.fault(c.Name, "query-10", "is missing; a row has a value for each column that was asked for")
			}
			inPlace = false
		}
		r.order = append(r.order, at)
	}
	if inPlace {
		r.order = r.order[:0]
	}
	return nil
}

// prepare looks at the columns, which are those of the first row for a statement, and at
// what the connector says of them.
func (r *Rows) prepare(names []string) {
	if r.sql {
		for _, name := range names {
			r.columns = append(r.columns, wire.Column{Name: name})
		}
	}
	r.checks = make([]uint16, len(r.columns))
	for i, c := range r.columns {
		r.checks[i] = usual(c.Type)
		if r.table == nil || c.Hop > 0 {
			continue
		}
		if f := r.table.Field(c.Name); f != nil && !f.Nullable {
			r.checks[i] &^= 1 << wire.KindNull
		}
	}
	r.values = make([]wire.Value, len(r.columns))
	if !r.unjudged {
		r.claims = claimsAfter(r.before, r.request, r.columns, r.believed(), r.table)
	}
}

// beyond returns the error of a row beyond the window that the connector says to
// have cut.
func (r *Rows) beyond() error {
	if r.believed().Window {
		return r.fault("", "stream-2b", fmt.Sprintf("is row %d; the window is served, and has %d rows", r.count, r.request.Limit))
	}
	return nil
}

// fault returns the error of the row that was read last.
func (r *Rows) fault(member, rule, problem string) error {
	line, row := r.reader.Position()
	place := fmt.Sprintf("rows[%d]", row)
	if member != "" {
		place += "." + member
	}
	return r.e.fault(linePlace(line, place), rule, problem)
}

// linePlace returns a place in a line.
func linePlace(line int, path string) string {
	if path == "" {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("line %d, %s", line, path)
}
