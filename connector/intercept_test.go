package connector_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type interceptFunc = func(context.Context, connector.Call, action) error

// around is an Intercept that looks at no call.
func around(do func(ctx context.Context, next action) error) interceptFunc {
	return func(ctx context.Context, _ connector.Call, next action) error { return do(ctx, next) }
}

var swallowing = around(func(ctx context.Context, next action) error {
	_ = next(ctx)
	return nil
})

// TestInterceptCalls checks that Intercept is called around each call of the source,
// and told which.
func TestInterceptCalls(t *testing.T) {
	src := testkit.Full{Speaker: testkit.Speaker{Name: "ansi"}}
	src.Counter = counts(0, connector.ErrDecline)
	var calls []string
	s := serve(t, src, &connector.Options{Intercept: func(ctx context.Context, call connector.Call, next action) error {
		calls = append(calls, call.Method+" "+call.Table)
		return next(ctx)
	}})
	for _, c := range []struct {
		path, body, want string
	}{
		{"/check", good("/check"), "Check "},
		{"/discovery", good("/discovery"), "Discover "},
		{"/query", good("/query"), "Describe items,Query items"},
		{"/query", query(hopQuery), "Describe items,QueryJoined items"},
		{"/query", sqlBody, "QuerySQL "},
		{"/count", good("/count"), "Describe items,Count items,Query items"},
		{"/aggregate", good("/aggregate"), "Describe items,Aggregate items"},
		{"/size", good("/size"), "Describe items,Size items"},
		{"/cardinality", good("/cardinality"), "Describe items,Cardinality items"},
		{"/linkHitRate", edit(t, "/linkHitRate", `"toTable":"items"`, `"toTable":"others"`),
			"Describe items,Describe others"},
	} {
		calls = nil
		s.post(c.path, c.body)
		assert.Equal(t, c.want, strings.Join(calls, ","), c.path)
	}
}

// TestInterceptMisbehaves checks that an Intercept that swallows, replaces, forgets
// or panics hides no failure and invents no success.
func TestInterceptMisbehaves(t *testing.T) {
	refuse := func(context.Context) error { return connector.Unsupported("no") }
	fails := func(context.Context) error { return errors.New("boom") }
	panics := func(context.Context) error { panic("boom") }
	succeed := func(context.Context) error { return nil }
	elsewhere := around(func(ctx context.Context, next action) error {
		done := make(chan error)
		go func() { done <- next(ctx) }()
		return <-done
	})
	wrapping := func(ctx context.Context, call connector.Call, next action) error {
		return fmt.Errorf("%s: %w", call.Method, next(ctx))
	}
	const (
		boom     = "cause=boom"
		panicked = "ERROR the source panicked slug=shop route=/size table=items cause=boom"
		exited   = "cause=the source ended its goroutine (runtime.Goexit)"
	)
	for _, c := range []struct {
		why       string
		intercept interceptFunc
		do        action
		code      wire.Code
		says      string // the message, or the log for an internal error
	}{
		{"it swallows a refusal", swallowing, refuse, wire.CodeUnsupported, "no"},
		{"it swallows a failure", swallowing, fails, wire.CodeInternal, boom},
		{"it swallows a panic", around(func(ctx context.Context, next action) error {
			defer func() { _ = recover() }()
			_ = next(ctx)
			return nil
		}), panics, wire.CodeInternal, panicked},
		{"it never calls next", around(func(context.Context, action) error { return nil }), succeed,
			wire.CodeInternal, "cause=Options.Intercept returned without calling next"},
		{"it refuses itself", around(func(context.Context, action) error { return connector.UpstreamTimeout("too many calls") }), succeed,
			wire.CodeTimeout, "too many calls"},
		{"it fails after a success", around(func(ctx context.Context, next action) error {
			return errors.Join(next(ctx), errors.New("boom"))
		}), succeed, wire.CodeInternal, boom},
		{"it wraps", wrapping, refuse, wire.CodeUnsupported, "no"},
		{"it wraps a panic's error", wrapping, panics, wire.CodeInternal, boom},
		{"it panics before", around(func(context.Context, action) error { panic("boom") }), succeed, wire.CodeInternal, panicked},
		{"it panics after", around(func(ctx context.Context, next action) error {
			_ = next(ctx)
			panic("boom")
		}), succeed, wire.CodeInternal, boom},
		{"it ends the goroutine", around(func(context.Context, action) error {
			runtime.Goexit()
			return nil
		}), succeed, wire.CodeInternal, exited},
		{"it calls next twice", around(func(ctx context.Context, next action) error {
			_ = next(ctx)
			return next(ctx)
		}), succeed, wire.CodeInternal, "cause=Options.Intercept called next twice"},
		{"it calls next elsewhere, and waits", elsewhere, refuse, wire.CodeUnsupported, "no"},
		{"it calls next elsewhere, where it panics", elsewhere, panics, wire.CodeInternal, boom},
		{"it calls next elsewhere, and does not wait", around(func(ctx context.Context, next action) error {
			started := make(chan struct{})
			go func() { close(started); _ = next(ctx) }()
			<-started
			synctest.Wait()
			return nil
		}), func(context.Context) error { time.Sleep(time.Second); return nil }, wire.CodeInternal,
			"cause=Options.Intercept returned before next did"},
		{"the goroutine ends elsewhere", around(func(ctx context.Context, next action) error {
			var wg sync.WaitGroup
			wg.Go(func() { _ = next(ctx) })
			wg.Wait()
			return nil
		}), func(context.Context) error { runtime.Goexit(); return nil }, wire.CodeInternal, exited},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			s := serve(t, testkit.Endpoints{Sizer: func(ctx context.Context, _ *wire.SizeRequest) (*wire.Size, error) {
				return &wire.Size{}, c.do(ctx)
			}}, &connector.Options{Intercept: c.intercept})
			a := s.post("/size", good("/size"))
			if c.code == wire.CodeInternal {
				a.refuses(t, 500, c.code, "internal error")
				require.Len(t, s.log.all(), 1)
				assert.Contains(t, s.log.String(), c.says)
			} else {
				a.refuses(t, c.code.Status(), c.code, c.says)
				assert.Empty(t, s.log.all())
			}
			time.Sleep(time.Minute)
		})
	}
}

// TestAroundStreams checks the same where rows are out already: a failure never
// becomes an end.
func TestAroundStreams(t *testing.T) {
	for _, c := range []struct {
		why       string
		intercept interceptFunc
		do        step
		want      string
	}{
		{"it swallows a refusal", swallowing, fail(connector.Unsupported("no")), `2s {"error":{"code":"unsupported","message":"no"}}`},
		{"it fails after a success", around(func(ctx context.Context, next action) error {
			_ = next(ctx)
			return errors.New("boom")
		}), wait(0), "2s " + broken},
		{"it puts a failure in other words, and takes its time", around(func(ctx context.Context, next action) error {
			_ = next(ctx)
			time.Sleep(time.Second)
			return connector.Unsupported("not today")
		}), fail(errors.New("boom")), `3s {"error":{"code":"unsupported","message":"not today"}}`},
		{"it takes its time after a success", around(func(ctx context.Context, next action) error {
			defer time.Sleep(3 * time.Second)
			return next(ctx)
		}), wait(0), "5s " + end},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			s := serve(t, script(begin, rows(1), flush, wait(2*time.Second), c.do),
				&connector.Options{Intercept: c.intercept})
			assert.Equal(t, []string{"0s " + all, "0s rows 1", c.want}, s.stream(ask("", hour)))
		})
	}
}
