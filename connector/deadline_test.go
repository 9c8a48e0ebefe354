package connector_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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

// TestDeadlineAroundTheFirstByte sweeps the instant of the first byte over the
// instant of the deadline, for sources that answer in several ways and readers
// that begin to read at several instants. Every request gets an answer.
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
	handler := newHandler(testkit.Source{OnQuery: func(ctx context.Context, _ *connector.Query,
		out *connector.Rows) error {
		w := out.Begin(twelve)
		for range 200 {
			if err := testkit.Rows(w, sample); err != nil {
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

// TestAbandonedNotGoneOnWith checks that after a call that outlived its
// request, no other is made for it.
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

// TestRowBesideRow checks the moment in which a second goroutine does harm: the first one
// is writing a batch to a slow reader and holds no lock. The row would get into the bytes
// that are being sent, or be lost with them.
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
