package connector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// eventLog notes in which order things happen.
type eventLog struct {
	mu    sync.Mutex
	lines []string
}

func (d *eventLog) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *eventLog) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := strings.Join(d.lines, ", ")
	d.lines = nil
	return all
}

// checking serves a source whose Check does something.
func checking(t *testing.T, do action) *site {
	t.Helper()
	return serve(t, connectors.Source{OnCheck: func(ctx context.Context, _ *wire.CheckRequest) error { return do(ctx) }}, nil)
}

// value gets a value that notes when it is made and closed.
func (d *eventLog) value(ctx context.Context, p *connector.PerRequest[string], name string) (func(), error) {
	_, release, err := p.Get(ctx, func(context.Context) (string, func(), error) {
		d.note("open %s", name)
		return name, func() { d.note("close %s", name) }, nil
	})
	return release, err
}

// TestPerRequest checks when values are made and closed, however a call ends.
func TestPerRequest(t *testing.T) {
	var d eventLog
	var one, two connector.PerRequest[string]
	both := func(ctx context.Context) error {
		if _, err := d.value(ctx, &one, "one"); err != nil {
			return err
		}
		release, err := d.value(ctx, &two, "two")
		release()
		d.note("call")
		return err
	}
	for words, status := range map[string]int{
		"decline": 200, // Describe, Count, and Query after the decline share them
		"boom":    500, "panic": 500, "exit": 500,
	} {
		var src connectors.Full
		act(&src, "Describe", func(a *actor) error { return both(a.ctx) })
		act(&src, "Count", func(a *actor) error { return errors.Join(both(a.ctx), script(words)(a)) })
		src.OnQuery = func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
			return errors.Join(both(ctx), connectors.Source{}.Query(ctx, req, out))
		}
		want := "open one, open two, call, call"
		if status == 200 {
			want += ", call"
		}
		s := serve(t, src.Described, nil)
		for range 2 { // a second request shares nothing with the first
			assert.Equal(t, status, s.post(asked("/count")).status, words)
			assert.Equal(t, want+", close two, close one", d.take(), words)
		}
	}
}

// TestPerRequestConcurrent makes one value for all that ask at once, and another
// for another request of the same moment.
func TestPerRequestConcurrent(t *testing.T) {
	var p connector.PerRequest[int64]
	var made, open atomic.Int64
	s := checking(t, func(ctx context.Context) error {
		var all sync.WaitGroup
		var seen [8]int64
		for i := range seen {
			all.Go(func() {
				v, release, err := p.Get(ctx, func(context.Context) (int64, func(), error) {
					open.Add(1)
					return made.Add(1), func() { open.Add(-1) }, nil
				})
				defer release()
				if err == nil {
					seen[i] = v
				}
			})
		}
		all.Wait()
		for _, v := range seen {
			if v != seen[0] || v == 0 {
				return connector.CheckFailed("%v", seen)
			}
		}
		return nil
	})
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { assert.Equal(t, `{"ok":true}`, s.post(asked("/check")).body) })
	}
	all.Wait()
	assert.Equal(t, int64(10), made.Load())
	assert.Equal(t, int64(0), open.Load())
}

// TestPerRequestContext gives what makes a value a context that outlives the call, and has the values of the call's.
func TestPerRequestContext(t *testing.T) {
	type key struct{}
	var p connector.PerRequest[context.Context]
	get := func(ctx context.Context) error {
		own, _, err := p.Get(ctx, func(ctx context.Context) (context.Context, func(), error) { return ctx, nil, nil })
		if err != nil || own.Err() != nil || own.Value(key{}) != "Describe" {
			return fmt.Errorf("%v, %v, %v", err, own.Err(), own.Value(key{}))
		}
		return nil
	}
	var src connectors.Full
	act(&src, "Describe Size", func(a *actor) error { a.size = &wire.Size{}; return get(a.ctx) })
	s := serve(t, src.Described, &connector.Options{Intercept: func(ctx context.Context, c connector.Call, next action) error {
		ctx, cancel := context.WithCancel(context.WithValue(ctx, key{}, c.Method))
		defer cancel()
		return next(ctx)
	}})
	assert.Equal(t, 200, s.post(asked("/size")).status, s.log)
}

// TestPerRequestEnds checks what is made and closed where one value fails, panics or comes late. Each check passes.
func TestPerRequestEnds(t *testing.T) {
	var p, other connector.PerRequest[string]
	for _, c := range []struct {
		why  string
		do   func(ctx context.Context, d *eventLog) error
		want string
		log  bool // whether a panic is in the log
	}{
		{"an error is not kept, and nothing is closed that was not made", func(ctx context.Context, d *eventLog) error {
			_, release, err := p.Get(ctx, func(context.Context) (string, func(), error) {
				return "", func() { d.note("never") }, errors.New("no token today")
			})
			release()
			d.note("%v", err)
			_, err = d.value(ctx, &p, "one")
			return err
		}, "no token today, open one, close one", false},
		{"the others are closed when closing one panics", func(ctx context.Context, d *eventLog) error {
			_, err := d.value(ctx, &p, "one")
			_, _, _ = other.Get(ctx, func(context.Context) (string, func(), error) { return "", func() { panic(secret) }, nil })
			return err
		}, "open one, close one", true},
		{"who waits does so no longer than its own context, and a panic keeps nobody waiting", func(ctx context.Context, d *eventLog) error {
			panicked := make(chan any)
			go func() {
				defer func() { panicked <- recover() }()
				_, _, _ = p.Get(ctx, func(context.Context) (string, func(), error) {
					time.Sleep(10 * time.Second)
					panic("no token today")
				})
			}()
			time.Sleep(time.Second)
			short, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			start := time.Now()
			release, err := d.value(short, &p, "never")
			release()
			d.note("%t after %v, %v", err == context.DeadlineExceeded, time.Since(start), <-panicked)
			_, err = d.value(ctx, &p, "one")
			return err
		}, "true after 2s, no token today, open one, close one", false},
		{"a value that is made while its request ends is its caller's to close", func(ctx context.Context, d *eventLog) error {
			go func() {
				_, release, _ := p.Get(ctx, func(context.Context) (string, func(), error) {
					time.Sleep(10 * time.Second)
					return "late", func() { d.note("close late") }, nil
				})
				d.note("made")
				time.Sleep(time.Second)
				d.note("release")
				release()
			}()
			time.Sleep(time.Second)
			return nil
		}, "made, release, close late", false},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			var d eventLog
			s := checking(t, func(ctx context.Context) error { return c.do(ctx, &d) })
			a := s.post(asked("/check"))
			assert.Equal(t, `{"ok":true}`, a.body)
			s.keepsSecrets(a)
			time.Sleep(time.Minute)
			assert.Equal(t, c.want, d.take())
			assert.Equal(t, c.log, strings.Contains(s.log.String(), "panicked"))
		})
	}
}

// TestPerRequestLate closes what a source that ignores its context still uses
// only when it returns. What it asks for after that is its own.
func TestPerRequestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d eventLog
		var p connector.PerRequest[string]
		free, ended := make(chan struct{}), make(chan context.Context, 1)
		s := checking(t, func(ctx context.Context) error {
			_, err := d.value(ctx, &p, "one")
			<-free
			d.note("return")
			ended <- ctx
			return err
		})
		s.post(asked("/check 60000 => 10")).is(t, "408")
		assert.Equal(t, "open one", d.take())
		time.Sleep(time.Hour)
		close(free)
		ctx := <-ended
		synctest.Wait()
		assert.Equal(t, "return, close one", d.take())
		release := testkit.Must(d.value(ctx, &p, "late"))(t)
		release()
		release()
		assert.Equal(t, "open late, close late", d.take())
	})
}

// TestPerRequestOutside makes a value for each Get where there is no request.
func TestPerRequestOutside(t *testing.T) {
	var d eventLog
	var p connector.PerRequest[string]
	for range 2 {
		testkit.Must(d.value(t.Context(), &p, "one"))(t)()
		assert.Equal(t, "open one, close one", d.take())
	}
}
