package connector

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lastWords is how long after the end of a request its last lines may still be
// written, to a reader that may have left.
const lastWords = 5 * time.Second

// stream answers one query. It runs in the request's goroutine, which keeps the
// clocks and writes the rows that have waited long enough, and the lines around
// them. The source's goroutine writes full batches, with [stream.rows]. What
// writing changes belongs to the one that has the handoff's turn.
type stream struct {
	x       *exchange
	handoff *batch.Handoff
	timeout time.Duration // of the request
	idle    time.Duration // the longest wait for a row; 0: any
	max     time.Duration // of the stream, once its first line is out; 0: the request's

	out       *lines.Writer
	headerOut bool
	servedOut bool
	ending    bool          // the error line is being written
	cut       bool          // a line could not be written
	lastLine  time.Duration // when the last line was written
	writeEnd  time.Duration // when writing must end
	expiry    *time.Timer   // ends the source's context at the deadline; nil without max
}

func newStream(x *exchange, timeoutMS, idleMS, maxMS int64) *stream {
	s := &stream{x: x, timeout: x.service.timeout(timeoutMS)}
	if idleMS > 0 {
		s.idle = x.service.timeout(idleMS)
	}
	if maxMS > 0 {
		s.max = x.service.timeout(maxMS)
	}
	s.handoff = batch.NewHandoff(x.since, s.idle > 0, x.service.large)
	s.out = lines.NewWriter(s)
	return s
}

// serve runs the source and writes what it emits, until the end of either or
// of the request's time.
func (s *stream) serve(source func(context.Context) error) {
	// The context's own deadline is the latest at which the stream may end.
	ctx, cancel := context.WithDeadline(s.x.r.Context(), s.x.arrived.Add(max(s.timeout, s.max)))
	defer cancel()
	if s.max > 0 {
		s.expiry = time.AfterFunc(s.timeout-s.x.since(), cancel)
		defer s.expiry.Stop()
	}
	call := s.x.calls.start(ctx, source, s.handoff.Return)
	defer call.release()
	defer s.handoff.Stop(errOver) // in a panic of the server's writer, too
	err := s.write(ctx)
	cancel()
	s.handoff.Stop(errOver)
	if err != nil {
		s.end(err)
	} else {
		s.x.reply.stats.End = "end"
	}
	s.x.reply.stats.Served, _ = s.handoff.Served()
}

// errCut means that the reader is gone or takes nothing: there is no one to
// tell.
var errCut = errors.New("the reader was cut off")

// write writes lines until the stream is complete (nil) or fails. It returns with
// the turn, so that the source's goroutine writes nothing more.
func (s *stream) write(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	request := s.x.r.Context()
	for {
		s.handoff.Acquire()
		if s.cut {
			return errCut
		}
		if request.Err() != nil {
			return errLeft
		}
		now := s.x.since()
		deadline := s.deadline()
		if now >= deadline {
			return errDeadline
		}
		heartbeat := s.lastLine + wire.HeartbeatInterval
		due := min(deadline, heartbeat)
		work := s.handoff.Next(now, heartbeat)
		if work.Panicked != nil {
			panic(work.Panicked)
		}
		if work.Refused != nil {
			return work.Refused
		}
		if work.Returned != nil {
			return explainEnd(work.Returned, ctx, request)
		}
		if s.idle > 0 && !work.Complete && !work.Blocked {
			if now >= work.LastOffer+s.idle {
				return errIdle
			}
			due = min(due, work.LastOffer+s.idle)
		}
		var err error
		switch {
		case work.Batch != nil:
			err = s.rows(work.Batch, true)
			s.handoff.Recycle()
		case work.Complete:
			return s.line(s.out.End, true)
		case work.Flush:
			err = s.line(func() error { return nil }, true)
		case now >= heartbeat:
			err = s.line(s.out.Ping, true)
		default:
			if work.Due > 0 {
				due = min(due, work.Due)
			}
			s.handoff.Release(due)
			timer.Reset(due - now)
			select {
			case <-s.handoff.Wake():
			case <-timer.C:
			case <-ctx.Done():
			}
			continue
		}
		if err != nil {
			return err
		}
		s.handoff.Release(now)
	}
}

// deadline returns when the request's time is over: after timeoutMs, except that
// maxTimeoutMs takes its place once the first line is out.
func (s *stream) deadline() time.Duration {
	if s.headerOut && s.max > 0 {
		return s.max
	}
	return s.timeout
}

// rows writes a batch. The source's goroutine calls it for full ones.
func (s *stream) rows(b *lines.Batch, flush bool) error {
	err := s.line(func() error { return s.out.Rows(b) }, flush)
	if err != nil {
		return err
	}
	if seen := &s.x.reply.stats; seen.RowsSent == 0 {
		seen.FirstRow = s.lastLine
	}
	s.x.reply.stats.RowsSent += int64(b.Len())
	return nil
}

// line writes one line, before it the header and the served line if they are
// still due, and flushes if asked to.
func (s *stream) line(write func() error, flush bool) error {
	if !s.headerOut {
		s.header()
	}
	// A line that begins in time may end after the deadline, so that an error line
	// can follow it: a connection is never closed without a word.
	s.writeEnd = s.x.since() + lastWords
	if !s.ending {
		s.writeEnd = max(s.writeEnd, s.deadline()+lastWords)
	}
	err := s.served()
	if err == nil {
		err = write()
	}
	if err == nil && flush {
		err = s.x.reply.conn.flush(s.x.arrived.Add(s.writeEnd))
	}
	s.x.reply.conn.rest()
	s.lastLine = s.x.since()
	if err != nil {
		s.cut = true
		return errCut
	}
	return nil
}

// header writes the header. From now on maxTimeoutMs bounds the stream.
func (s *stream) header() {
	w := s.x.reply.conn.w
	w.Header().Set("Content-Type", terms.MediaNDJSON)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("X-Accel-Buffering", "no")
	s.x.reply.conn.begin(http.StatusOK)
	s.headerOut = true
	if s.expiry != nil {
		s.expiry.Reset(s.max - s.x.since())
	}
}

// served writes the served line, once the source has begun. A ping may stand
// before it: if the source has stated nothing for ten seconds, the platform's idle
// timeout would end the stream.
func (s *stream) served() error {
	if s.servedOut {
		return nil
	}
	served, begun := s.handoff.Served()
	if !begun {
		return nil
	}
	s.servedOut = true
	return s.out.Served(served)
}

// Write sends one line, for the lines.Writer. A reader that keeps up gets a large
// batch in one piece.
func (s *stream) Write(p []byte) (int, error) {
	piece := maxPiece
	if s.handoff.Large() {
		piece = max(piece, len(p))
	}
	return s.x.reply.conn.send(p, piece, s.x.arrived.Add(s.writeEnd))
}

// end answers a failure: with its own status before the first line, with an
// error line after it.
func (s *stream) end(err error) {
	seen := &s.x.reply.stats
	if err == errCut {
		seen.End, seen.Fault = "cut", FaultReader
		return
	}
	if !s.headerOut {
		s.x.reply.fail(err)
		return
	}
	e := s.x.reply.explain(err)
	s.ending = true
	seen.End = "error"
	if s.line(func() error { return s.out.Error(e) }, true) != nil {
		seen.End = "cut"
	}
}
