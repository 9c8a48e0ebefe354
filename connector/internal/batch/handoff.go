// Package batch carries rows from the goroutine that runs a source to the
// goroutine that answers its request. Whole batches cross between the two, never
// single rows.
//
// The source's goroutine appends rows through a [Batcher]. The request's
// goroutine takes batches with [Handoff.Next] and writes them. Neither knows the
// other: both know the [Handoff].
package batch

import (
	"errors"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// rowWait is how long a row may wait for its batch to fill [rule stream-6].
const rowWait = time.Second

// ErrEnough is the reason for which no more rows are wanted once the answer is
// complete: the window is full.
var ErrEnough = errors.New("no more rows are wanted")

// Handoff is the meeting point of the two goroutines of one query. Its lock also
// guards what stands before it on the source's side: writer, finisher and
// batcher. A source that outlives its request therefore finds its writer closed,
// under the lock, and writes nowhere.
//
// Methods of the source's side are called with the lock held. Methods of the
// request's side take it themselves.
type Handoff struct {
	mu    sync.Mutex
	space sync.Cond            // the source's side waits here for the ready batch to be taken
	wake  chan struct{}        // capacity 1: Next may have something to return
	clock func() time.Duration // the time since the request's arrival
	timed bool                 // whether lastOffer is wanted

	err      error // why no more rows are wanted; the first reason stays
	refused  bool  // err makes the answer fail
	returned bool  // the source has returned, with result
	result   error

	layout  *lines.Layout // nil until the source has begun
	served  wire.Served
	filling *lines.Batch   // takes rows
	ready   *lines.Batch   // waits to be written
	spare   []*lines.Batch // written, to be filled again; there are three batches at most

	maxRows   int           // rows that fill a batch
	firstRow  time.Duration // when filling got its first row
	lastOffer time.Duration // when the source last offered a row
	blocked   bool          // the source's side waits for space
	flush     bool          // the source asked for its rows to be sent
}

// NewHandoff returns a handoff for one query. clock returns the time since the
// request's arrival. timed says that [Work.LastOffer] is wanted, which costs a
// look at the clock for each row.
func NewHandoff(clock func() time.Duration, timed bool) *Handoff {
	h := &Handoff{wake: make(chan struct{}, 1), clock: clock, timed: timed}
	h.space.L = &h.mu
	return h
}

// Lock locks the source's side.
func (h *Handoff) Lock() { h.mu.Lock() }

// Unlock unlocks the source's side.
func (h *Handoff) Unlock() { h.mu.Unlock() }

// Err returns the reason for which no more rows are wanted, nil while they are.
// The caller holds the lock.
func (h *Handoff) Err() error { return h.err }

// Refused reports whether [Handoff.Refuse] gave the reason that Err returns. The
// caller holds the lock.
func (h *Handoff) Refused() bool { return h.refused }

// Refuse fails the answer with err, unless there is a reason already. The
// caller holds the lock.
func (h *Handoff) Refuse(err error) {
	if h.err == nil {
		h.refused = true
		h.Close(err)
	}
}

// Close ends the taking of rows for the reason err, unless there is a reason
// already. The caller holds the lock.
func (h *Handoff) Close(err error) {
	if h.err == nil {
		h.err = err
		h.space.Broadcast()
		h.signal()
	}
}

// Offered notes that the source offered a row, whether a filter kept it or not.
// The caller holds the lock.
func (h *Handoff) Offered() {
	if h.timed {
		h.lastOffer = h.clock()
	}
}

// Flush asks for the rows so far to be sent. The caller holds the lock.
func (h *Handoff) Flush() {
	h.flush = true
	h.signal()
}

// signal wakes the request's goroutine.
func (h *Handoff) signal() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Stop refuses whatever the source does from now on.
func (h *Handoff) Stop(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Refuse(err)
}

// Return notes that the source's call has returned, and its error.
func (h *Handoff) Return(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.returned, h.result = true, err
	h.signal()
}

// Wake returns a channel that gets a value when Next may return something new.
func (h *Handoff) Wake() <-chan struct{} { return h.wake }

// Served returns what the stream claims to have applied, and whether that is
// known yet.
func (h *Handoff) Served() (served wire.Served, begun bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.served, h.layout != nil
}

// Work is what the source's side has for the request's goroutine.
type Work struct {
	Refused  error         // why the answer fails, by [Handoff.Refuse]
	Returned error         // the error with which the source's call returned
	Complete bool          // the source offers no more rows
	Blocked  bool          // the source waits for a batch to be written
	Batch    *lines.Batch  // to be written, then given to [Handoff.Recycle]; nil if none is due
	Flush    bool          // the source asked for a flush, and there is no row to send
	Due      time.Duration // when a row that waits must be sent; 0 if none waits

	// LastOffer is when the source last offered a row.
	LastOffer time.Duration
}

// Next returns what is to be done at the time now. A batch that is not full is
// due when its first row has waited a second, when the source asked for a flush,
// when no more rows come, and at the time of the next heartbeat: rows are sent
// in its place.
func (h *Handoff) Next(now, heartbeat time.Duration) Work {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := Work{Blocked: h.blocked, LastOffer: h.lastOffer, Complete: h.returned || h.err == ErrEnough}
	if h.refused {
		w.Refused = h.err
		return w
	}
	if h.returned && h.err != ErrEnough {
		if w.Returned = h.result; w.Returned != nil {
			return w
		}
	}
	switch {
	case h.ready != nil:
		w.Batch, h.ready = h.ready, nil
		h.space.Broadcast()
	case h.layout != nil && h.filling.Len() > 0:
		if w.Complete || h.flush || now >= h.firstRow+rowWait || now >= heartbeat {
			w.Batch, h.filling = h.filling, h.empty()
			h.flush = false
			h.maxRows = wire.MaxBatchRows
		} else {
			w.Due = h.firstRow + rowWait
		}
	case h.layout != nil:
		w.Flush, h.flush = h.flush, false
	}
	return w
}

// Recycle keeps a written batch to be filled again, unless a huge row has grown
// it far beyond the usual size.
func (h *Handoff) Recycle(b *lines.Batch) {
	if b.Size() > 4*maxBytes {
		return
	}
	b.Reset()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.spare = append(h.spare, b)
}

// empty returns a batch to fill. The caller holds the lock.
func (h *Handoff) empty() *lines.Batch {
	last := len(h.spare) - 1
	if last < 0 {
		return h.layout.NewBatch()
	}
	b := h.spare[last]
	h.spare = h.spare[:last]
	return b
}
