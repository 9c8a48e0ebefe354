package connector_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const hour = time.Hour

// TestStream plays the scripts of testdata/streams.tsv.
func TestStream(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/streams.tsv", 4) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			s := played(t, c[1], connector.Options{})
			assert.Equal(t, seen(c[3]), s.stream(ask(c[2], hour)))
			if !strings.Contains(c[1], "Intercept: ") {
				s.alive()
			}
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
			src := plays(c[1])
			s := serve(t, connectors.Source{OnQuery: func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
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
			assert.NotContains(t, s.log.String(), "ERROR", "the end of a request's time is no fault of the host's")
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
	for _, c := range testkit.Table(t, "testdata/timeouts.tsv", 4) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			s := played(t, "Check: swallow", connector.Options{MaxTimeout: duration(c[2])})
			start := time.Now()
			s.post(asked("/check 60000 => "+c[1])).is(t, "408")
			assert.Equal(t, duration(c[3]), time.Since(start))
		})
	}
	testkit.Bubble(t, "of a stream's other clocks too", func(t *testing.T) {
		s := serve(t, plays("begin; flush; wait 1000h"), &connector.Options{MaxTimeout: 7 * time.Second})
		for _, more := range []string{`"maxTimeoutMs":9007199254740991,`, `"idleTimeoutMs":9007199254740991,`} {
			assert.Equal(t, []string{"0s " + all, "7s " + late}, s.stream(ask(more, hour)))
		}
	})
}

// wrapped hides every method of a ResponseWriter but the three, as middleware does that forgets Unwrap.
type wrapped struct{ w http.ResponseWriter }

func (w wrapped) Header() http.Header         { return w.w.Header() }
func (w wrapped) Write(p []byte) (int, error) { return w.w.Write(p) }
func (w wrapped) WriteHeader(status int)      { w.w.WriteHeader(status) }

// unwrapping is the same with the cure.
type unwrapping struct{ wrapped }

func (w unwrapping) Unwrap() http.ResponseWriter { return w.w }

// flushing can flush, and takes no deadline.
type flushing struct{ wrapped }

func (w flushing) Flush() { w.w.(http.Flusher).Flush() }

// TestWrappedWriters checks that a host whose ResponseWriter keeps streams back, or write deadlines
// from the connection, is told so, once for each handler, and that the answer is complete all the same.
func TestWrappedWriters(t *testing.T) {
	const cure = "cure=mount the connector outside of http.TimeoutHandler and of middleware that collects answers; " +
		"a ResponseWriter that wraps another needs the method Unwrap"
	const about = " slug=shop route=/query table=items writer="
	const late = "WARN the ResponseWriter cannot flush, so rows and heartbeats arrive late and write deadlines have no effect" + about
	const endless = "WARN the ResponseWriter cannot limit a write, so a reader that takes nothing holds its request until it leaves" + about
	wrap := func(outer func(http.ResponseWriter) http.ResponseWriter) func(http.Handler) http.Handler {
		return func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(outer(w), r) })
		}
	}
	bare := func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} }
	for _, c := range []struct {
		why, path string
		mount     func(http.Handler) http.Handler
		want      string // the warning, or "" for none
	}{
		{"http.TimeoutHandler collects the answer", "/query",
			func(h http.Handler) http.Handler { return http.TimeoutHandler(h, time.Minute, "") }, late + "*http.timeoutWriter"},
		{"a writer without Unwrap", "/query", wrap(bare), late + "connector_test.wrapped"},
		{"a writer with Flush alone, of a server", "/query", func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx := context.WithValue(r.Context(), http.ServerContextKey, &http.Server{})
				h.ServeHTTP(flushing{wrapped{w}}, r.WithContext(ctx))
			})
		}, endless + "connector_test.flushing"},
		{"a whole answer needs no flush", "/check", wrap(bare), ""},
		{"a writer with Unwrap", "/query",
			wrap(func(w http.ResponseWriter) http.ResponseWriter { return unwrapping{wrapped{w}} }), ""},
		{"the server's own", "/query", wrap(func(w http.ResponseWriter) http.ResponseWriter { return w }), ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			log := &logbook{}
			var want []string
			for handlers := range 2 {
				mounted := c.mount(newHandler(connectors.Source{}, &connector.Options{Logger: slog.New(log)}))
				for range 2 {
					w := direct(mounted, c.path, good(c.path))
					require.Equal(t, 200, w.Code)
					if c.path == "/query" {
						assert.True(t, strings.HasSuffix(w.Body.String(), "{\"end\":1}\n"), w.Body.String())
					}
				}
				if c.want != "" {
					want = append(want, c.want+" "+cure)
				}
				assert.Equal(t, want, log.all(), "after %d handlers, each asked twice", handlers+1)
			}
		})
	}
}

// TestSilentSource checks that WriteStall is about the reader: a source may be silent for longer,
// over HTTP/2 too, where a deadline that ends while nothing is written resets the stream.
func TestSilentSource(t *testing.T) {
	testkit.Bubble(t, "HTTP/2", func(t *testing.T) {
		// The source is silent for less time than a heartbeat needs.
		h := newHandler(plays("begin; rows 1; sleep 9s; rows 1"), &connector.Options{WriteStall: 2 * time.Second})
		server, protocols := &http.Server{Handler: h, Protocols: new(http.Protocols)}, new(http.Protocols)
		server.Protocols.SetUnencryptedHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
		l, stop := memlisten.Serve(server)
		client := http.Client{Transport: l.Route(&http.Transport{Protocols: protocols})}
		a := read(t, testkit.Must(client.Do(request(t.Context(), "http://connector.test/query", ask("", time.Hour))))(t))
		assert.Contains(t, a.body, `{"rows":[{"n":2}]}`+"\n"+`{"end":1}`)
		client.CloseIdleConnections()
		stop()
	})
}

// TestNoLimits checks that the longest of times and the largest of sizes are none.
func TestNoLimits(t *testing.T) {
	testkit.Bubble(t, "pauses of an hour", func(t *testing.T) {
		s := serve(t, plays("begin; sleep 1h; rows 1; sleep 1h; rows 1; sleep 1h"),
			&connector.Options{MaxRequestBytes: math.MaxInt64, MaxTimeout: math.MaxInt64})
		a := s.post("/query", ask(`"idleTimeoutMs":9007199254740991,"maxTimeoutMs":9007199254740991,`, 4*time.Hour))
		assert.Contains(t, a.body[max(0, len(a.body)-200):], `{"end":1}`)
	})
}

// TestReaderStops checks that a reader that takes nothing is cut off at exactly WriteStall, and the source cancelled.
// Until then the source blocks, at most one batch ahead.
func TestReaderStops(t *testing.T) {
	for _, c := range []struct {
		why          string
		reads        int // bytes the reader takes before it stops
		pause, stall time.Duration
		more         string
		at           time.Duration
	}{
		{"at once, for 20 s by default", 0, 0, 0, "", 20 * time.Second},
		{"at once, for as long as the host allows", 0, 0, 7 * time.Second, "", 7 * time.Second},
		{"after the first rows", 100_000, 0, 0, "", 20 * time.Second},
		{"after some pauses that are short enough", 5 << 20, time.Second, 0, "", 20 * time.Second},
		{"stream-5: not beyond the end of the request's time", 100_000, 0, 0, `"maxTimeoutMs":3000,`, 3 * time.Second},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			var emitted atomic.Int64 // rows of about a KiB
			stopped, left := make(chan time.Time, 1), make(chan error, 1)
			s := serve(t, connectors.Source{OnQuery: func(ctx context.Context, _ *connector.Query, out *connector.Rows) error {
				context.AfterFunc(ctx, func() { stopped <- time.Now() })
				w, err := out.Begin(number), error(nil)
				for ; err == nil; err = w.Row(wire.Text(strings.Repeat("x", 1000))) {
					emitted.Add(1)
				}
				left <- err
				return err
			}}, &connector.Options{WriteStall: c.stall})
			conn := s.open("/query", ask(c.more, hour))
			piece := make([]byte, 1<<20)
			for taken := 0; taken < c.reads; {
				taken += testkit.Must(io.ReadFull(conn, piece[:min(len(piece), c.reads-taken)]))(t)
				time.Sleep(c.pause)
			}
			stop := time.Now().Add(-c.pause)
			synctest.Wait()
			ahead := emitted.Load()*1000 - int64(c.reads)
			assert.Less(t, ahead, int64(64<<10), "stream-7: a stream holds one batch, beside what the server buffers")
			assert.Equal(t, c.at, (<-stopped).Sub(stop))
			assert.Error(t, <-left)
			rest := testkit.Must(io.ReadAll(conn))(t)
			assert.NotContains(t, string(rest), `{"end":1}`, "a stream that was cut off never looks complete")
			assert.NotContains(t, string(rest), "\r\n0\r\n", "nor does its HTTP message")
			s.alive()
		})
	}
}

// TestSlowReader checks that a reader that takes 2 MB in about four minutes gets them all. The time blocked on the
// reader does not count as idle, and neither does that of the heap, which holds rows back long after they were offered.
func TestSlowReader(t *testing.T) {
	for _, c := range []struct {
		why, more string
		returning time.Duration // that the source's call needs after its last row
	}{
		{"rows as they come", `"idleTimeoutMs":1000,`, 0},
		{"rows that the heap held back", `"idleTimeoutMs":60000,"sort":[{"field":"n","dir":"asc"}],"limit":9000,`, 50 * time.Second},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			const count = 2000
			s := serve(t, plays("begin; wide "+strings.Repeat("1000 ", count)+"; sleep "+c.returning.String()),
				&connector.Options{MaxTimeout: 10 * hour})
			conn := s.open("/query", ask(c.more, 10*hour))
			res := testkit.Must(http.ReadResponse(bufio.NewReader(trickle{conn}), nil))(t)
			start := time.Now()
			lines := s.lines(start, res.Body)
			got := 0
			for _, l := range lines {
				var at string
				var n int
				if k, _ := fmt.Sscanf(l, "%s rows %d", &at, &n); k == 2 {
					got += n
				}
			}
			assert.Equal(t, count, got)
			assert.Contains(t, lines[len(lines)-1], end)
			assert.Greater(t, time.Since(start), time.Minute)
		})
	}
}

// trickle takes 8 KiB a second.
type trickle struct{ net.Conn }

func (r trickle) Read(p []byte) (int, error) {
	time.Sleep(250 * time.Millisecond)
	return r.Conn.Read(p[:min(len(p), 2<<10)])
}

// TestDeadlineBesideStalledReader checks that the source is told at the exact instant, though nobody takes the error
// line, and that the request ends soon after.
func TestDeadlineBesideStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		s := serve(t, connectors.Source{OnQuery: func(ctx context.Context, _ *connector.Query, out *connector.Rows) error {
			_ = out.Begin(number).Flush()
			<-ctx.Done()
			ended <- time.Now()
			return ctx.Err()
		}}, nil)
		start := time.Now()
		conn := s.open("/query", ask(`"idleTimeoutMs":5000,`, hour))
		in := bufio.NewReader(conn)
		for line := ""; !strings.HasPrefix(line, `{"served"`); {
			line = testkit.Must(in.ReadString('\n'))(t)
		}
		assert.Equal(t, 5*time.Second, (<-ended).Sub(start))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		rest := testkit.Must(io.ReadAll(in))(t)
		assert.Equal(t, "\r\n", string(rest), "the connection was closed 5 s after the deadline")
	})
}

// TestReaderLeaves checks that the source is cancelled at once.
func TestReaderLeaves(t *testing.T) {
	for why, does := range map[string]string{
		"before the source has begun":   "Query: wait 1000h",
		"while the source waits":        "Query: begin; flush; wait 1000h",
		"while the source is held back": "Query: begin; wide " + strings.Repeat("10000 ", 10_000),
		"on a JSON route":               "Size: wait 1000h",
	} {
		testkit.Bubble(t, why, func(t *testing.T) {
			returned := make(chan time.Time, 1)
			s := played(t, does, connector.Options{Intercept: func(ctx context.Context, _ connector.Call, next action) error {
				defer func() { returned <- time.Now() }()
				return next(ctx)
			}})
			path, body := "/query", ask("", hour)
			if strings.HasPrefix(does, "Size") {
				path, body = asked("/size")
			}
			conn := s.open(path, body)
			time.Sleep(3 * time.Second)
			left := time.Now()
			require.NoError(t, conn.Close())
			assert.Equal(t, left, <-returned)
			synctest.Wait()
			assert.Empty(t, s.log.String(), "a reader that leaves is no event for the host's log")
			s.alive()
		})
	}
}

// TestServerTimeouts checks that the server's WriteTimeout and ReadTimeout neither cut a stream nor lose a late answer.
func TestServerTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := played(t, "Query: begin; flush; wait 25s; rows 100 / Size: sleep 8s; size 1 / Aggregate: sleep 8s; decline / "+
			"Count: sleep 8s; fail bad_request no", connector.Options{})
		conn := listen(t, s.Handler, func(server *http.Server) {
			server.WriteTimeout, server.ReadTimeout, server.IdleTimeout = 2*time.Second, 3*time.Second, time.Hour
		})
		in := bufio.NewReader(conn)
		for range 2 { // on one connection, which stands idle in between
			start := time.Now()
			send(t, conn, "/query", ask("", hour))
			res := testkit.Must(http.ReadResponse(in, nil))(t)
			assert.Equal(t, []string{"0s " + all, "10s " + ping, "20s " + ping, "25s rows 64", "25s rows 36",
				"25s " + end}, s.lines(start, res.Body))
			for path, want := range map[string]int{"/size": 200, "/aggregate": 204, "/count": 400} {
				send(t, conn, path, good(path))
				assert.Equal(t, want, read(t, testkit.Must(http.ReadResponse(in, nil))(t, path)).status)
			}
			time.Sleep(time.Minute)
		}
	})
}

// outcome is how a query's answer ends: every answer is a whole refusal, of which it is the code, or a stream, of which
// it is the last line.
func (a answer) outcome(t testing.TB) string {
	t.Helper()
	if a.status != 200 {
		var e wire.ErrorAnswer
		assert.NoError(t, wire.Decode([]byte(a.body), &e), a.body)
		return fmt.Sprintf("%d %s", a.status, e.Error.Code)
	}
	lines := strings.Split(strings.TrimSuffix(a.body, "\n"), "\n")
	return lines[len(lines)-1]
}

// TestDeadlineAroundTheFirstByte sweeps the instant of the first byte over the instant of the deadline, for sources
// that answer in several ways and readers that begin to read at several instants. Every request gets an answer.
func TestDeadlineAroundTheFirstByte(t *testing.T) {
	const timeout = 20 * time.Millisecond
	sources := map[string]string{ // AT stands for the instant
		"a row and a flush":     "sleep AT; begin; rows 1; flush; wait 1h",
		"a whole batch":         "sleep AT; begin; rows 65; wait 1h",
		"two batches":           "begin; rows 64; sleep AT; rows 5000; wait 1h",
		"a wide row":            "sleep AT; begin; wide 1048576; wait 1h",
		"the end":               "sleep AT; begin; rows 1",
		"served alone":          "sleep AT; begin; flush; wait 1h",
		"an error":              "begin; rows 1; sleep AT; fail timeout x",
		"nothing, in good time": "begin; wait 1h",
		"nothing, ignoring it":  "sleep 20ms; sleep AT",
	}
	delays := []time.Duration{0, timeout - time.Millisecond, timeout, timeout + time.Millisecond, time.Second, 4 * time.Second}
	for name, does := range sources {
		t.Run(name, func(t *testing.T) {
			tried := 0
			for at := timeout - 4*time.Millisecond; at <= timeout+4*time.Millisecond; at += time.Millisecond {
				for _, delay := range delays {
					for _, more := range []string{"", `"maxTimeoutMs":5,`, `"maxTimeoutMs":25,`,
						`"idleTimeoutMs":20,`} {
						// Of 9 times 6 times 4, so that five in turn come to each of them.
						if tried++; !testrun.Race && !testrun.Runs(tried, 5) {
							continue
						}
						synctest.Test(t, func(t *testing.T) {
							s := serve(t, plays(strings.ReplaceAll(does, "AT", at.String())), nil)
							conn := s.open("/query", ask(more, timeout))
							time.Sleep(delay) // until then the connector's writes block
							got := read(t, testkit.Must(http.ReadResponse(bufio.NewReader(conn), nil))(t)).outcome(t)
							time.Sleep(time.Second) // for a source that ignores its context
							want := []string{"408 timeout", late, end}
							if strings.Contains(more, "idle") || name == "an error" {
								want = append(want, idle, `{"error":{"code":"timeout","message":"x"}}`)
							}
							assert.Contains(t, want, got, "the source answers after %v, the reader reads after %v, %s", at, delay, more)
						})
					}
				}
			}
		})
	}
}

// TestDeadlineOverASocket asks with timeouts of one to three milliseconds over a
// real connection, where rows are on their way when the time is over.
func TestDeadlineOverASocket(t *testing.T) {
	const workers = 4
	requests := 60
	if testrun.Race || testrun.InFull() {
		requests = 600
	}
	sample := reference.Rows(500)
	handler := newHandler(connectors.Source{OnQuery: func(ctx context.Context, _ *connector.Query,
		out *connector.Rows) error {
		w := out.Begin(twelve)
		for range 200 {
			if err := connectors.Rows(w, sample); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	}}, nil)
	server := httptest.NewServer(handler)
	defer server.Close()
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := range requests / workers {
				body := fmt.Sprintf(`{"table":"items","and":[],"sort":[],"fields":%s,"credentials":{"apiKey":%q},`+
					`"timeoutMs":%d}`, allTwelve, secret, 1+(worker+i)%3)
				res, err := server.Client().Do(request(t.Context(), server.URL+"/query", body))
				if assert.NoError(t, err) {
					assert.Contains(t, []string{"408 timeout", late, end}, read(t, res).outcome(t))
				}
			}
		})
	}
	wg.Wait()
}

// TestAbandoned checks that a source that ignores its context is abandoned on
// time, and logged when it returns. What it emits later goes nowhere.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []error
		s := serve(t, emits(func(out *connector.Rows) error {
			w := out.Begin(number)
			time.Sleep(10*time.Second + 300*time.Microsecond)
			for range 3 {
				late = append(late, w.Row(wire.Int(1)), rowmap.Offer(w, map[string]any{"n": 1}), w.Flush())
			}
			late = append(late, out.Begin(number).Row(wire.Int(1)))
			_, _, _ = out.Claim(connector.Applied{}).TakeWindow()
			return nil
		}), nil)
		assert.Equal(t, []string{"5s 408 timeout: the request's time is over"}, s.stream(ask("", 5*time.Second)))
		assert.Empty(t, s.log.all(), "it has a second to return")
		time.Sleep(1500 * time.Millisecond)
		const lingers = "WARN a call of the source ignores its context and is still running slug=shop route=/query table=items after=1s"
		assert.Equal(t, []string{lingers}, s.log.all())
		s.alive()
		time.Sleep(time.Hour)
		assert.Equal(t, []string{lingers, "WARN a call of the source returned after its request was over slug=shop route=/query table=items " +
			"after=5s"}, s.log.all())
		require.Len(t, late, 10)
		for _, err := range late {
			assert.Error(t, err)
		}
	})
}

// TestAbandonedNotGoneOnWith checks that after a call that outlived its request, no other is made for it.
func TestAbandonedNotGoneOnWith(t *testing.T) {
	const late = "described Describe: sleep 1m"
	for _, route := range routes[2:] {
		synctest.Test(t, func(t *testing.T) {
			s := played(t, late, connector.Options{Intercept: func(ctx context.Context, c connector.Call, next action) error {
				assert.Equal(t, "Describe", c.Method, "%s: the source was called after its request was over", route.path)
				return next(ctx)
			}})
			start := time.Now()
			s.post(asked(route.path+" 60000 => 1000")).is(t, "408")
			assert.Equal(t, time.Second, time.Since(start))
			time.Sleep(time.Hour)
		})
	}
}

// TestPanicBesideFullWindow checks that what a source does after its window is
// full cannot change the answer, in whatever order the goroutines run.
func TestPanicBesideFullWindow(t *testing.T) {
	for _, what := range []string{"panic", "fail bad_request x", "boom"} {
		s := serve(t, plays("begin; try rows 2; "+what), nil)
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
		s := played(t, "Check: panic / Count: boom / Size: sleep 1h; panic", connector.Options{})
		s.log.panics = true
		s.post(asked("/check")).is(t, "500")
		s.post(asked("/count")).is(t, "500")
		s.post(asked("/size 60000 => 1")).is(t, "408")
		time.Sleep(2 * time.Hour)
		assert.Equal(t, 200, s.post(asked("/query")).status)
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
			s := serve(t, emits(func(out *connector.Rows) error {
				kept = out.Begin(number)
				assert.NoError(t, kept.Row(wire.Int(1)))
				return failure
			}), &connector.Options{Intercept: func(ctx context.Context, _ connector.Call, next action) error {
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

// TestRowBesideRow checks the moment in which a second goroutine does harm: the first one is writing a batch to a slow
// reader and holds no lock. The row would get into the bytes that are being sent, or be lost with them.
func TestRowBesideRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := wire.Text(strings.Repeat("x", 1000))
		first, second := make(chan error, 1), make(chan error, 1)
		s := serve(t, emits(func(out *connector.Rows) error {
			w := out.Begin(number)
			go func() {
				for {
					if err := w.Row(long); err != nil {
						first <- err
						return
					}
				}
			}()
			time.Sleep(time.Second) // by then the first one is stopped by the reader
			second <- w.Row(long)
			return <-first
		}), nil)
		start := time.Now()
		res := testkit.Must(s.Client.Do(s.Request(context.Background(), "/query", ask("", hour))))(t)
		defer res.Body.Close()
		time.Sleep(2 * time.Second)
		lines := s.lines(start, res.Body)
		const cause = "the source called RowWriter.Row while another call of it was running"
		assert.ErrorContains(t, <-second, cause)
		assert.Contains(t, lines[len(lines)-1], broken)
		assert.Contains(t, s.log.String(), "cause="+cause)
		assert.Len(t, s.log.all(), 1)
		s.alive()
	})
}
