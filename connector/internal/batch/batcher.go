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
	// maxBytes is where a batch is cut before it has 5,000 rows: larger batches
	// leave the processor's cache and make no stream faster.
	maxBytes = 256 << 10
)

// Batcher encodes finished rows into batches and passes full ones to a
// [Handoff]. Its methods are called with the handoff's lock held.
type Batcher struct {
	to *Handoff
}

// NewBatcher returns a batcher that passes its batches to h.
func NewBatcher(h *Handoff) *Batcher { return &Batcher{h} }

// Begin states what the stream claims to have applied, and which cells of a row
// become which members.
func (b *Batcher) Begin(served wire.Served, names []string, from []int) error {
	layout, err := lines.NewLayout(names, from)
	if err != nil {
		return fmt.Errorf("the source began with columns that cannot be sent: %w", err)
	}
	h := b.to
	h.layout, h.served = layout, served
	h.filling, h.maxRows = layout.NewBatch(), firstRows
	return nil
}

// Add encodes one row and keeps nothing of values. It blocks while the reader is
// slow.
func (b *Batcher) Add(values []wire.Value) error {
	h := b.to
	err := h.filling.Append(values)
	if errors.Is(err, lines.ErrFull) {
		if err := b.handOver(); err != nil {
			return err
		}
		err = h.filling.Append(values)
	}
	if err != nil {
		return fmt.Errorf("the source emitted a row that cannot be sent: %w", err)
	}
	if h.filling.Len() == 1 {
		h.firstRow = h.clock()
		h.signal()
	}
	if h.filling.Len() >= h.maxRows || h.filling.Size() >= maxBytes {
		return b.handOver()
	}
	return nil
}

// handOver passes the batch on as soon as the one before it is taken.
func (b *Batcher) handOver() error {
	h := b.to
	h.blocked = true
	for h.ready != nil && h.err == nil {
		h.space.Wait()
	}
	h.blocked = false
	if h.err != nil {
		return h.err
	}
	h.ready, h.filling = h.filling, h.empty()
	h.maxRows = wire.MaxBatchRows
	h.signal()
	return nil
}
