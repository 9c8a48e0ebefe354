package connector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// firstBatchRows keeps the first line small, so that a reader sees rows at
	// once.
	firstBatchRows = 64
	// batchBytes is where a batch is cut before it reaches 5,000 rows: larger
	// ones leave the processor's cache and make no stream faster.
	batchBytes = 256 << 10
	// rowWait is how long a row may wait for its batch to fill (C6).
	rowWait = time.Second
	// lastWords bounds the writing of an error line to a reader that may have
	// left.
	lastWords = 5 * time.Second
)

// stream is the answer to one query. Two goroutines meet in it: the source's,
// which fills batches through [Rows], and the request's own, which writes them
// and watches the clocks. Whole batches cross, never rows. All fields below mu
// are guarded by rows.mu.
type stream struct {
	x       *exchange
	rows    *Rows
	timeout time.Duration // of the request
	idle    time.Duration // 0: none
	max     time.Duration // of the stream once its first line is out; 0: the request's
	wake    chan struct{} // capacity 1: there may be something to do

	// The request's goroutine alone uses these.
	out        *lines.Writer
	headerOut  bool
	servedOut  bool
	lastLine   time.Duration // when the last line was written
	writeBound time.Duration

	space    sync.Cond // the source waits here while the reader is slow
	layout   *lines.Layout
	served   wire.Served
	begun    bool
	filling  *lines.Batch   // takes rows
	ready    *lines.Batch   // waits to be written
	spare    []*lines.Batch // written, to be filled again; there are three batches at most
	most     int            // rows that fill a batch
	firstAt  time.Duration  // when filling got its first row
	since    time.Duration  // when the source last offered a row
	blocked  bool           // the source waits for the reader
	wanted   bool           // the source asked for a flush
	finished bool           // the source returned
	result   error
}

func newStream(x *exchange, timeoutMS, idleMS, maxMS int64) *stream {
	s := &stream{x: x, timeout: x.timeout(timeoutMS), wake: make(chan struct{}, 1), most: firstBatchRows}
	if idleMS > 0 {
		s.idle = x.timeout(idleMS)
	}
	if maxMS > 0 {
		s.max = x.timeout(maxMS)
	}
	s.rows = &Rows{sink: sink{stream: s}}
	s.space.L = &s.rows.mu
	s.out = lines.NewWriter(s)
	return s
}

// The methods of sink, called by the source's goroutine with rows.mu held.

func (s *stream) begin(served wire.Served, names []string, from []int) (err error) {
	if s.layout, err = lines.NewLayout(names, from); err != nil {
		return fmt.Errorf("the source began with columns that cannot be sent: %w", err)
	}
	s.served, s.begun = served, true
	s.filling = s.layout.NewBatch()
	return nil
}

func (s *stream) add(values []wire.Value) error {
	err := s.filling.Append(values)
	if errors.Is(err, lines.ErrFull) {
		if err := s.handOver(); err != nil {
			return err
		}
		err = s.filling.Append(values)
	}
	if err != nil {
		return fmt.Errorf("the source emitted a row that cannot be sent: %w", err)
	}
	if s.filling.Len() == 1 {
		s.firstAt = s.x.since()
		s.signal()
	}
	if s.filling.Len() >= s.most || s.filling.Size() >= batchBytes {
		return s.handOver()
	}
	return nil
}

// handOver passes the filled batch on, as soon as the one before is taken.
func (s *stream) handOver() error {
	s.blocked = true
	for s.ready != nil && s.rows.err == nil {
		s.space.Wait()
	}
	s.blocked = false
	if s.rows.err != nil {
		return s.rows.err
	}
	s.ready, s.filling = s.filling, s.empty()
	s.most = wire.MaxBatchRows
	s.signal()
	return nil
}

func (s *stream) flush() {
	s.wanted = true
	s.signal()
}

func (s *stream) offered() {
	if s.idle > 0 {
		s.since = s.x.since()
	}
}

func (s *stream) over() {
	s.space.Broadcast()
	s.signal()
}

func (s *stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// serve runs the source and writes what it emits, until the end of either or
// of the request's time.
func (s *stream) serve(source func(context.Context, *Rows) error) {
	// The context's deadline is the latest the stream may end; where the
	// request's clocks end it sooner, serve cancels.
	deadline := s.x.arrived.Add(max(s.timeout, s.max))
	ctx, cancel := context.WithDeadline(s.x.r.Context(), deadline)
	defer cancel()
	c := s.x.start(
		func() error { return source(ctx, s.rows) },
		func(err error) {
			s.rows.mu.Lock()
			defer s.rows.mu.Unlock()
			s.finished, s.result = true, err
			s.signal()
		})
	defer c.leave()
	err := s.write(ctx)
	cancel()
	s.rows.stop(errOver)
	if err != nil {
		s.end(err)
	}
}

const errOver = cause("the request is over")

// errCut means that the reader is gone or takes nothing: there is no one to
// tell.
var errCut = errors.New("the reader was cut off")

// write writes lines until the stream is complete (nil) or fails.
func (s *stream) write(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		s.rows.mu.Lock()
		what, batch, wait := s.next(ctx)
		s.rows.mu.Unlock()
		switch what {
		case stepWait:
			timer.Reset(wait)
			select {
			case <-s.wake:
			case <-timer.C:
			case <-ctx.Done():
			}
		case stepRows:
			if err := s.line(func() error { return s.out.Rows(batch) }); err != nil {
				return err
			}
			s.recycle(batch)
		case stepServed:
			if err := s.line(func() error { return nil }); err != nil {
				return err
			}
		case stepPing:
			if err := s.line(s.out.Ping); err != nil {
				return err
			}
		case stepEnd:
			return s.line(s.out.End)
		case stepTimeout:
			return errDeadline
		case stepIdle:
			return errIdle
		case stepLeft:
			return errLeft
		case stepFailed:
			return s.failure(ctx)
		}
	}
}

const errIdle = cause("the source offered no row within the request's idleTimeoutMs")

type step int

const (
	stepWait step = iota
	stepRows
	stepServed
	stepPing
	stepEnd
	stepTimeout
	stepIdle
	stepLeft
	stepFailed
)

// next decides what is due (C1, C4, C5, C6). The caller holds rows.mu.
func (s *stream) next(ctx context.Context) (what step, batch *lines.Batch, wait time.Duration) {
	if s.x.r.Context().Err() != nil {
		return stepLeft, nil, 0
	}
	now := s.x.since()
	s.writeBound = s.timeout
	if s.headerOut && s.max > 0 {
		s.writeBound = s.max
	}
	due := s.writeBound
	if now >= due {
		return stepTimeout, nil, 0
	}
	if s.rows.fault || s.finished && s.result != nil && s.rows.err != errEnough {
		return stepFailed, nil, 0
	}
	complete := s.finished || s.rows.err == errEnough
	if s.idle > 0 && !complete && !s.blocked {
		if now >= s.since+s.idle {
			return stepIdle, nil, 0
		}
		due = min(due, s.since+s.idle)
	}
	if s.ready != nil {
		batch, s.ready = s.ready, nil
		s.space.Broadcast()
		return stepRows, batch, 0
	}
	beat := s.lastLine + wire.HeartbeatInterval
	if s.begun && s.filling.Len() > 0 {
		if complete || s.wanted || now >= s.firstAt+rowWait || now >= beat {
			batch, s.filling = s.filling, s.empty()
			s.wanted = false
			s.most = wire.MaxBatchRows
			return stepRows, batch, 0
		}
		due = min(due, s.firstAt+rowWait)
	}
	if complete {
		return stepEnd, nil, 0
	}
	if s.wanted && s.begun {
		s.wanted = false
		if !s.servedOut {
			return stepServed, nil, 0
		}
	}
	if now >= beat {
		return stepPing, nil, 0
	}
	return stepWait, nil, min(due, beat) - now
}

// failure is why the source's answer cannot be completed. The caller is the
// request's goroutine.
func (s *stream) failure(ctx context.Context) error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if s.rows.fault {
		return s.rows.err
	}
	return ended(s.result, ctx, s.x.r.Context())
}

// line writes one line, the header and the served line before it where they
// are still due, and flushes.
func (s *stream) line(write func() error) error {
	if !s.headerOut {
		header := s.x.w.Header()
		header.Set("Content-Type", wire.MediaNDJSON)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Accel-Buffering", "no")
		s.x.w.WriteHeader(http.StatusOK)
		s.headerOut = true
	}
	var err error
	if !s.servedOut {
		s.rows.mu.Lock()
		served, begun := s.served, s.begun
		s.rows.mu.Unlock()
		if begun {
			s.servedOut = true
			err = s.out.Served(served)
		}
	}
	if err == nil {
		err = write()
	}
	if err == nil {
		err = s.x.control.Flush()
		if errors.Is(err, http.ErrNotSupported) {
			err = nil
		}
	}
	s.lastLine = s.x.since()
	if err != nil {
		return errCut
	}
	return nil
}

// Write is the writer's way out: every line passes here.
func (s *stream) Write(p []byte) (int, error) { return s.x.send(p, s.writeBound) }

// recycle keeps a written batch for the source to fill again, unless one huge
// row has blown it up.
func (s *stream) recycle(batch *lines.Batch) {
	if batch.Size() > 4*batchBytes {
		return
	}
	batch.Reset()
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	s.spare = append(s.spare, batch)
}

// empty is a batch to fill. The caller holds rows.mu.
func (s *stream) empty() *lines.Batch {
	last := len(s.spare) - 1
	if last < 0 {
		return s.layout.NewBatch()
	}
	batch := s.spare[last]
	s.spare = s.spare[:last]
	return batch
}

// end answers a failure: with its own status before the first line, with an
// error line after it (C3).
func (s *stream) end(err error) {
	if err == errCut {
		return
	}
	var e *wire.Error
	switch err {
	case errIdle:
		e = wire.Errorf(wire.CodeTimeout, "no row came within the request's idleTimeoutMs")
	default:
		e = s.x.public(err)
	}
	if !s.headerOut {
		s.x.refuse(e)
		return
	}
	s.writeBound = s.x.since() + min(lastWords, s.x.h.opts.WriteStall)
	_ = s.line(func() error { return s.out.Error(s.x.outward(e)) })
}
