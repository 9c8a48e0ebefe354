package connector_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	lingers  = "WARN a call of the source ignores its context and is still running slug=shop route=%s%s after=1s"
	returned = "WARN a call of the source returned after its request was over slug=shop route=%s%s after=%s"
)

// TestAbandoned checks that a source that ignores its context is abandoned on
// time, and logged when it returns. What it emits later goes nowhere.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []error
		s := serve(t, core{query: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
			w := out.Begin(number)
			time.Sleep(10*time.Second + 300*time.Microsecond)
			for range 3 {
				late = append(late, w.Row(wire.Int(1)), rowmap.Offer(w, map[string]any{"n": 1}), w.Flush())
			}
			late = append(late, out.Begin(number).Row(wire.Int(1)))
			_, _, _ = out.Claim(connector.Applied{}).TakeWindow()
			return nil
		}}, nil)
		assert.Equal(t, []string{"5s 408 timeout: the request's time is over"}, s.stream(ask("", 5*time.Second)))
		assert.Empty(t, s.log.all(), "it has a second to return")
		time.Sleep(1500 * time.Millisecond)
		assert.Equal(t, []string{fmt.Sprintf(lingers, "/query", " table=items")}, s.log.all())
		s.alive()
		time.Sleep(time.Hour)
		assert.Equal(t, []string{fmt.Sprintf(lingers, "/query", " table=items"),
			fmt.Sprintf(returned, "/query", " table=items", "5s")}, s.log.all())
		require.Len(t, late, 10)
		for _, err := range late {
			assert.Error(t, err)
		}
	})
}

// TestAbandonedShortly checks that a source that needs a moment to stop is not
// logged.
func TestAbandonedShortly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, core{check: func(ctx context.Context, _ *wire.CheckRequest) error {
			<-ctx.Done()
			time.Sleep(900 * time.Millisecond)
			return ctx.Err()
		}}, nil)
		s.post("/check", edit(t, "/check", "60000", "5")).refuses(t, 408, wire.CodeTimeout,
			"the request's time is over")
		time.Sleep(time.Hour)
		assert.Empty(t, s.log.all())
	})
}

// TestAbandonedNotGoneOnWith checks that after a call that outlived its
// request, no other is made for it.
func TestAbandonedNotGoneOnWith(t *testing.T) {
	src := described{describer: func(context.Context, wire.Credentials, string) (*wire.Table, error) {
		time.Sleep(time.Minute)
		return items(), nil
	}}
	for _, route := range routes[2:] {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, src, &connector.Options{Intercept: func(ctx context.Context, c connector.Call,
				next func(context.Context) error) error {
				assert.Equal(t, "Describe", c.Method, "%s: the source was called after its request was over", route.path)
				return next(ctx)
			}})
			start := time.Now()
			s.post(route.path, edit(t, route.path, "60000", "1000")).refuses(t, 408, wire.CodeTimeout,
				"the request's time is over")
			assert.Equal(t, time.Second, time.Since(start))
			time.Sleep(time.Hour)
		})
	}
}

// TestLingeringCap checks that an upstream that hangs cannot fill the memory.
// Beyond 256 calls that outlived their requests, new ones are refused until
// some return.
func TestLingeringCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := serve(t, endpoints{
			sizer: func(context.Context, *wire.SizeRequest) (*wire.Size, error) {
				<-release
				return &wire.Size{}, nil
			},
			core: core{query: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
				<-release
				return out.Begin(number).Flush()
			}},
		}, nil)
		transport := s.Client.Transport.(*http.Transport)
		transport.MaxIdleConnsPerHost = 300
		hang := func(path, body string) {
			a := s.post(path, body)
			a.refuses(t, 408, wire.CodeTimeout, "the request's time is over")
		}
		for range 128 {
			hang("/size", edit(t, "/size", "60000", "1"))
			hang("/query", edit(t, "/query", "60000", "1"))
		}
		// None has lingered for its second: they do not count yet.
		hang("/size", edit(t, "/size", "60000", "1"))
		time.Sleep(2 * time.Second)
		assert.Len(t, s.log.all(), 257)
		for _, path := range []string{"/check", "/query", "/size"} {
			s.post(path, good(path)).refuses(t, 500, wire.CodeInternal, "internal error")
		}
		for _, line := range s.log.all()[257:] {
			assert.Contains(t, line, "cause=too many calls of the source are still running after their requests "+
				"were over")
		}
		assert.Len(t, s.log.all(), 260)
		close(release)
		synctest.Wait()
		assert.Len(t, s.log.all(), 260+257)
		s.alive()
		assert.Equal(t, 200, s.post("/size", good("/size")).status)
	})
}

// TestLatePanic checks that a panic after the request is over does no harm and
// is logged.
func TestLatePanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, endpoints{
			core: script(begin, func(a *actor) error { _ = rows(1)(a); return nil }, sleep(3*time.Second),
				func(*actor) error { panic("late " + secret) }),
			sizer: func(context.Context, *wire.SizeRequest) (*wire.Size, error) {
				time.Sleep(time.Minute)
				panic("late " + secret)
			},
		}, nil)
		assert.Equal(t, []string{"0s " + all, "0s rows 1", "0s " + end}, s.stream(ask(`"limit":1,`, hour)))
		s.post("/size", edit(t, "/size", "60000", "5")).refuses(t, 408, wire.CodeTimeout,
			"the request's time is over")
		time.Sleep(time.Hour)
		panics := 0
		for _, line := range s.log.all() {
			if line[:len("ERROR the source panicked")] == "ERROR the source panicked" {
				panics++
				assert.Contains(t, line, "cause=late [redacted]")
			}
			assert.NotContains(t, line, secret)
		}
		assert.Equal(t, 2, panics)
		s.alive()
	})
}

// TestPanicBesideFullWindow checks that what a source does after its window is
// full cannot change the answer, in whatever order the goroutines run.
func TestPanicBesideFullWindow(t *testing.T) {
	for _, what := range []step{func(*actor) error { panic("x") }, fail(connector.BadRequest("x")),
		fail(fmt.Errorf("x"))} {
		s := serve(t, script(begin, func(a *actor) error { _ = rows(2)(a); return nil }, what), nil)
		for range 50 {
			a := s.post("/query", ask(`"limit":2,`, time.Minute))
			require.Equal(t, all+"\n"+`{"rows":[{"n":1},{"n":2}]}`+"\n"+end+"\n", a.body)
		}
	}
}

// TestPanickingLogger checks that a host's logger that panics ends neither the
// process nor the answer, whichever goroutine the line is from.
func TestPanickingLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, endpoints{
			core:    core{check: func(context.Context, *wire.CheckRequest) error { panic("x") }},
			counter: func(context.Context, *wire.CountRequest) (int64, error) { return 0, fmt.Errorf("x") },
			sizer: func(context.Context, *wire.SizeRequest) (*wire.Size, error) {
				time.Sleep(time.Hour)
				panic("x")
			},
		}, nil)
		s.log.panics = true
		s.post("/check", good("/check")).refuses(t, 500, wire.CodeInternal, "internal error")
		s.post("/count", good("/count")).refuses(t, 500, wire.CodeInternal, "internal error")
		s.post("/size", edit(t, "/size", "60000", "1")).refuses(t, 408, wire.CodeTimeout,
			"the request's time is over")
		time.Sleep(2 * time.Hour)
		assert.Equal(t, 200, s.post("/query", good("/query")).status)
	})
}

// TestRowsAfterReturning checks that rows are for the call they were passed to.
func TestRowsAfterReturning(t *testing.T) {
	for failure, want := range map[error]string{
		nil:                         all + "\n" + `{"rows":[{"n":1}]}` + "\n" + end + "\n",
		connector.Unsupported("no"): `{"error":{"code":"unsupported","message":"no"}}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			var kept *connector.RowWriter
			before := make(chan error, 1)
			s := serve(t, core{query: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
				kept = out.Begin(number)
				assert.NoError(t, kept.Row(wire.Int(1)))
				return failure
			}}, &connector.Options{Intercept: func(ctx context.Context, _ connector.Call,
				next func(context.Context) error) error {
				err := next(ctx)
				before <- kept.Row(wire.Int(2)) // the call has returned, the stream has not ended
				return err
			}})
			assert.Equal(t, want, s.post("/query", ask("", time.Minute)).body)
			assert.Error(t, <-before)
			assert.Error(t, kept.Row(wire.Int(3)))
		})
	}
}
