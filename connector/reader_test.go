package connector_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// watched is a source that emits rows of about a KiB until it is told to stop,
// and says how it ended.
type watched struct {
	testkit.Source
	emitted atomic.Int64
	stopped chan time.Time // when its context ended
	left    chan error     // what Row said last
}

func watch() *watched {
	s := &watched{stopped: make(chan time.Time, 1), left: make(chan error, 1)}
	s.OnQuery = func(ctx context.Context, _ *connector.Query, out *connector.Rows) error {
		context.AfterFunc(ctx, func() { s.stopped <- time.Now() })
		w := out.Begin(number)
		cell := wire.Text(strings.Repeat("x", 1000))
		for {
			if err := w.Row(cell); err != nil {
				s.left <- err
				return err
			}
			s.emitted.Add(1)
		}
	}
	return s
}

// TestReaderStops checks that a reader that takes nothing is cut off at exactly
// WriteStall, and the source cancelled. Until then the source blocks, at most
// one batch ahead.
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
			src := watch()
			s := serve(t, src, &connector.Options{WriteStall: c.stall})
			conn := s.open("/query", ask(c.more, hour))
			piece := make([]byte, 1<<20)
			for taken := 0; taken < c.reads; {
				n := testkit.Must(io.ReadFull(conn, piece[:min(len(piece), c.reads-taken)]))(t)
				taken += n
				time.Sleep(c.pause)
			}
			stop := time.Now().Add(-c.pause)
			synctest.Wait()
			ahead := src.emitted.Load()*1000 - int64(c.reads)
			assert.Less(t, ahead, int64(64<<10), "stream-7: a stream holds one batch, beside what the server buffers")
			assert.Equal(t, c.at, (<-src.stopped).Sub(stop))
			assert.Error(t, <-src.left)
			rest := testkit.Must(io.ReadAll(conn))(t)
			assert.NotContains(t, string(rest), `{"end":1}`, "a stream that was cut off never looks complete")
			assert.NotContains(t, string(rest), "\r\n0\r\n", "nor does its HTTP message")
			s.alive()
		})
	}
}

// TestSlowReader checks that a reader that takes its rows slowly gets them all,
// however long it takes.
func TestSlowReader(t *testing.T) {
	// The time blocked on the reader does not count as idle, and neither
	// does that of the heap, which holds rows back long after they were offered.
	t.Run("rows as they come", func(t *testing.T) { testSlowReader(t, `"idleTimeoutMs":1000,`, 0) })
	t.Run("rows that the heap held back", func(t *testing.T) {
		testSlowReader(t, `"idleTimeoutMs":60000,"sort":[{"field":"n","dir":"asc"}],"limit":9000,`, 50*time.Second)
	})
}

// testSlowReader takes 2 MB in about four minutes. The source's call needs a
// while to return after its last row.
func testSlowReader(t *testing.T, more string, returning time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		const count = 2000
		s := serve(t, script(begin, wide(slices.Repeat([]int{1000}, count)...)), &connector.Options{
			MaxTimeout: 10 * time.Hour,
			Intercept: func(ctx context.Context, _ connector.Call, next action) error {
				defer time.Sleep(returning)
				return next(ctx)
			},
		})
		conn := s.open("/query", ask(more, 10*hour))
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

// trickle takes 8 KiB a second.
type trickle struct{ net.Conn }

func (r trickle) Read(p []byte) (int, error) {
	time.Sleep(250 * time.Millisecond)
	return r.Conn.Read(p[:min(len(p), 2<<10)])
}

// TestDeadlineBesideStalledReader checks that the source is told at the exact
// instant, though nobody takes the error line, and that the request ends soon
// after.
func TestDeadlineBesideStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		s := serve(t, testkit.Source{OnQuery: func(ctx context.Context, _ *connector.Query, out *connector.Rows) error {
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
	for _, c := range []struct {
		why string
		src func(ctx context.Context, out *connector.Rows) error
	}{
		{"before the source has begun",
			func(ctx context.Context, _ *connector.Rows) error { <-ctx.Done(); return ctx.Err() }},
		{"while the source waits", func(ctx context.Context, out *connector.Rows) error {
			_ = out.Begin(number).Flush()
			<-ctx.Done()
			return ctx.Err()
		}},
		{"while the source is held back", func(_ context.Context, out *connector.Rows) error {
			w := out.Begin(number)
			for {
				if err := w.Row(wire.Text(strings.Repeat("x", 10_000))); err != nil {
					return err
				}
			}
		}},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			returned := make(chan time.Time, 1)
			s := serve(t, testkit.Source{OnQuery: func(ctx context.Context, _ *connector.Query, out *connector.Rows) error {
				defer func() { returned <- time.Now() }()
				return c.src(ctx, out)
			}}, nil)
			conn := s.open("/query", ask("", hour))
			time.Sleep(3 * time.Second)
			left := time.Now()
			require.NoError(t, conn.Close())
			assert.Equal(t, left, <-returned)
			synctest.Wait()
			assert.Empty(t, s.log.String(), "a reader that leaves is no event for the host's log")
			s.alive()
		})
	}
	testkit.Bubble(t, "on a JSON route", func(t *testing.T) {
		returned := make(chan time.Time, 1)
		s := serve(t, testkit.Source{OnCheck: func(ctx context.Context, _ *wire.CheckRequest) error {
			<-ctx.Done()
			returned <- time.Now()
			return ctx.Err()
		}}, nil)
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, err := s.Client.Do(s.Request(ctx, "/check", good("/check")))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 3*time.Second, (<-returned).Sub(start))
		synctest.Wait()
		assert.Empty(t, s.log.String())
	})
}

// TestServerTimeouts checks that the server's WriteTimeout and ReadTimeout
// neither cut a stream nor lose a late answer.
func TestServerTimeouts(t *testing.T) {
	slow := func(ctx context.Context) { time.Sleep(8 * time.Second) }
	src := testkit.Endpoints{
		Source: script(begin, flush, wait(25*time.Second), rows(100)),
		Sizer: func(ctx context.Context, _ *wire.SizeRequest) (*wire.Size, error) {
			slow(ctx)
			return &wire.Size{Rows: 1, Exact: true}, nil
		},
		Aggregator: func(ctx context.Context, _ *wire.AggregateRequest) ([][]wire.Value, error) {
			slow(ctx)
			return nil, connector.ErrDecline
		},
		Counter: func(ctx context.Context, _ *wire.CountRequest) (int64, error) {
			slow(ctx)
			return 0, connector.BadRequest("no")
		},
	}
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, src, nil)
		h := listen(t, s.Handler, func(server *http.Server) {
			server.WriteTimeout, server.ReadTimeout, server.IdleTimeout = 2*time.Second, 3*time.Second, time.Hour
		})
		conn := h.dial(t)
		in := bufio.NewReader(conn)
		for range 2 { // on one connection, which stands idle in between
			start := time.Now()
			send(t, conn, "/query", ask("", hour))
			res := testkit.Must(http.ReadResponse(in, nil))(t)
			assert.Equal(t, []string{"0s " + all, "10s " + ping, "20s " + ping, "25s rows 64", "25s rows 36",
				"25s " + end}, s.lines(start, res.Body))
			for path, want := range map[string]int{"/size": 200, "/aggregate": 204, "/count": 400} {
				send(t, conn, path, good(path))
				res := testkit.Must(http.ReadResponse(in, nil))(t, path)
				assert.Equal(t, want, read(t, res).status)
			}
			time.Sleep(time.Minute)
		}
	})
}
