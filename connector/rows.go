package connector

import (
	"iter"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/finish"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/fit"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A row goes from RowWriter to finish.Finisher and batch.Batcher, which writes it
// with the others of its batch (stream.go), and never back.

// Rows takes the answer to a query from a source, in up to three steps:
// [Rows.Claim] states what the source has already applied, if anything;
// [Rows.Begin] states the columns; [RowWriter.Row] then takes one row after the
// other.
//
// The library does the rest: it drops rows that a filter refuses, keeps the first
// rows of a sort with a limit in a heap, cuts the window, and picks the requested
// fields. Rows is for the call it is passed to. Once that call is over, it takes
// nothing more.
type Rows struct {
	plan     *finish.Plan
	finisher *finish.Finisher
	handoff  *batch.Handoff // its lock guards all that follows, and the finisher

	begun   bool
	claimed bool
	served  wire.Served // what the source claims
	writer  RowWriter
}

// newRows returns the rows of one call. Without a batcher they are only counted.
func newRows(plan *finish.Plan, to *batch.Batcher, handoff *batch.Handoff) *Rows {
	finisher := finish.New(plan, to)
	return &Rows{
		plan:     plan,
		finisher: finisher,
		handoff:  handoff,
		writer:   RowWriter{table: plan.Request.Table, finisher: finisher, handoff: handoff},
	}
}

// errClosed is what Row returns after the source's call has returned.
const errClosed = fault("the call of the source that these rows are for has returned")

// Applied names the parts of a request that a source has applied itself, with the
// platform's semantics. The zero value is always safe: the library then does
// everything.
type Applied struct {
	// Filters: every row the source offers satisfies the request's filters.
	Filters bool
	// Sort: the source offers its rows in the requested order.
	Sort bool
}

// Claim states which parts of the request the source has applied itself. A
// source that applied none does not call it. It is called at most once, before
// Begin. A claim must hold exactly: the library neither filters nor sorts again
// what is claimed.
func (r *Rows) Claim(served Applied) Claim {
	r.handoff.Lock()
	defer r.handoff.Unlock()
	switch {
	case r.begun:
		r.handoff.Refuse(fault("the source called Claim after Begin"))
	case r.claimed:
		r.handoff.Refuse(fault("the source called Claim twice"))
	}
	r.claimed = true
	r.served = r.plan.WithTrivialClaims(wire.Served{Filters: served.Filters, Sort: served.Sort})
	return Claim{r}
}

// Claim is a source's statement of what it has applied, made by [Rows.Claim]. It
// is the only way to the request's window.
type Claim struct {
	rows *Rows
}

// TakeWindow returns the request's offset and limit, for a source that can apply
// them. A limit of 0 means no limit. ok is false unless both the filters and the
// sort are served, by the claim or because the request has none: a window cut
// before them loses rows. If ok is true, the window is claimed: the source must
// skip offset rows and offer no more than limit rows. If ok is false, the library
// cuts the window.
//
// Pages must compose: a source that takes the window of a request without a sort
// must put its rows in a fixed order of its own.
func (c Claim) TakeWindow() (offset, limit int64, ok bool) {
	r := c.rows
	r.handoff.Lock()
	defer r.handoff.Unlock()
	if r.begun {
		r.handoff.Refuse(fault("the source took the window after Begin"))
	}
	if r.handoff.Err() != nil || !r.served.Filters || !r.served.Sort || !r.plan.WindowAllowed() {
		return 0, 0, false
	}
	r.served.Window = true
	return r.plan.Request.Offset, r.plan.Request.Limit, true
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
// Begin is called exactly once. It returns no error; the first Row reports invalid
// columns.
func (r *Rows) Begin(columns []wire.Column) *RowWriter {
	r.handoff.Lock()
	defer r.handoff.Unlock()
	if r.begun {
		r.handoff.Refuse(fault("the source called Begin twice"))
		return &r.writer
	}
	r.begun = true
	if r.handoff.Err() != nil {
		return &r.writer
	}
	columns, err := r.finisher.Begin(r.served, columns)
	if err != nil {
		r.handoff.Refuse(err)
		return &r.writer
	}
	r.writer.columns = columns
	for i, c := range columns {
		if c.Type == wire.TypeDatetime {
			r.writer.instants = append(r.writer.instants, i)
		}
	}
	return &r.writer
}

// close must be called in the source's goroutine with the error that the source
// returned. It checks that the source began, passes on the rows that a sort held
// back, and returns the error of the call.
func (r *Rows) close(err error) error {
	frozen := freeze(err)
	h := r.handoff
	h.Lock()
	defer h.Unlock()
	switch {
	case h.Err() == batch.ErrEnough:
		return nil // the answer is complete, whatever error the source returns
	case h.Refused():
		return h.Err() // an author who swallows a refusal does not undo it
	case err != nil:
		// No more rows, but not yet the answer: Options.Intercept may wrap the error.
		h.Close(frozen)
		return err
	case !r.begun:
		h.Refuse(fault("the source returned without calling Begin"))
		return h.Err()
	}
	// The wait for the source's next row is over, however long ago it offered
	// the last of those that the heap held back.
	defer h.Offered()
	if err := r.finisher.Drain(); err != nil && err != batch.ErrEnough {
		h.Refuse(explainUnsendable(err, r.writer.table))
		return h.Err()
	}
	h.Close(errClosed)
	return nil
}

// RowWriter takes the rows of one answer. Its methods are for one goroutine at
// a time.
type RowWriter struct {
	table    string // empty: the request is SQL
	columns  []wire.Column
	finisher *finish.Finisher
	handoff  *batch.Handoff
	read     int64        // rows offered; the handoff's lock guards it
	instants []int        // the columns of type datetime
	running  bool         // a call of Row is running, perhaps without the lock while the reader is slow; guarded too
	waiting  atomic.Int32 // calls of Row that wait for the lock
}

// errConcurrent fails an answer whose order and cells nobody can vouch for.
const errConcurrent = fault("the source called RowWriter.Row while another call of it was running; " +
	"let one goroutine offer the rows, or put a mutex around both the row's cells and the call")

// Row offers one row, its cells in the order of Begin's columns. It encodes or
// copies them before it returns, so buffers may be reused. It blocks
// while the reader is slow. A non-nil error means that no more rows are wanted:
// return it as it is. A call while another one is running fails the answer.
// A cell of a datetime column must be a wire.Datetime, the text of an instant in UTC, or null. Row
// does not check that other cells fit the types of their columns: that takes time, and the rules
// let a numeric column hold what is no number. Package connectortest does.
func (w *RowWriter) Row(values ...wire.Value) error {
	h := w.handoff
	if !h.TryLock() { // a flag of its own for each row would take a tenth of its time
		w.waiting.Add(1)
		h.Lock()
		w.waiting.Add(-1)
	}
	defer h.Unlock()
	if w.running {
		h.Refuse(errConcurrent)
	}
	if err := h.Err(); err != nil {
		return err
	}
	if len(values) != len(w.columns) {
		h.Refuse(faultf("the source emitted a row of %d cells for %d columns", len(values), len(w.columns)))
		return h.Err()
	}
	w.read++
	for _, i := range w.instants {
		if v := &values[i]; !fit.Moment(v) {
			h.Refuse(faultf("the source emitted a row that cannot be sent: column %s %s", terms.QuoteName(w.columns[i].Name), fit.NoInstant))
			return h.Err()
		}
	}
	w.running = true
	err := w.finisher.Row(values)
	w.running = false
	if w.waiting.Load() > 0 {
		h.Refuse(errConcurrent)
	}
	switch err {
	case nil:
		h.Offered()
	case batch.ErrEnough:
		h.Close(err)
	default:
		h.Refuse(explainUnsendable(err, w.table))
	}
	return h.Err()
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
// waiting for a batch to fill. It is rarely needed: a row waits for one second at
// most.
func (w *RowWriter) Flush() error {
	h := w.handoff
	h.Lock()
	defer h.Unlock()
	if h.Err() == nil {
		h.Flush()
	}
	return h.Err()
}

// Columns returns the columns of Begin, each with its type if the source or the
// table's description states one, for code that makes cells of what others hand it. It
// returns nil if Begin refused them. The caller must not change them.
func (w *RowWriter) Columns() []wire.Column { return w.columns }

// Fail ends the answer with err, even if the source then returns nil. It is for adapters
// that make rows for a source. It returns what Row returns from then on: err, or the
// reason why no more rows were wanted before.
func (w *RowWriter) Fail(err error) error {
	err = freeze(err)
	h := w.handoff
	h.Lock()
	defer h.Unlock()
	if err != nil {
		h.Refuse(err)
	}
	return h.Err()
}
