package connector_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// outcome names how a query's answer ends, or what is wrong with it: every answer
// is a whole refusal or a stream that ends in an end or an error line.
func outcome(res *http.Response, err error) string {
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return "cut off: " + err.Error()
	}
	if res.StatusCode != 200 {
		var e wire.ErrorAnswer
		if err := wire.Decode(body, &e); err != nil {
			return fmt.Sprintf("%d without an envelope", res.StatusCode)
		}
		return fmt.Sprintf("%d %s", res.StatusCode, e.Error.Code)
	}
	lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	switch last := string(lines[len(lines)-1]); last {
	case end:
		return "end"
	case late:
		return "error line"
	default:
		return "the stream ends in " + last
	}
}

// TestDeadlineAroundTheFirstByte sweeps the instant of the first byte over the
// instant of the deadline, for sources that answer in several ways and readers
// that begin to read at several instants. Every request gets an answer.
func TestDeadlineAroundTheFirstByte(t *testing.T) {
	const timeout = 20 * time.Millisecond
	sources := map[string]func(at time.Duration) []step{
		"a row and a flush": func(at time.Duration) []step {
			return []step{sleep(at), begin, rows(1), flush, wait(hour)}
		},
		"a whole batch": func(at time.Duration) []step {
			return []step{sleep(at), begin, rows(65), wait(hour)}
		},
		"two batches": func(at time.Duration) []step {
			return []step{begin, rows(64), sleep(at), rows(5000), wait(hour)}
		},
		"a wide row": func(at time.Duration) []step {
			return []step{sleep(at), begin, wide(1 << 20), wait(hour)}
		},
		"the end":      func(at time.Duration) []step { return []step{sleep(at), begin, rows(1)} },
		"served alone": func(at time.Duration) []step { return []step{sleep(at), begin, flush, wait(hour)} },
		"an error": func(at time.Duration) []step {
			return []step{begin, rows(1), sleep(at), fail(connector.UpstreamTimeout("x"))}
		},
		"nothing, in good time": func(time.Duration) []step { return []step{begin, wait(hour)} },
		"nothing, ignoring it":  func(at time.Duration) []step { return []step{sleep(timeout + at)} },
	}
	reads := []time.Duration{0, timeout - time.Millisecond, timeout, timeout + time.Millisecond, time.Second,
		4 * time.Second}
	for name, steps := range sources {
		t.Run(name, func(t *testing.T) {
			for at := timeout - 4*time.Millisecond; at <= timeout+4*time.Millisecond; at += time.Millisecond {
				for _, read := range reads {
					for _, more := range []string{"", `"maxTimeoutMs":5,`, `"maxTimeoutMs":25,`,
						`"idleTimeoutMs":20,`} {
						synctest.Test(t, func(t *testing.T) {
							s := serve(t, script(steps(at)...), nil)
							got := s.askAndReadAfter(ask(more, timeout), read)
							time.Sleep(time.Second) // for a source that ignores its context
							want := []string{"408 timeout", "error line", "end"}
							if strings.Contains(more, "idle") || name == "an error" {
								want = append(want, "the stream ends in "+idle,
									`the stream ends in {"error":{"code":"timeout","message":"x"}}`)
							}
							assert.Contains(t, want, got, "the source answers after %v, the reader reads after %v, %s", at, read, more)
						})
					}
				}
			}
		})
	}
}

// askAndReadAfter sends a query over a bare connection, and begins to read the
// answer after a delay. Until then the connector's writes block.
func (s *site) askAndReadAfter(body string, delay time.Duration) string {
	s.t.Helper()
	conn := s.Dial()
	defer conn.Close()
	r := s.Request(context.Background(), "/query", body)
	if err := r.Write(conn); err != nil {
		return "not sent: " + err.Error()
	}
	time.Sleep(delay)
	return outcome(http.ReadResponse(bufio.NewReader(conn), r))
}

// TestDeadlineSameInstant lets the source, the reader and the deadline act at
// one instant, in every order that the scheduler comes up with.
func TestDeadlineSameInstant(t *testing.T) {
	const timeout = 20 * time.Millisecond
	seen := map[string]int{}
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, script(sleep(timeout), begin, rows(64)), nil)
			seen[s.askAndReadAfter(ask("", timeout), timeout)]++
			time.Sleep(time.Second)
		})
	}
	for got := range seen {
		assert.Contains(t, []string{"408 timeout", "error line", "end"}, got)
	}
}

// TestDeadlineCancelsWhileBlocked: maxTimeoutMs ends the source's context on
// time, even while a write to a slow reader blocks.
func TestDeadlineCancelsWhileBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancelled time.Duration
		start := time.Now()
		s := serve(t, core{query: func(ctx context.Context, _ *connector.Query, out *connector.Rows) error {
			if err := out.Begin(number).Row(wire.Int(1)); err != nil {
				return err
			}
			<-ctx.Done()
			cancelled = time.Since(start)
			return ctx.Err()
		}}, nil)
		assert.Equal(t, "error line", s.askAndReadAfter(ask(`"maxTimeoutMs":2000,`, 10*time.Second), 3*time.Second))
		assert.Equal(t, 2*time.Second, cancelled)
	})
}

// TestDeadlineOverASocket asks with timeouts of one to three milliseconds over a
// real connection, where rows are on their way when the time is over.
func TestDeadlineOverASocket(t *testing.T) {
	const workers = 4
	requests := 160
	if testrun.Race || testrun.InFull() {
		requests = 600
	}
	sample := reference(500)
	handler := newHandler(t, core{query: func(ctx context.Context, _ *connector.Query,
		out *connector.Rows) error {
		w := out.Begin(twelve)
		for range 200 {
			for _, row := range sample {
				if err := w.Row(row...); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	}}, nil)
	server := httptest.NewServer(handler)
	defer server.Close()
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := range requests / workers {
				body := fmt.Sprintf(`{"table":"items","and":[],"sort":[],"fields":%s,"credentials":{"apiKey":%q},`+
					`"timeoutMs":%d}`, allTwelve, secret, 1+(worker+i)%3)
				got := outcome(server.Client().Do(request(t.Context(), server.URL+"/query", body)))
				mu.Lock()
				seen[got]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for got, n := range seen {
		assert.Contains(t, []string{"408 timeout", "error line", "end"}, got, "%d of %d", n, requests)
	}
	t.Log(seen)
}
