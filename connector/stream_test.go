package connector_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const hour = time.Hour

// TestStream plays the scripts of testdata/streams.tsv.
func TestStream(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/streams.tsv", 4) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			s := serve(t, script(steps(t, c[1])...), nil)
			assert.Equal(t, seen(c[3]), s.stream(ask(c[2], hour)))
			s.alive()
			time.Sleep(10 * time.Second) // for sources that outlive their stream
		})
	}
}

// TestClocks checks every deadline at its exact instant, whether or not the
// source minds its context. The scripts are those of testdata/clocks.tsv.
func TestClocks(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/clocks.tsv", 5) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			var ended time.Duration
			start := time.Now()
			src := script(steps(t, c[1])...)
			s := serve(t, testkit.Source{OnQuery: func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
				context.AfterFunc(ctx, func() { ended = time.Since(start) })
				return src.OnQuery(ctx, req, out)
			}}, nil)
			lines := s.stream(ask(c[2], testkit.Must(time.ParseDuration(c[3]))(t)))
			assert.Equal(t, seen(c[4]), lines)
			synctest.Wait()
			last, _, _ := strings.Cut(lines[len(lines)-1], " ")
			assert.Equal(t, last, ended.String(), "the source's context ends with its stream")
			s.alive()
			time.Sleep(2 * time.Minute)
			assert.NotContains(t, s.log.String(), "ERROR",
				"the end of a request's time is no fault of the host's")
		})
	}
}

// TestTimeoutOnEveryRoute checks the exact instant and code on every route,
// whatever the source waits for, and the host's own limit.
func TestTimeoutOnEveryRoute(t *testing.T) {
	for why, block := range map[string]action{
		"a source that minds its context": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"one that ignores it":             func(context.Context) error { time.Sleep(3 * time.Hour); return nil },
		"an error whose text never comes": func(context.Context) error { return hangingError{} },
	} {
		for _, h := range hooks() {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, h.source(block), nil)
				start := time.Now()
				h.fails(t, s.post(h.path, strings.Replace(h.body, "60000", "9999", 1)), 408, wire.CodeTimeout, "the request's time is over")
				assert.Equal(t, 9_999*time.Millisecond, time.Since(start), "%s, %s", h.name, why)
				time.Sleep(4 * time.Hour)
			})
		}
	}
	for _, c := range []struct {
		ms      int64
		max, at time.Duration
	}{
		{1, 0, time.Millisecond},
		{2, 0, 2 * time.Millisecond},
		{9_999, 3 * time.Second, 3 * time.Second},
		{3_000, 3 * time.Second, 3 * time.Second},
		{2_999, 3 * time.Second, 2_999 * time.Millisecond},
		{18_446_744_073_710, 5 * time.Second, 5 * time.Second}, // overflows to 448 microseconds
		{9_223_372_036_855, 5 * time.Second, 5 * time.Second},  // overflows below zero
		{1<<53 - 1, 7 * time.Second, 7 * time.Second},
		{1<<53 - 1, 1500 * time.Microsecond, 1500 * time.Microsecond},
		{1, 1500 * time.Microsecond, time.Millisecond},
		{1, 500 * time.Microsecond, 500 * time.Microsecond},
		{1<<53 - 1, 0, time.Hour}, // by default
	} {
		testkit.Bubble(t, fmt.Sprintf("%dms of at most %v", c.ms, c.max), func(t *testing.T) {
			s := serve(t, testkit.Source{OnCheck: func(ctx context.Context, _ *wire.CheckRequest) error {
				<-ctx.Done()
				return nil
			}}, &connector.Options{MaxTimeout: c.max})
			start := time.Now()
			s.post("/check", edit(t, "/check", `"timeoutMs":60000`, fmt.Sprintf(`"timeoutMs":%d`, c.ms))).
				refuses(t, 408, wire.CodeTimeout, "the request's time is over")
			assert.Equal(t, c.at, time.Since(start))
		})
	}
	testkit.Bubble(t, "of a stream's other clocks too", func(t *testing.T) {
		s := serve(t, script(begin, flush, wait(forever)), &connector.Options{MaxTimeout: 7 * time.Second})
		for _, more := range []string{`"maxTimeoutMs":9007199254740991,`, `"idleTimeoutMs":9007199254740991,`} {
			assert.Equal(t, []string{"0s " + all, "7s " + late}, s.stream(ask(more, hour)))
		}
	})
}

// wrapped hides every method of a ResponseWriter but the three, as middleware does
// that forgets Unwrap.
type wrapped struct{ w http.ResponseWriter }

func (w wrapped) Header() http.Header         { return w.w.Header() }
func (w wrapped) Write(p []byte) (int, error) { return w.w.Write(p) }
func (w wrapped) WriteHeader(status int)      { w.w.WriteHeader(status) }

// unwrapping is the same with the cure.
type unwrapping struct{ wrapped }

func (w unwrapping) Unwrap() http.ResponseWriter { return w.w }

// TestCannotFlush checks that a host whose ResponseWriter keeps streams back is told
// so, once for each handler, and that the answer is complete all the same.
func TestCannotFlush(t *testing.T) {
	const cure = "cure=mount the connector outside of http.TimeoutHandler and of middleware that collects answers; " +
		"a ResponseWriter that wraps another needs the method Unwrap, or Flush"
	const warning = "WARN the ResponseWriter cannot flush, so rows and heartbeats arrive late and write deadlines have no effect " +
		"slug=shop route=/query table=items writer="
	wrap := func(outer func(http.ResponseWriter) http.ResponseWriter) func(http.Handler) http.Handler {
		return func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(outer(w), r) })
		}
	}
	for _, c := range []struct {
		why, path string
		mount     func(http.Handler) http.Handler
		want      string // the writer that the warning names, or "" for none
	}{
		{"http.TimeoutHandler collects the answer", "/query",
			func(h http.Handler) http.Handler { return http.TimeoutHandler(h, time.Minute, "") }, "*http.timeoutWriter"},
		{"a writer without Unwrap", "/query",
			wrap(func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} }), "connector_test.wrapped"},
		{"a whole answer needs no flush", "/check",
			wrap(func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} }), ""},
		{"a writer with Unwrap", "/query",
			wrap(func(w http.ResponseWriter) http.ResponseWriter { return unwrapping{wrapped{w}} }), ""},
		{"the server's own", "/query", wrap(func(w http.ResponseWriter) http.ResponseWriter { return w }), ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			log := &logbook{}
			var want []string
			for handlers := range 2 {
				mounted := c.mount(newHandler(t, testkit.Source{}, &connector.Options{Logger: slog.New(log)}))
				for range 2 {
					w := direct(mounted, c.path, good(c.path))
					require.Equal(t, 200, w.Code)
					if c.path == "/query" {
						assert.True(t, strings.HasSuffix(w.Body.String(), "{\"end\":1}\n"), w.Body.String())
					}
				}
				if c.want != "" {
					want = append(want, warning+c.want+" "+cure)
				}
				assert.Equal(t, want, log.all(), "after %d handlers, each asked twice", handlers+1)
			}
		})
	}
}
