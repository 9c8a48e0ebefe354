package connector_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// served is [connector.Serve] on a listener in memory.
type served struct {
	t       *testing.T
	pipe    *memlisten.Listener
	client  *http.Client
	stop    context.CancelFunc
	stopped chan error
}

// ofHost is the key of a value of the context that Serve is called with.
type ofHost struct{}

func startServed(t *testing.T, handler http.Handler, options *connector.ServeOptions) *served {
	t.Helper()
	h := &served{t: t, pipe: memlisten.New(), stopped: make(chan error, 1)}
	h.client = &http.Client{Transport: h.pipe.Route(&http.Transport{})}
	t.Cleanup(h.client.CloseIdleConnections)
	ctx, stop := context.WithCancel(context.WithValue(t.Context(), ofHost{}, "of the host"))
	h.stop = stop
	go func() { h.stopped <- connector.Serve(ctx, h.pipe, handler, options) }()
	return h
}

// send posts a body in another goroutine. The channel gets what came back, and how long it took.
func (h *served) send(path, body string) <-chan servedAnswer {
	answered := make(chan servedAnswer, 1)
	start := time.Now()
	go func() {
		res, err := h.client.Do(request(context.Background(), "http://connector.test"+path, body))
		a := servedAnswer{after: time.Since(start), err: err}
		if err == nil {
			got := read(h.t, res)
			a = servedAnswer{time.Since(start), got.status, got.body, nil}
		}
		answered <- a
	}()
	synctest.Wait()
	return answered
}

// ask sends a request without a token or a body.
func (h *served) ask(method, path string) answer {
	h.t.Helper()
	r := testkit.Must(http.NewRequestWithContext(h.t.Context(), method, "http://connector.test"+path, http.NoBody))(h.t)
	return read(h.t, testkit.Must(h.client.Do(r))(h.t))
}

// end stops a server that is idle. It requires that the server returns at once and without an
// error, and takes no connection from then on.
func (h *served) end() {
	h.t.Helper()
	start := time.Now()
	h.stop()
	assert.NoError(h.t, <-h.stopped)
	assert.Less(h.t, time.Since(start), time.Second)
	_, err := h.pipe.Dial(h.t.Context())
	assert.ErrorIs(h.t, err, net.ErrClosed)
}

type servedAnswer struct {
	after  time.Duration
	status int
	body   string
	err    error
}

// TestServeDrains requires that the time which requests have after a stop is the host's to choose.
func TestServeDrains(t *testing.T) {
	for _, c := range []struct {
		why                string
		drain, needs, took time.Duration
		status             int
	}{
		{"the default", 0, 30 * time.Second, time.Second, 408},
		{"less than the request needs", 20 * time.Second, 30 * time.Second, 20 * time.Second, 408},
		{"more than the request needs", time.Minute, 30 * time.Second, 30 * time.Second, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			src := played(t, "Check: wait "+c.needs.String(), connector.Options{})
			h := startServed(t, src.Handler, &connector.ServeOptions{Drain: c.drain})
			answered := h.send("/check", good("/check"))
			h.stop()
			answer := <-answered
			assert.Equal(t, c.took, answer.after, c.why)
			assert.Equal(t, c.status, answer.status, c.why)
			assert.NoError(t, answer.err, c.why)
			assert.Equal(t, c.status == 200, answer.body == `{"ok":true}`, "%s: %s", c.why, answer.body)
			assert.NoError(t, <-h.stopped)
		})
	}
}

func TestServeEndsOpenRequestsWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var src connectors.Full
		act(&src, "Check", script("wait 1h"))
		act(&src, "Query", script("begin id; row 1; flush; wait 1h"))
		h := startServed(t, newHandler(src.Source, nil), nil)
		stream, plain := h.send("/query", good("/query")), h.send("/check", good("/check"))
		h.stop()
		a := <-stream
		assert.NoError(t, a.err)
		assert.Equal(t, time.Second, a.after)
		assert.Equal(t, 200, a.status)
		lines := strings.Split(strings.TrimSpace(a.body), "\n")
		// The program behind the answer is well, and asking again will do: internal says neither.
		const stopping = `{"error":{"code":"timeout","message":"the request ended before its time, because the connector is stopping; ask again"}}`
		assert.Equal(t, stopping, lines[len(lines)-1])
		assert.NotContains(t, a.body, `"end"`)
		assert.Equal(t, servedAnswer{time.Second, 408, stopping, nil}, <-plain)
		assert.NoError(t, <-h.stopped)
	})
}

func TestServeCutsWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := startServed(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }), nil)
		answered := h.send("/check", good("/check"))
		start := time.Now()
		h.stop()
		err := <-h.stopped
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "some requests did not end in time and were cut")
		assert.Equal(t, 6*time.Second, time.Since(start))
		close(release)
		assert.Error(t, (<-answered).err)
	})
}

func TestServeLongStreamIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startServed(t, newHandler(plays("sleep 30m; begin id; row 1"), nil), nil)
		a := <-h.send(asked("/query 60000 => 3600000"))
		assert.NoError(t, a.err)
		assert.Equal(t, 30*time.Minute, a.after)
		assert.True(t, strings.HasSuffix(a.body, "{\"end\":1}\n"), "the last line")
		h.end()
	})
}

// TestServeBoundsConnections checks how long headers and a body may take to arrive, how long
// a connection may rest between two requests, and how large headers may be.
func TestServeBoundsConnections(t *testing.T) {
	reads := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	for _, c := range []struct {
		why, sent string
		after     time.Duration
		want      string
	}{
		{"headers that do not arrive", "POST /check HTTP/1.1\r\n", 10 * time.Second, ""},
		{"a body that does not arrive", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", time.Minute, ""},
		{"a connection at rest", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 2 * time.Minute, "HTTP/1.1 200 OK"},
		{"headers of 80 KiB", "GET / HTTP/1.1\r\nHost: x\r\nMore: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", -1, "HTTP/1.1 431 "},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := startServed(t, reads, nil)
			conn := testkit.Must(h.pipe.Dial(t.Context()))(t)
			start := time.Now()
			go func() { _, _ = io.WriteString(conn, c.sent) }() // the server need not read it all
			got, err := io.ReadAll(conn)
			assert.True(t, strings.HasPrefix(string(got), c.want), "%s: %.40s", c.why, got)
			if c.after >= 0 {
				assert.NoError(t, err, c.why)
				assert.Equal(t, c.after, time.Since(start), c.why)
			}
			h.end()
		})
	}
}

// TestServePassesValuesOn checks that requests have the values of Serve's context.
func TestServePassesValuesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got any
		h := startServed(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Context().Value(ofHost{}) }), nil)
		assert.NoError(t, (<-h.send("/", "")).err)
		assert.Equal(t, "of the host", got)
		h.end()
	})
}

// TestServeReturnsAtOnce checks what Serve returns where it cannot serve. It closes the listener.
func TestServeReturnsAtOnce(t *testing.T) {
	closed := memlisten.New()
	require.NoError(t, closed.Close())
	err := connector.Serve(t.Context(), closed, http.NotFoundHandler(), nil)
	assert.ErrorIs(t, err, net.ErrClosed)

	over, stop := context.WithCancel(t.Context())
	stop()
	listener := memlisten.New()
	assert.NoError(t, connector.Serve(over, listener, http.NotFoundHandler(), nil), "there was nothing to do")
	_, err = listener.Dial(t.Context())
	assert.ErrorIs(t, err, net.ErrClosed)

	listener = memlisten.New()
	err = connector.Serve(t.Context(), listener, http.NotFoundHandler(), &connector.ServeOptions{Drain: -1})
	assert.ErrorContains(t, err, "Drain must not be negative")
	_, err = listener.Dial(t.Context())
	assert.ErrorIs(t, err, net.ErrClosed)
}

// TestServeSaysThatItIsUp checks the probe, which takes no token and leaves no line in the log.
func TestServeSaysThatItIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startServed(t, newHandler(connectors.Source{}, nil), nil)
		for _, c := range []struct {
			method, path string
			status       int
			body         string
		}{
			{"GET", "/healthz", 200, "ok\n"},
			{"HEAD", "/healthz", 200, ""},
			{"POST", "/healthz", 404, ""},
			{"GET", "/healthz/", 404, ""},
			{"GET", wire.PathDocument, 200, ""},
		} {
			a := h.ask(c.method, c.path)
			assert.Equal(t, c.status, a.status, c)
			if c.path == "/healthz" && c.status == 200 {
				assert.Equal(t, c.body, a.body, c)
				assert.Equal(t, "no-store", a.header.Get("Cache-Control"), c)
				assert.Equal(t, "text/plain; charset=utf-8", a.header.Get("Content-Type"), c)
			}
		}
		h.end()
	})
}

// TestServeSaysThatItIsNotReady checks the probe of a server on which one of two connectors
// has too many calls that never return, and refuses every request. A load balancer that is
// told ok would go on sending some there. Middleware stands in between, as in a host.
func TestServeSaysThatItIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		log := &logbook{}
		stuck := newHandler(connectors.Source{OnCheck: func(context.Context, *wire.CheckRequest) error { <-hang; return nil }},
			&connector.Options{Logger: slog.New(log)})
		mux := http.NewServeMux()
		mux.Handle(stuck.Mount("/stuck"))
		mux.Handle(newHandler(connectors.Source{}, nil).Mount("/well"))
		h := startServed(t, http.StripPrefix("/v1", mux), nil)
		probe := func() string {
			a := h.ask("GET", "/healthz")
			assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
			return fmt.Sprintf("%d %s", a.status, a.body)
		}
		_, hasty := asked("/check 60000 => 1")
		for n := range 255 { // of as many tenants, because one has four places
			assert.Equal(t, 408, (<-h.send("/v1/stuck/check", strings.Replace(hasty, secret, fmt.Sprint("tenant ", n), 1))).status)
		}
		time.Sleep(2 * time.Second)
		assert.Equal(t, "200 ok\n", probe(), "one less than too many")
		assert.Equal(t, 408, (<-h.send("/v1/stuck/check", hasty)).status)
		assert.Equal(t, "200 ok\n", probe(), "it has a second to return")
		time.Sleep(2 * time.Second)
		assert.Equal(t, "503 not ready: shop refuses requests, because 256 calls of its source have not returned\n", probe())
		assert.Equal(t, 500, (<-h.send("/v1/stuck/query", good("/query"))).status)
		assert.Equal(t, 500, (<-h.send("/v1/stuck/check", good("/check"))).status)
		require.Len(t, log.all(), 258, "one line for each call that hangs, and for each refusal")
		assert.Contains(t, log.all()[257], "cause=too many calls of the source are still running after their requests were over")
		assert.Equal(t, 200, (<-h.send("/v1/well/check", good("/check"))).status)
		close(hang)
		synctest.Wait()
		assert.Equal(t, "200 ok\n", probe())
		assert.Equal(t, 200, (<-h.send("/v1/stuck/check", good("/check"))).status)
		h.end()
	})
}
