package connector

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/hostlog"
)

const (
	// lingerGrace is how long a call may go on after its request is over
	// before it counts as lingering, and is logged.
	lingerGrace = time.Second
	// maxLingering limits the calls that ignore their context. Beyond it new
	// requests are refused, so that an upstream that hangs cannot fill the memory.
	maxLingering = 256
)

// caller makes the calls of the source for one request, each in a goroutine of
// its own: whatever the author's code does, the request is answered on time.
type caller struct {
	log       *requestLog
	lingering *atomic.Int64 // calls of all requests that outlived theirs
	intercept func(ctx context.Context, call Call, next func(context.Context) error) error
	// enter waits until the source takes one more request.
	enter func(ctx context.Context) (leave func(), err error)
}

// call is one such call.
type call struct {
	done chan struct{} // closed when err is set
	err  error

	log       *requestLog
	lingering *atomic.Int64

	mu       sync.Mutex
	over     time.Time // when the request ended first; zero before
	finished bool
	counted  bool
	grace    *time.Timer
	leave    func() // lets the next request call the source; nil before this one may
}

// start runs fn in a new goroutine, as soon as the source takes one more request,
// with a context in which the calls of the request share values. A panic or Goexit becomes an error. The values are closed
// when fn returns. If finish is set, start then calls it with the error, in the
// same goroutine, before it closes done.
func (c *caller) start(ctx context.Context, fn func(context.Context) error, finish func(error)) *call {
	started := &call{done: make(chan struct{}), log: c.log, lingering: c.lingering}
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

func (c *call) finish(err error, finish func(error)) {
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

// release must be called when the request ends, even if the call is still
// running.
func (c *call) release() {
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
			c.lingering.Add(1)
			if c.leave != nil {
				c.leave() // one that hangs must not keep the others waiting
			}
			c.log.late("a call of the source ignores its context and is still running", time.Since(c.over))
		}
	})
}

// within runs fn, which calls the source, until ctx ends.
func (c *caller) within(ctx context.Context, fn func(context.Context) error) error {
	started := c.start(ctx, fn, nil)
	defer started.release()
	select {
	case <-started.done:
		return started.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// invoke calls the source, through Options.Intercept if that is set. An error that
// Intercept swallows stays one. It must be called in the goroutine that start made.
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

// explainEnd returns why a call failed. Once its context is over, what the source
// returns tells nothing new, and an answer that it cut short for that reason is
// none: the end of the request is the reason. A deliberate error and a panic stay.
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
