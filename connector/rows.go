package connector

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Rows is where a source puts the answer to a query, in two steps: Begin says
// what the rows are and what was already done to them, then Row takes one
// after the other. Rows cannot precede the served flags that way.
//
// The SDK finishes the rest (C2): it drops rows that a filter refuses, keeps
// the first of a sort with a limit in a heap, cuts the window and projects the
// fields. Rows is for the call it was handed to; once that is over it takes
// nothing more.
type Rows struct {
	plan plan
	sink sink

	// mu guards all that follows, and the sink: a source that outlives its
	// request finds its writer dead under this lock.
	mu      sync.Mutex
	writer  RowWriter
	begun   bool
	claimed bool
	served  wire.Served // what the source claims
	err     error       // sticky: why no more rows are wanted
	fault   bool        // err is a failure; false when the window is full
	done    finisher
}

// sink takes finished rows: into a stream, or into a count for a source that
// declines to (A12). It is no interface, so that the compiler sees that it keeps
// nothing of a row, and leaves the author's cells on the stack. Its methods are
// called with Rows.mu held.
type sink struct {
	stream *stream // nil: rows are counted
	count  int64
}

// begin is told what the stream will claim and where the cells of a row's
// members stand.
func (k *sink) begin(served wire.Served, names []string, from []int) error {
	if k.stream == nil {
		return nil
	}
	return k.stream.begin(served, names, from)
}

// add takes one row that is to be answered. It keeps nothing of values.
func (k *sink) add(values []wire.Value) error {
	if k.stream == nil {
		k.count++
		return nil
	}
	return k.stream.add(values)
}

// flush sends what is buffered.
func (k *sink) flush() {
	if k.stream != nil {
		k.stream.flush()
	}
}

// offered is told that the source offered a row, kept or not.
func (k *sink) offered() {
	if k.stream != nil {
		k.stream.offered()
	}
}

// over is told that no more rows are wanted: Rows.err is set.
func (k *sink) over() {
	if k.stream != nil {
		k.stream.over()
	}
}

// errEnough tells a source that the window is full.
var errEnough = errors.New("no more rows are wanted")

// errClosed tells a source that it has returned.
const errClosed = cause("the call of the source that these rows are for has returned")

// Served names the parts of a request that a source has applied itself, with the
// platform's semantics. The zero value is always safe: the library then does
// everything.
type Served struct {
	// Filters: every row the source offers satisfies the request's filters.
	Filters bool
	// Sort: the source offers its rows in the requested order.
	Sort bool
}

// Claim states which parts of the request the source has applied itself. A
// source that applied none does not call it. It is called at most once, before
// Begin. A claim must hold exactly: the library neither filters nor sorts again
// what is claimed.
func (r *Rows) Claim(served Served) Claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.begun:
		r.fail(cause("the source called Claim after Begin"))
	case r.claimed:
		r.fail(cause("the source called Claim twice"))
	}
	r.claimed = true
	r.served = r.plan.trivially(wire.Served{Filters: served.Filters, Sort: served.Sort})
	return Claim{r}
}

// Claim is a source's statement of what it has applied, made by [Rows.Claim]. It
// is the only way to the request's window.
type Claim struct {
	rows *Rows
}

// Window returns the request's offset and limit, for a source that can apply
// them. A limit of 0 means no limit. ok is false unless both the filters and the
// sort are served, by the claim or because the request has none: a window cut
// before them loses rows. Asking claims the window: if ok is true, the source
// must skip offset rows and offer no more than limit rows. If ok is false, the
// library cuts the window.
//
// Pages must compose: a source that takes the window of a request without a sort
// must put its rows in a fixed order of its own.
func (c Claim) Window() (offset, limit int64, ok bool) {
	r := c.rows
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun {
		r.fail(cause("the source asked for the window after Begin"))
	}
	if r.err != nil || !r.served.Filters || !r.served.Sort || !r.plan.windowAllowed() {
		return 0, 0, false
	}
	r.served.Window = true
	return r.plan.offset, r.plan.limit, true
}

// Begin states the columns of the rows that follow.
//
// Columns are in the order of the cells of each row. They include every
// requested field, and every field the library still has to filter or sort by;
// more do no harm. A column that is missing is refused as a field the table
// does not have. A source that joins says in Column.Hop where each comes from.
// The source declares a column's Type if it has one; it decides how values
// compare.
//
// Begin is called exactly once. What it refuses, Row reports: there is no
// error to check here.
func (r *Rows) Begin(columns []wire.Column) *RowWriter {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writer.rows = r
	if r.begun {
		r.fail(cause("the source called Begin twice"))
		return &r.writer
	}
	r.begun = true
	if r.err != nil {
		return &r.writer
	}
	if err := r.begin(columns); err != nil {
		r.fail(err)
	}
	return &r.writer
}

func (r *Rows) begin(columns []wire.Column) error {
	columns, err := r.plan.typed(columns)
	if err != nil {
		return err
	}
	names, from, err := r.plan.members(columns)
	if err != nil {
		return err
	}
	r.writer.columns = columns
	if r.done, err = r.plan.finish(r.served, columns); err != nil {
		return err
	}
	return r.sink.begin(r.done.served, names, from)
}

// fail makes err sticky. The caller holds mu.
func (r *Rows) fail(err error) {
	if r.err == nil {
		r.err, r.fault = err, true
		r.sink.over()
	}
}

// stop ends the answer from outside the source: whatever it does from now on
// goes nowhere.
func (r *Rows) stop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(err)
}

// close is called in the source's goroutine when it has returned: it checks
// that the source began, and lets the heap go.
func (r *Rows) close(err error) error {
	own := settled(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err == errEnough:
		return nil // the answer is complete whatever the source says of it
	case r.fault:
		return r.err // an author who swallows a refusal does not undo it
	case err != nil:
		// Sticky, but not yet the answer: Options.Around may put it in other
		// words.
		r.err = own
		return err
	case !r.begun:
		r.fail(cause("the source returned without calling Begin"))
		return r.err
	}
	// The wait for the source's next row is over, however long ago it offered
	// the last of those that the heap held back.
	defer r.sink.offered()
	if err := r.done.drain(r); err != nil && err != errEnough {
		r.fail(err)
		return err
	}
	if r.err == nil {
		r.err = errClosed
	}
	return nil
}

// RowWriter takes the rows of one answer. Its methods are for one goroutine at
// a time.
type RowWriter struct {
	rows    *Rows
	columns []wire.Column
}

// Row offers one row, its cells in the order of Begin's columns. It encodes
// before it returns and keeps nothing, so buffers may be reused. It blocks
// while the reader is slow (C7). A non-nil error means that no more rows are
// wanted: return it as it is.
func (w *RowWriter) Row(values ...wire.Value) error {
	r := w.rows
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if len(values) != len(w.columns) {
		r.fail(cause(fmt.Sprintf("the source emitted a row of %d cells for %d columns", len(values), len(w.columns))))
		return r.err
	}
	if err := r.done.row(r, values); err != nil {
		if err == errEnough {
			r.err = err
			r.sink.over()
		} else {
			r.fail(err)
		}
		return r.err
	}
	r.sink.offered()
	return r.err
}

// All offers every row of an iterator, and stops at its first error.
func (w *RowWriter) All(rows iter.Seq2[[]wire.Value, error]) error {
	for values, err := range rows {
		if err != nil {
			return err
		}
		if err := w.Row(values...); err != nil {
			return err
		}
	}
	return nil
}

// Flush sends the rows offered so far, and the served line before them, without
// waiting for a batch to fill. There is hardly ever a need: a row waits for a
// second at most (C6).
func (w *RowWriter) Flush() error {
	r := w.rows
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	r.sink.flush()
	return r.err
}
