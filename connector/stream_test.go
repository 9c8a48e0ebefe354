package connector_test

import (
	"context"
	"errors"
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

func TestStream(t *testing.T) {
	huge := 16 << 20
	const large = `a row of table "items" needs more than 16 MiB, which is all that a line of an answer has: ask for fewer fields`
	for _, c := range []struct {
		why  string
		do   []step
		more string
		want []string
	}{
		{"no rows: served and end", []step{begin}, "", []string{"0s " + all, "0s " + end}},
		{"a few rows go out with the end", []step{begin, rows(3)}, "", []string{"0s " + all, "0s rows 3", "0s " + end}},
		{"the first batch goes out at once", []step{begin, rows(64), wait(5 * time.Second)}, "",
			[]string{"0s " + all, "0s rows 64", "5s " + end}},
		{"stream-6: one row fewer waits its second", []step{begin, rows(63), wait(5 * time.Second)}, "",
			[]string{"1s " + all, "1s rows 63", "5s " + end}},
		{"stream-6: 5,000 rows a line", []step{begin, ones(64 + 5000 + 5000 + 7)}, "",
			[]string{"0s " + all, "0s rows 64", "0s rows 5000", "0s rows 5000", "0s rows 7", "0s " + end}},
		{"stream-6: no empty batch follows a full one", []step{begin, ones(64 + 5000)}, "",
			[]string{"0s " + all, "0s rows 64", "0s rows 5000", "0s " + end}},
		{"a batch is cut at 44 KiB", []step{begin, wide(20_000, 20_000, 20_000, 20_000, 60_000, 5)}, "",
			[]string{"0s " + all, "0s rows 3", "0s rows 2", "0s rows 1", "0s " + end}},
		{"stream-6: and at 16 MiB, before the row that would not fit", []step{begin, wide(9, 9, huge-20, huge-20, 9)},
			"", []string{"0s " + all, "0s rows 2", "0s rows 1", "0s rows 1", "0s rows 1", "0s " + end}},
		{"stream-6: a row over 16 MiB, after it", []step{begin, wide(9), flush, wait(time.Second), wide(huge)}, "",
			[]string{"0s " + all, "0s rows 1", `1s {"error":{"code":"unsupported","message":"` + strings.ReplaceAll(large, `"`, `\"`) + `"}}`}},

		// Of a line of some more than 64 KiB the server holds back the end.
		{"stream-6: what the server holds back of a full batch waits one second",
			[]step{begin, ones(64), wide(67_000), wait(5 * time.Second)}, "",
			[]string{"0s " + all, "0s rows 64", "1s rows 1", "5s " + end}},
		{"stream-6: a row after it goes with it",
			[]step{begin, ones(64), wide(67_000), wait(500 * time.Millisecond), ones(1), wait(5 * time.Second)}, "",
			[]string{"0s " + all, "0s rows 64", "1s rows 1", "1s rows 1", "5.5s " + end}},
		{"stream-6: a row waits one second",
			[]step{begin, wait(3 * time.Second), rows(1), wait(400 * time.Millisecond), rows(1),
				wait(400 * time.Millisecond), rows(1), wait(9 * time.Second)}, "",
			[]string{"4s " + all, "4s rows 3", "12.8s " + end}},
		{"stream-6: the next row waits its own",
			[]step{begin, rows(1), wait(1500 * time.Millisecond), rows(1), wait(3 * time.Second)}, "",
			[]string{"1s " + all, "1s rows 1", "2.5s rows 1", "4.5s " + end}},
		{"stream-1: a flush sends served", []step{begin, flush, wait(2 * time.Second)}, "",
			[]string{"0s " + all, "2s " + end}},
		{"stream-1: a flush sends rows",
			[]step{begin, wait(time.Second), rows(2), flush, wait(2 * time.Second), flush, flush, rows(1), flush,
				wait(2 * time.Second)}, "",
			[]string{"1s " + all, "1s rows 2", "3s rows 1", "5s " + end}},

		{"stream-4: heartbeats at exactly 10, 20, 30 s; stream-1: served goes with the first",
			[]step{begin, wait(35 * time.Second)}, "",
			[]string{"10s " + all, "10s " + ping, "20s " + ping, "30s " + ping, "35s " + end}},
		{"stream-1: a ping stands before served only when nothing was stated for 10 s",
			[]step{wait(25 * time.Second), begin, rows(1), wait(3 * time.Second)}, "",
			[]string{"10s " + ping, "20s " + ping, "26s " + all, "26s rows 1", "28s " + end}},
		{"stream-1: stated at the last moment", []step{wait(9999 * time.Millisecond), begin, wait(2 * time.Second)},
			"",
			[]string{"10s " + all, "10s " + ping, "11.999s " + end}},
		{"stream-4: 10 s after the last line, not a free-running ticker",
			[]step{begin, wait(7 * time.Second), rows(1), flush, wait(25 * time.Second)}, "",
			[]string{"7s " + all, "7s rows 1", "17s " + ping, "27s " + ping, "32s " + end}},
		{"stream-4: a due heartbeat that finds rows sends them",
			[]step{begin, flush, wait(9500 * time.Millisecond), rows(2), wait(11 * time.Second)}, "",
			[]string{"0s " + all, "10s rows 2", "20s " + ping, "20.5s " + end}},
		{"stream-4: it finds rows of the first batch too",
			[]step{begin, wait(9500 * time.Millisecond), rows(2), wait(time.Second)}, "",
			[]string{"10s " + all, "10s rows 2", "10.5s " + end}},

		{"a full window ends the stream at once, whatever the source does then",
			[]step{begin, rows(3), sleep(8 * time.Second)}, `"limit":3,`,
			[]string{"0s " + all, "0s rows 3", "0s " + end}},
		{"a source that goes on beyond the window is told to stop", []step{begin, rows(100_000)},
			`"limit":70,"offset":5,`,
			[]string{"0s " + all, "0s rows 64", "0s rows 6", "0s " + end}},

		{"stream-3: a failure before the first line has its status",
			[]step{begin, rows(3), fail(connector.BadRequest("no"))}, "", []string{"0s 400 bad_request: no"}},
		{"stream-3: even one that comes late",
			[]step{begin, rows(3), wait(999 * time.Millisecond), fail(connector.UnknownEntity("gone"))}, "",
			[]string{"999ms 404 unknown_entity: gone"}},
		{"stream-3: after the first line it is an error line, and no end follows",
			[]step{begin, rows(3), wait(1500 * time.Millisecond), rows(1), fail(connector.Unsupported("no"))}, "",
			[]string{"1s " + all, "1s rows 3", `1.5s {"error":{"code":"unsupported","message":"no"}}`}},
		{"stream-3: after a heartbeat too", []step{wait(15 * time.Second), fail(errors.New(canary))}, "",
			[]string{"10s " + ping, "15s " + broken}},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			s := serve(t, script(c.do...), nil)
			assert.Equal(t, c.want, s.stream(ask(c.more, hour)))
			s.alive()
			time.Sleep(10 * time.Second) // for sources that outlive their stream
		})
	}
}

// TestClocks checks every deadline at its exact instant, whether or not the
// source minds its context.
func TestClocks(t *testing.T) {
	const second = time.Second
	refused := func(at string) string { return at + " 408 timeout: the request's time is over" }
	for _, c := range []struct {
		why     string
		do      []step
		more    string
		timeout time.Duration
		want    []string
	}{
		{"408 before the first byte", []step{wait(forever)}, "", 5 * second, []string{refused("5s")}},
		{"one millisecond", []step{wait(forever)}, "", time.Millisecond, []string{refused("1ms")}},
		{"408 although the source has begun", []step{begin, wait(forever)}, "", 5 * second, []string{refused("5s")}},
		{"408 although rows are buffered", []step{begin, wait(4500 * time.Millisecond), rows(9), wait(forever)}, "",
			5 * second, []string{refused("5s")}},
		{"408 when the source ignores its context", []step{begin, sleep(60 * second)}, "", 5 * second,
			[]string{refused("5s")}},
		{"408 when it emits for ever, and all of it is dropped", []step{begin, spin},
			`"or":[[{"field":"n","op":"eq","value":-1}]],`, 5 * second, []string{refused("5s")}},
		{"an error line after the first line", []step{begin, flush, wait(forever)}, "", 25 * second,
			[]string{"0s " + all, "10s " + ping, "20s " + ping, "25s " + late}},
		{"an error line when the source ignores its context", []step{begin, flush, sleep(60 * second)}, "",
			5 * second, []string{"0s " + all, "5s " + late}},
		{"a deadline that falls on a heartbeat comes first", []step{begin, flush, wait(forever)}, "", 20 * second,
			[]string{"0s " + all, "10s " + ping, "20s " + late}},
		{"a source that returns nothing more at its deadline has not finished", []step{begin, flush, swallow}, "",
			5 * second, []string{"0s " + all, "5s " + late}},
		{"a source that returns at its deadline, before the first line", []step{begin, rows(1), swallow}, "",
			500 * time.Millisecond, []string{refused("500ms")}},

		{"maxTimeoutMs takes over with the first line", []step{begin, rows(1), wait(forever)},
			`"maxTimeoutMs":30000,`, 5 * second,
			[]string{"1s " + all, "1s rows 1", "11s " + ping, "21s " + ping, "30s " + late}},
		{"and not before it", []step{begin, wait(forever)}, `"maxTimeoutMs":30000,`, 5 * second,
			[]string{refused("5s")}},
		{"a heartbeat is a first line", []step{wait(forever)}, `"maxTimeoutMs":15000,`, 12 * second,
			[]string{"10s " + ping, "15s " + late}},
		{"a shorter maxTimeoutMs too", []step{begin, rows(1), wait(forever)}, `"maxTimeoutMs":5000,`, 60 * second,
			[]string{"1s " + all, "1s rows 1", "5s " + late}},
		{"a shorter one that is over when the first line comes",
			[]step{wait(8 * second), begin, rows(1), wait(forever)}, `"maxTimeoutMs":5000,`, 60 * second,
			[]string{"9s " + all, "9s rows 1", "9s " + late}},
		{"the source's context lasts as long as the stream may", []step{begin, flush, wait(29 * second), rows(1)},
			`"maxTimeoutMs":30000,`, 5 * second,
			[]string{"0s " + all, "10s " + ping, "20s " + ping, "29s rows 1", "29s " + end}},

		{"idleTimeoutMs bounds the wait for the next row", []step{begin, rows(1), wait(forever)},
			`"idleTimeoutMs":3000,`, 60 * second, []string{"1s " + all, "1s rows 1", "3s " + idle}},
		{"from the last one", []step{begin, rows(1), wait(2 * second), rows(1), wait(2 * second), rows(1),
			wait(forever)}, `"idleTimeoutMs":3000,`, 60 * second,
			[]string{"1s " + all, "1s rows 1", "3s rows 1", "5s rows 1", "7s " + idle}},
		{"and for the first", []step{begin, wait(forever)}, `"idleTimeoutMs":3000,`, 60 * second,
			[]string{"3s 408 timeout: no row came within the request's idleTimeoutMs"}},
		{"when the source ignores its context", []step{begin, sleep(60 * second)}, `"idleTimeoutMs":3000,`,
			60 * second, []string{"3s 408 timeout: no row came within the request's idleTimeoutMs"}},
		{"a ping is no row", []step{begin, wait(forever)}, `"idleTimeoutMs":15000,`, 60 * second,
			[]string{"10s " + all, "10s " + ping, "15s " + idle}},
		{"a flush is no row", []step{begin, wait(2 * second), flush, wait(forever)}, `"idleTimeoutMs":3000,`,
			60 * second, []string{"2s " + all, "3s " + idle}},
		{"a row that a filter drops is one",
			[]step{begin, wait(2 * second), rows(1), wait(2 * second), rows(1), wait(2 * second), rows(1),
				wait(2 * second)}, `"idleTimeoutMs":3000,"or":[[{"field":"n","op":"eq","value":-1}]],`, 60 * second,
			[]string{"8s " + all, "8s " + end}},
		{"a row that the offset skips is one",
			[]step{begin, wait(2 * second), rows(1), wait(2 * second), rows(1), wait(2 * second)},
			`"idleTimeoutMs":3000,"offset":10,`, 60 * second,
			[]string{"6s " + all, "6s " + end}},
		{"a full window waits for no row", []step{begin, rows(1), sleep(9 * second)},
			`"idleTimeoutMs":3000,"limit":1,`, 60 * second, []string{"0s " + all, "0s rows 1", "0s " + end}},
		{"the nearest deadline wins", []step{begin, rows(1), wait(forever)},
			`"idleTimeoutMs":8000,"maxTimeoutMs":4000,`, 60 * second,
			[]string{"1s " + all, "1s rows 1", "4s " + late}},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			var ended time.Duration
			start := time.Now()
			src := script(c.do...)
			s := serve(t, testkit.Source{OnQuery: func(ctx context.Context, req *connector.Query,
				out *connector.Rows) error {
				context.AfterFunc(ctx, func() { ended = time.Since(start) })
				return src.OnQuery(ctx, req, out)
			}}, nil)
			lines := s.stream(ask(c.more, c.timeout))
			assert.Equal(t, c.want, lines)
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

// spin offers a row every millisecond, for ever.
func spin(a *actor) error {
	for {
		if err := a.w.Row(wire.Int(1)); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// swallow returns at the deadline without an error, as if it were done.
func swallow(a *actor) error {
	<-a.ctx.Done()
	return nil
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
