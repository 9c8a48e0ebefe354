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

func swallowing(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
	_ = next(ctx)
	return nil
}

type interceptFunc = func(context.Context, connector.Call, func(context.Context) error) error

// TestInterceptCalls checks that Intercept is called around each call of the source,
// and told which.
func TestInterceptCalls(t *testing.T) {
	src := testkit.Full{Speaker: testkit.Speaker{Name: "ansi"}}
	src.Counter = func(context.Context, *wire.CountRequest) (int64, error) { return 0, connector.ErrDecline }
	var calls []string
	s := serve(t, src, &connector.Options{Intercept: func(ctx context.Context, call connector.Call,
		next func(context.Context) error) error {
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

// TestInterceptValues checks that what Intercept puts into the context reaches the
// source.
func TestInterceptValues(t *testing.T) {
	type key struct{}
	s := serve(t, testkit.Source{OnCheck: func(ctx context.Context, _ *wire.CheckRequest) error {
		return connector.CheckFailed("%v", ctx.Value(key{}))
	}}, &connector.Options{Intercept: func(ctx context.Context, _ connector.Call,
		next func(context.Context) error) error {
		return next(context.WithValue(ctx, key{}, "traced"))
	}})
	s.post("/check", good("/check")).refuses(t, 400, wire.CodeCheckFailed, "traced")
}

// TestInterceptMisbehaves checks that an Intercept that swallows, replaces, forgets
// or panics hides no failure and invents no success.
func TestInterceptMisbehaves(t *testing.T) {
	refuse := func(context.Context) error { return connector.Unsupported("no") }
	succeed := func(context.Context) error { return nil }
	type want struct {
		status         int
		code           wire.Code
		message, cause string
	}
	internal := func(cause string) want { return want{500, wire.CodeInternal, "internal error", cause} }
	for _, c := range []struct {
		why       string
		intercept interceptFunc
		do        action
		want      want
	}{
		{"it swallows a refusal", swallowing, refuse, want{422, wire.CodeUnsupported, "no", ""}},
		{"it swallows a failure", swallowing, func(context.Context) error { return errors.New("boom") },
			internal("cause=boom")},
		{"it swallows a panic", func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
			defer func() { _ = recover() }()
			return swallowing(ctx, call, next)
		}, func(context.Context) error { panic("boom") },
			internal("ERROR the source panicked slug=shop route=/size table=items cause=boom")},
		{"it never calls next", func(context.Context, connector.Call, func(context.Context) error) error {
			return nil
		}, succeed, internal("cause=Options.Intercept returned without calling next")},
		{"it refuses itself", func(context.Context, connector.Call, func(context.Context) error) error {
			return connector.UpstreamTimeout("too many calls")
		}, succeed, want{408, wire.CodeTimeout, "too many calls", ""}},
		{"it fails after a success", func(ctx context.Context, _ connector.Call,
			next func(context.Context) error) error {
			return errors.Join(next(ctx), errors.New("boom"))
		}, succeed, internal("cause=boom")},
		{"it wraps", func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
			return fmt.Errorf("%s: %w", call.Method, next(ctx))
		}, refuse, want{422, wire.CodeUnsupported, "no", ""}},
		{"it wraps a panic's error", func(ctx context.Context, call connector.Call,
			next func(context.Context) error) error {
			return fmt.Errorf("%s: %w", call.Method, next(ctx))
		}, func(context.Context) error { panic("boom") }, internal("cause=boom")},
		{"it panics before", func(context.Context, connector.Call, func(context.Context) error) error {
			panic("boom")
		}, succeed, internal("ERROR the source panicked slug=shop route=/size table=items cause=boom")},
		{"it panics after", func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
			_ = next(ctx)
			panic("boom")
		}, succeed, internal("cause=boom")},
		{"it ends the goroutine", func(context.Context, connector.Call, func(context.Context) error) error {
			runtime.Goexit()
			return nil
		}, succeed, internal("cause=the source ended its goroutine (runtime.Goexit)")},
		{"it calls next twice", func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
			_ = next(ctx)
			return next(ctx)
		}, succeed, internal("cause=Options.Intercept called next twice")},
		{"it calls next elsewhere, and waits",
			func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
				done := make(chan error)
				go func() { done <- next(ctx) }()
				return <-done
			}, refuse, want{422, wire.CodeUnsupported, "no", ""}},
		{"it calls next elsewhere, where it panics",
			func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
				done := make(chan error)
				go func() { done <- next(ctx) }()
				return <-done
			}, func(context.Context) error { panic("boom") }, internal("cause=boom")},
		{"it calls next elsewhere, and does not wait",
			func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
				started := make(chan struct{})
				go func() { close(started); _ = next(ctx) }()
				<-started
				synctest.Wait()
				return nil
			}, func(context.Context) error { time.Sleep(time.Second); return nil },
			internal("cause=Options.Intercept returned before next did")},
		{"the goroutine ends elsewhere",
			func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
				var wg sync.WaitGroup
				wg.Go(func() { _ = next(ctx) })
				wg.Wait()
				return nil
			}, func(context.Context) error { runtime.Goexit(); return nil },
			internal("cause=the source ended its goroutine (runtime.Goexit)")},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			s := serve(t, testkit.Endpoints{Sizer: func(ctx context.Context,
				_ *wire.SizeRequest) (*wire.Size, error) {
				return &wire.Size{}, c.do(ctx)
			}}, &connector.Options{Intercept: c.intercept})
			s.post("/size", good("/size")).refuses(t, c.want.status, c.want.code, c.want.message)
			if c.want.cause == "" {
				assert.Empty(t, s.log.all())
			} else {
				require.Len(t, s.log.all(), 1)
				assert.Contains(t, s.log.String(), c.want.cause)
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
		{"it fails after a success", func(ctx context.Context, _ connector.Call,
			next func(context.Context) error) error {
			_ = next(ctx)
			return errors.New("boom")
		}, wait(0), "2s " + broken},
		{"it puts a failure in other words, and takes its time",
			func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
				_ = next(ctx)
				time.Sleep(time.Second)
				return connector.Unsupported("not today")
			}, fail(errors.New("boom")), `3s {"error":{"code":"unsupported","message":"not today"}}`},
		{"it takes its time after a success",
			func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
				defer time.Sleep(3 * time.Second)
				return next(ctx)
			}, wait(0), "5s " + end},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			s := serve(t, script(begin, rows(1), flush, wait(2*time.Second), c.do),
				&connector.Options{Intercept: c.intercept})
			assert.Equal(t, []string{"0s " + all, "0s rows 1", c.want}, s.stream(ask("", hour)))
		})
	}
}
