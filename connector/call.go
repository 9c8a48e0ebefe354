package connector

import (
	"context"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	// lingerGrace is how long a call may go on after its request is over
	// before it counts as lingering, and is logged.
	lingerGrace = time.Second
	// mostLingering caps the calls that ignore their context: beyond it new
	// requests are refused, so that a hanging upstream cannot fill the memory.
	mostLingering = 256
)

const (
	errGoexit    = cause("the source ended its goroutine (runtime.Goexit)")
	errPanicked  = cause("the source panicked") // the log has said more
	errNotCalled = cause("Options.Around returned without calling next")
	errRunning   = cause("Options.Around returned before next did")
	errCalled    = cause("Options.Around called next twice")
	errLingering = cause("too many calls of the source are still running after their requests were over")
)

// How a request ends before its source has answered.
const (
	errDeadline = cause("the request's timeout elapsed")
	errLeft     = cause("the client left, or the host is shutting down")
)

func timedOut() *wire.Error {
	return wire.Errorf(wire.CodeTimeout, "the request's time is over")
}

// call is a call of author code in a goroutine of its own, so that whatever
// the code does, its request is answered on time.
type call struct {
	x    *exchange
	done chan struct{} // closed when err is set
	err  error

	mu       sync.Mutex
	over     time.Time // when the request ended first; zero before
	finished bool
	counted  bool
	grace    *time.Timer
}

// start runs fn. Panics and runtime.Goexit become its error, which is settled. A
// lock-step finish, called with that error in the same goroutine, precedes done.
func (x *exchange) start(fn func() error, finish func(error)) *call {
	c := &call{x: x, done: make(chan struct{})}
	if x.h.lingering.Load() >= mostLingering {
		c.finish(errLingering, finish)
		return c
	}
	go func() {
		err := error(errGoexit)
		defer func() { c.finish(err, finish) }()
		defer func() {
			if p := recover(); p != nil {
				err = x.panicked(p)
			}
		}()
		err = settled(fn())
	}()
	return c
}

func (c *call) finish(err error, finish func(error)) {
	c.err = err
	if finish != nil {
		finish(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished = true
	close(c.done)
	if c.grace != nil {
		c.grace.Stop()
	}
	if c.counted {
		c.x.h.lingering.Add(-1)
		c.x.late("a call of the source returned after its request was over", time.Since(c.over))
	}
}

// leave is called when the request ends, whether the call has or not.
func (c *call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return
	}
	c.over = time.Now()
	c.grace = time.AfterFunc(lingerGrace, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.finished {
			c.counted = true
			c.x.h.lingering.Add(1)
			c.x.late("a call of the source ignores its context and is still running", time.Since(c.over))
		}
	})
}

// invoke makes one call of the source about the request's table.
func (x *exchange) invoke(ctx context.Context, method string, fn func(context.Context) error) error {
	return x.around(ctx, Call{Method: method, Table: x.table}, fn)
}

// around makes one call of the source, through Options.Around where there is
// one. An error that Around swallows stays one.
func (x *exchange) around(ctx context.Context, call Call, fn func(context.Context) error) error {
	// After a call that ignored its context, such as Describe, the next one
	// would come too late.
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.h.opts.Around == nil {
		return fn(ctx)
	}
	// Around may call next in another goroutine, and not wait for it.
	var mu sync.Mutex
	inner := error(errNotCalled)
	err := x.h.opts.Around(ctx, call, func(ctx context.Context) (err error) {
		mu.Lock()
		again := inner != errNotCalled
		if !again {
			inner = errRunning
		}
		mu.Unlock()
		if again {
			return errCalled
		}
		err = errGoexit
		defer func() {
			if p := recover(); p != nil {
				err = x.panicked(p)
			}
			mu.Lock()
			defer mu.Unlock()
			inner = err
		}()
		err = fn(ctx)
		return err
	})
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return inner
}

// within runs fn, which calls the source, until the deadline or until the
// client leaves. The error is fit for [exchange.fail].
func (x *exchange) within(timeoutMS int64, fn func(context.Context) error) error {
	ctx, cancel := context.WithDeadline(x.r.Context(), x.arrived.Add(x.timeout(timeoutMS)))
	defer cancel()
	c := x.start(func() error { return fn(ctx) }, nil)
	defer c.leave()
	select {
	case <-c.done:
		return ended(c.err, ctx, x.r.Context())
	case <-ctx.Done():
		return ended(ctx.Err(), ctx, x.r.Context())
	}
}

// ended tells the end of the request from a fault of the source: what a source
// returns because its context is over says nothing new, and an answer that it
// cut short for the same reason is none.
func ended(err error, call, request context.Context) error {
	if f, ok := err.(*failed); ok && f.deliberate != nil || err == errPanicked {
		return err
	}
	switch {
	case request.Err() != nil:
		return errLeft
	case call.Err() != nil:
		return errDeadline
	}
	return err
}
