package batch

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// firstRows keeps the first batch small, so that a reader sees rows at once.
	firstRows = 64
	// usualBytes is where a batch is cut before it has 5,000 rows. The batch is all
	// that a stream holds of its rows while the reader takes nothing.
	usualBytes = 44 << 10
	// largeBytes is where it is cut in a stream that has a place among the [Large].
	largeBytes = 236 << 10
	// lastRow is the room in the buffer of a batch for its last row, which ends
	// beyond the cut.
	lastRow = 4 << 10
)

// Batcher encodes finished rows into the batch of a [Handoff], and writes it when
// it is full. Its methods are called with the handoff's lock held.
type Batcher struct {
	to    *Handoff
	write Write
}

// Write writes a batch, and flushes if the reader should have it at once.
type Write func(b *lines.Batch, flush bool) error

// NewBatcher returns a batcher that writes full batches of h with write. It calls
// write with the turn, but without the lock.
func NewBatcher(h *Handoff, write Write) *Batcher { return &Batcher{h, write} }

// Begin states what the stream claims to have applied, and which cells of a row
// become which members.
func (b *Batcher) Begin(served wire.Served, names []string, from []int) error {
	layout, err := lines.NewLayout(names, from)
	if err != nil {
		return fmt.Errorf("the source began with columns that cannot be sent: %w", err)
	}
	h := b.to
	h.layout, h.served = layout, served
	h.batch, h.maxRows = layout.NewBatch(), firstRows
	return nil
}

// Add encodes one row and keeps nothing of values. It blocks while the reader is
// slow.
func (b *Batcher) Add(values []wire.Value) error {
	h := b.to
	if h.taken {
		if err := h.await(func() bool { return h.taken }); err != nil {
			return err
		}
	}
	err := h.batch.Append(values)
	if err == lines.ErrFull {
		if err := b.send(); err != nil {
			return err
		}
		err = h.batch.Append(values)
	}
	if err != nil {
		return fmt.Errorf("the source emitted a row that cannot be sent: %w", err)
	}
	if !h.waits {
		h.waits, h.firstRow = true, h.clock()
		if due := h.firstRow + rowWait; due < h.looks {
			h.looks = due
			h.signal()
		}
	}
	if h.batch.Len() >= h.maxRows || h.batch.Size() >= h.maxBytes {
		return b.send()
	}
	return nil
}

// send writes the full batch in the goroutine of the source: that costs no switch
// of goroutines, and no second batch to fill meanwhile. The buffers of the
// connection let the source go on while the reader reads.
func (b *Batcher) send() error {
	h := b.to
	// The request's goroutine goes first: it may have a deadline to keep.
	if err := h.await(func() bool { return h.turn || h.wanted }); err != nil {
		return err
	}
	if h.batch.Len() == 0 {
		return nil // the request's goroutine has written it
	}
	if err := b.unlocked(); err != nil {
		h.Refuse(err)
	}
	h.reset(true)
	return h.err
}

// unlocked writes the batch with the turn and without the lock. Only the first is
// flushed. Of a later one the server may hold back a few bytes, which go with the
// next, or after a second. A panic of the server's writer is the request's.
func (b *Batcher) unlocked() (err error) {
	h := b.to
	h.turn = true
	began := h.clock()
	h.mu.Unlock()
	defer func() {
		p := recover()
		h.mu.Lock()
		h.adapt(h.clock() - began)
		if h.turn = false; p != nil {
			h.panicked, err = p, errPanicked
		}
		h.changed.Broadcast()
	}()
	first := h.maxRows == firstRows
	if err = b.write(h.batch, first); first {
		h.waits = false
	}
	return err
}

var errPanicked = errors.New("the writer of the answer panicked")
