package connector

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/hostlog"
)

const (
	// lingerGrace is how long a call may run on after its request has ended before it
	// counts as lingering and is logged.
	lingerGrace = time.Second
	// maxLingering limits the calls that are lingering. Beyond it new requests are
	// refused, so that an upstream that hangs cannot fill the memory.
	maxLingering = 256
)

// The author's code may block, panic, or go on after its context has ended. So each
// request runs it in a goroutine of its own and waits only until its deadline; a call
// that is still running then is counted and logged until it returns.

// caller calls the source for one request.
type caller struct {
	log       *requestLog
	lingering *atomic.Int64 // calls of all requests that are running after their requests ended
	full      func()        // called when there are too many of them
	intercept func(ctx context.Context, call Call, next func(context.Context) error) error
	// enter waits until the source may be called once more. leave lets the next
	// request call it.
	enter func(ctx context.Context) (leave func(), err error)
}

// sourceCall is a goroutine in which the source is called.
type sourceCall struct {
	done chan struct{} // closed when err is set
	err  error

	log       *requestLog
	lingering *atomic.Int64
	full      func()

	mu       sync.Mutex
	over     time.Time // when the request ended; zero while it is open
	finished bool      // the goroutine is done
	counted  bool      // as lingering
	grace    *time.Timer
	leave    func() // see caller.enter; nil until the source may be called, and once it was called
}

// start runs fn in a new goroutine, as soon as the source may be called, and gives
// it a context in which the calls of the request share values (see [PerRequest]). A
// panic or Goexit becomes an error. When fn returns, start closes the values, calls
// finish with the error if finish is set, and closes done, all in the same goroutine.
func (c *caller) start(ctx context.Context, fn func(context.Context) error, finish func(error)) *sourceCall {
	started := &sourceCall{done: make(chan struct{}), log: c.log, lingering: c.lingering, full: c.full}
	if c.lingering.Load() >= maxLingering {
		started.finish(errLingering, finish)
		return started
	}
	shared := &scope{ctx: ctx, log: c.log}
	go func() {
		err := error(errGoexit)
		defer func() { started.finish(err, finish) }()
		var leave func()
		if leave, err = c.enter(ctx); err != nil {
			return
		}
		started.mu.Lock()
		started.leave = leave
		started.mu.Unlock()
		err = errGoexit
		defer shared.end()
		defer func() {
			if p := recover(); p != nil {
				c.log.panicked(p)
				err = errPanicked
			}
		}()
		err = freeze(fn(context.WithValue(ctx, hostlog.Key{}, shared)))
	}()
	return started
}

// finish ends the call with an error or nil.
func (c *sourceCall) finish(err error, finish func(error)) {
	c.err = err
	if finish != nil {
		finish(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished = true
	if c.leave != nil {
		c.leave()
	}
	close(c.done)
	if c.grace != nil {
		c.grace.Stop()
	}
	if c.counted {
		c.lingering.Add(-1)
		c.log.late("a call of the source returned after its request was over", time.Since(c.over))
	}
}

// release must be called when the request ends. If the call is still running, it
// counts as lingering after a grace period, until it returns.
func (c *sourceCall) release() {
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
			if c.lingering.Add(1) >= maxLingering {
				c.full()
			}
			if c.leave != nil {
				c.leave() // other requests must not wait for one that hangs
				c.leave = nil
			}
			c.log.late("a call of the source ignores its context and is still running", time.Since(c.over))
		}
	})
}

// until runs fn, which calls the source, until the deadline or until the context of
// the request ends. The error is fit for [reply.fail].
func (c *caller) until(request context.Context, deadline time.Time, fn func(context.Context) error) error {
	ctx, cancel := context.WithDeadline(request, deadline)
	defer cancel()
	started := c.start(ctx, fn, nil)
	defer started.release()
	select {
	case <-started.done:
		return explainEnd(started.err, ctx, request)
	case <-ctx.Done():
		return explainEnd(ctx.Err(), ctx, request)
	}
}

// invoke calls one method of the source, through Options.Intercept if that is set. It
// must be called in the goroutine that start made. It fails if the method does, even
// if Intercept returns nil.
func (c *caller) invoke(ctx context.Context, call Call, fn func(context.Context) error) error {
	// After a call that ignored its context, such as Describe, the next one
	// would come too late.
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.intercept == nil {
		return fn(ctx)
	}
	// Intercept may call next in another goroutine, and not wait for it.
	var mu sync.Mutex
	inner := error(errNotCalled)
	err := c.intercept(ctx, call, func(ctx context.Context) (err error) {
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
				c.log.panicked(p)
				err = errPanicked
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

// explainEnd returns why a call failed. After its context has ended, the source's own
// error is ignored, and so is its answer, which may be cut short: the end of the
// request is the reason. A deliberate error and a panic remain the reason.
func explainEnd(err error, call, request context.Context) error {
	if e, ok := err.(*authorError); ok && e.deliberate != nil || err == errPanicked {
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
