package batch

import (
	"runtime"
	"time"
)

const (
	// promptBatches is how many full batches a reader must take at once, in turn,
	// before batches become large.
	promptBatches = 32
	// promptWrite is the longest write of a batch that is taken at once.
	promptWrite = 100 * time.Millisecond
)

// Large is a semaphore for streams whose batches are large: it has as many places as
// there are processors. A large batch costs fewer system calls and wakes the reader
// less often, which is a fifth of the time of a long answer. But a stream holds its
// batch for as long as the reader takes nothing, so thousands of streams must not have
// one; and no more than one for each processor can be filled at a time.
type Large chan struct{}

// NewLarge returns the places of one handler.
func NewLarge() Large { return make(Large, runtime.GOMAXPROCS(0)) }

// adapt takes a place, if one is free, when the reader has taken enough batches at
// once, and gives it back when the reader was slow. took is how long the last write
// took. The caller holds the lock.
func (h *Handoff) adapt(took time.Duration) {
	if took > promptWrite {
		h.prompt = 0
		h.shrink()
		return
	}
	if h.prompt++; h.prompt < promptBatches || h.maxBytes == largeBytes {
		return
	}
	select {
	case h.large <- struct{}{}:
		h.maxBytes = largeBytes
	default:
	}
}

// shrink gives the stream's place back, if it has one: batches are of the usual size
// again. The caller holds the lock.
func (h *Handoff) shrink() {
	if h.maxBytes == largeBytes {
		h.maxBytes = usualBytes
		<-h.large
	}
}

// Large reports whether the batches are large, because the reader keeps up.
func (h *Handoff) Large() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.maxBytes == largeBytes
}
