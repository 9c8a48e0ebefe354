// Package batch collects the rows of a stream into batches, between the goroutine
// that runs a source and the goroutine that answers its request.
//
// The source's goroutine appends rows through a [Batcher], which writes each full
// batch at once. The request's goroutine keeps the clocks: it writes what has
// waited long enough, and the lines around the rows. Only one of them writes at a
// time, the one that has the turn. Neither knows the other: both know the
// [Handoff].
package batch

import (
	"errors"
	"math"
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
	mu      sync.Mutex
	changed sync.Cond            // turn, taken or err may have changed
	wake    chan struct{}        // capacity 1: Next may have something to return
	clock   func() time.Duration // the time since the request's arrival
	timed   bool                 // whether lastOffer is wanted

	err      error // why no more rows are wanted; the first reason stays
	refused  bool  // err makes the answer fail
	returned bool  // the source has returned, with result
	result   error

	turn     bool // a goroutine has the turn to write
	wanted   bool // the request's goroutine waits for the turn
	taken    bool // the request's goroutine writes the batch: no row may be added
	panicked any  // what the server's writer panicked with, in the source's goroutine

	layout *lines.Layout // nil until the source has begun
	served wire.Served
	batch  *lines.Batch // the only one of the stream

	maxRows   int           // rows that fill the batch
	maxBytes  int           // bytes that fill it
	large     Large         // the places for large batches
	prompt    int           // full batches that the reader has taken at once, in turn
	waits     bool          // there are rows that may not have reached the reader yet
	firstRow  time.Duration // when the first of these was added
	lastOffer time.Duration // when the source last offered a row
	looks     time.Duration // when the request's goroutine looks again unless it is woken
	blocked   bool          // the source's side waits
	flush     bool          // the source asked for its rows to be sent
}

// NewHandoff returns a handoff for one query. clock returns the time since the
// request's arrival. timed says that [Work.LastOffer] is wanted, which costs a
// look at the clock for each row. large, which may be nil, has the places for
// streams with large batches.
func NewHandoff(clock func() time.Duration, timed bool, large Large) *Handoff {
	h := &Handoff{wake: make(chan struct{}, 1), clock: clock, timed: timed, maxBytes: usualBytes, large: large}
	h.changed.L = &h.mu
	return h
}

// Lock locks the source's side.
func (h *Handoff) Lock() { h.mu.Lock() }

// TryLock locks the source's side if nobody holds the lock, and reports whether it did.
func (h *Handoff) TryLock() bool { return h.mu.TryLock() }

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
		h.changed.Broadcast()
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

// Stop refuses whatever the source does from now on. Every handoff must be stopped,
// because it may have a place among the [Large].
func (h *Handoff) Stop(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shrink()
	h.large = nil
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
	Panicked any           // what the server's writer panicked with
	Refused  error         // why the answer fails, by [Handoff.Refuse]
	Returned error         // the error with which the source's call returned
	Complete bool          // the source offers no more rows
	Blocked  bool          // the source waits to go on
	Batch    *lines.Batch  // to be written, before [Handoff.Recycle]; nil if none is due
	Flush    bool          // to be flushed, without a batch
	Due      time.Duration // when a row that waits must be sent; 0 if none waits

	// LastOffer is when the source last offered a row.
	LastOffer time.Duration
}

// Acquire takes the turn to write, as soon as the source's side does not write. It
// must come before [Handoff.Next] and whatever is done then.
func (h *Handoff) Acquire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted = true
	for h.turn {
		h.changed.Wait()
	}
	h.wanted, h.turn = false, true
	h.looks = math.MaxInt64 // a row that is added before Release wakes it
}

// Release gives the turn back. The request's goroutine then waits for
// [Handoff.Wake], until the time due at the latest. After the last Acquire there
// is no Release, so that a source that outlives its request cannot write.
func (h *Handoff) Release(due time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn, h.looks = false, due
	h.changed.Broadcast()
}

// await blocks the source's side while a condition holds, and returns the reason
// if no more rows are wanted.
func (h *Handoff) await(while func() bool) error {
	h.blocked = true
	for h.err == nil && while() {
		h.changed.Wait()
	}
	h.blocked = false
	return h.err
}

// Next returns what is to be done at the time now. Rows that wait are due when
// the first has waited a second, when the source asked for a flush, when no more
// rows come, and at the time of the next heartbeat: they are sent in its place.
func (h *Handoff) Next(now, heartbeat time.Duration) Work {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := Work{Panicked: h.panicked, Blocked: h.blocked, LastOffer: h.lastOffer, Complete: h.returned || h.err == ErrEnough}
	if h.refused {
		w.Refused = h.err
		return w
	}
	if h.returned && h.err != ErrEnough {
		if w.Returned = h.result; w.Returned != nil {
			return w
		}
	}
	if h.layout == nil {
		return w
	}
	due := h.waits && (now >= h.firstRow+rowWait || now >= heartbeat)
	switch {
	case due || w.Complete || h.flush:
		h.waits, h.flush = false, false
		if w.Flush = h.batch.Len() == 0; !w.Flush {
			w.Batch, h.taken = h.batch, true
		}
	case h.waits:
		w.Due = h.firstRow + rowWait
	}
	return w
}

// Recycle empties the batch that Next returned, to be filled again.
func (h *Handoff) Recycle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken = false
	h.reset(false)
	h.changed.Broadcast()
}

// reset empties a written batch. If it was full and the first, a long stream begins:
// the next one gets its whole buffer at once, as the first of the large ones does. A
// buffer that a huge row has grown is given back. The caller holds the lock.
func (h *Handoff) reset(full bool) {
	size := h.maxBytes + lastRow
	if full && (h.maxRows == firstRows || h.batch.Cap() < size) || h.batch.Cap() > 4*size {
		h.batch = h.layout.NewBatch()
		if full {
			h.batch.Grow(size)
		}
	} else {
		h.batch.Reset()
	}
	h.maxRows = wire.MaxBatchRows
}
