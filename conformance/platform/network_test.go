package platform_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
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

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestStalls answers a part of a stream and then nothing, in virtual time. The client
// gives up 30 seconds after the last byte, whatever the place [rule stream-14].
func TestStalls(t *testing.T) {
	const headers = -1 // come alone, and are no sign of life
	served, ping := strings.Index(stream, "\n")+1, strings.Index(stream, `{"ping"`)
	for _, n := range []int{headers, 0, 1, 20, served, 150, ping, len(stream) - 11, len(stream) - 2} {
		testkit.Bubble(t, fmt.Sprint(n), func(t *testing.T) {
			c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if n != 0 {
					time.Sleep(7 * time.Second)
					w.Header().Set("Content-Type", terms.MediaNDJSON)
					_, _ = io.WriteString(w, stream[:max(n, 0)])
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			}), platform.Options{})
			begun := time.Now()
			err := readRows(t.Context(), c, columns)
			fault := faultOf(t, err)
			require.Equal(t, "stream-14", fault.Rule, "%v", fault)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			want := 30 * time.Second
			if n > 0 {
				want += 7 * time.Second
			}
			require.Equal(t, want, time.Since(begun))
			synctest.Wait()
		})
	}
}

// readRows reads rows of columns to the end.
func readRows(ctx context.Context, c *platform.Client, columns []wire.Column) error {
	rows, err := c.Query(ctx, wire.Credentials{}, &wire.QueryRequest{Table: "t"}, columns)
	if err != nil {
		return err
	}
	for _, err := range rows.All() {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestSlowReader takes a minute before the first row of a stream that is complete, and
// one for each row. The clock of silence runs only while the client waits.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", terms.MediaNDJSON)
			for line := range strings.Lines(stream) {
				_, _ = io.WriteString(w, line)
				_ = http.NewResponseController(w).Flush()
			}
		}), platform.Options{})
		rows := testkit.Must(c.Query(t.Context(), wire.Credentials{}, &wire.QueryRequest{Table: "t"}, columns))(t)
		time.Sleep(time.Minute)
		n := 0
		for _, err := range rows.All() {
			require.NoError(t, err)
			n++
			time.Sleep(time.Minute)
		}
		require.Equal(t, 3, n)
	})
}

// silence is a connector that answers nothing.
var silence = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
})

// TestNeverEnds asks servers that go on for ever. Each request ends five seconds after
// the time that it allowed.
func TestNeverEnds(t *testing.T) {
	after := func(pause time.Duration, media, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(pause)
			w.Header().Set("Content-Type", media)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, text); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(9 * time.Second):
				case <-r.Context().Done():
				}
			}
		}
	}
	drip := func(media, text string) http.HandlerFunc { return after(0, media, text) }
	for _, c := range []struct {
		name string
		h    http.Handler
		path string
		want time.Duration
	}{
		{"pings that begin late", after(20*time.Second, terms.MediaNDJSON, "{\"ping\":1}\n"), wire.PathQuery, 10*time.Minute + 5*time.Second},
		{"pings", drip(terms.MediaNDJSON, "{\"ping\":1}\n"), wire.PathQuery, 10*time.Minute + 5*time.Second},
		{"a line that never ends", drip(terms.MediaNDJSON, " "), wire.PathQuery, 65 * time.Second},
		{"a count that never ends", drip(terms.MediaJSON, " "), wire.PathCount, 65 * time.Second},
		{"a document that never ends", drip(terms.MediaJSON, " "), wire.PathDocument, 65 * time.Second},
		{"no answer of /check", silence, wire.PathCheck, 65 * time.Second},
		{"no document", silence, wire.PathDocument, 65 * time.Second},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			client := connect(t, c.h, platform.Options{})
			begun := time.Now()
			err := asks[c.path](t.Context(), client)
			require.Equal(t, c.want, time.Since(begun))
			fault := faultOf(t, err)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, "stream-5", fault.Rule)
			synctest.Wait()
		})
	}
}

// TestClocksOfARequest looks at the time limits that are sent, and that those of a
// request hold.
func TestClocksOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		received := make(chan wire.QueryRequest, 8)
		c := connect(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			var req wire.QueryRequest
			if wire.Decode(body, &req) == nil {
				received <- req
			}
			<-r.Context().Done()
		}), platform.Options{})
		require.Error(t, readRows(t.Context(), c, columns))
		sent := <-received
		require.Equal(t, int64(60_000), sent.TimeoutMS)
		require.Equal(t, int64(30_000), sent.IdleTimeoutMS, "[rule stream-14]")
		require.Equal(t, int64(600_000), sent.MaxTimeoutMS)

		begun := time.Now()
		req := &wire.QueryRequest{Envelope: wire.Envelope{TimeoutMS: 2000}, IdleTimeoutMS: 60_000}
		_, err := c.Query(t.Context(), wire.Credentials{}, req, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 7*time.Second, time.Since(begun))
		sent = <-received
		require.Equal(t, int64(2000), sent.TimeoutMS)
		require.Equal(t, int64(60_000), sent.IdleTimeoutMS)
		require.Zero(t, req.MaxTimeoutMS, "the caller's request is as it was")

		_, err = c.Query(t.Context(), wire.Credentials{}, &wire.QueryRequest{Envelope: wire.Envelope{TimeoutMS: -1}, MaxTimeoutMS: -1}, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		sent = <-received
		require.Equal(t, int64(60_000), sent.TimeoutMS, "what is no time is the usual one")
		require.Equal(t, int64(600_000), sent.MaxTimeoutMS)

		negative := connect(t, silence, platform.Options{Timeout: -1, MaxTimeout: -1, Idle: -1})
		begun = time.Now()
		require.ErrorIs(t, readRows(t.Context(), negative, columns), context.DeadlineExceeded)
		require.Equal(t, 30*time.Second, time.Since(begun))
		require.ErrorIs(t, negative.Check(t.Context(), wire.Credentials{}), context.DeadlineExceeded)
		require.Equal(t, 95*time.Second, time.Since(begun))

		hurried := connect(t, silence, platform.Options{Timeout: 3 * time.Second, Idle: time.Second})
		begun = time.Now()
		require.ErrorIs(t, hurried.Check(t.Context(), wire.Credentials{}), context.DeadlineExceeded)
		require.Equal(t, 8*time.Second, time.Since(begun))
		require.ErrorIs(t, readRows(t.Context(), hurried, columns), context.DeadlineExceeded)
		require.Equal(t, 9*time.Second, time.Since(begun))

		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the person has left")
		time.AfterFunc(time.Second, func() { cancel(gone) })
		require.ErrorIs(t, c.Check(ctx, wire.Credentials{}), gone)
	})
}

// TestEndlessClocks allows a stream more time than there is.
func TestEndlessClocks(t *testing.T) {
	c := saysNDJSON(t, stream)
	rows, err := c.Query(t.Context(), wire.Credentials{}, &wire.QueryRequest{Table: "t", Envelope: wire.Envelope{TimeoutMS: math.MaxInt64},
		IdleTimeoutMS: math.MaxInt64, MaxTimeoutMS: math.MaxInt64}, columns)
	require.NoError(t, err)
	require.Equal(t, int64(3), counted(t, rows.All()))
}

// TestRequestsAreKept looks at the caller's requests, into which the client writes neither
// its time limits nor the credentials.
func TestRequestsAreKept(t *testing.T) {
	c := connect(t, shop(t, orders()), platform.Options{})
	own := wire.NewCredentials(map[string]string{"key": "s3cret-value"})
	query, count := wire.QueryRequest{Table: "orders"}, wire.CountRequest{Table: "orders"}
	link := wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "id", ToTable: "orders", ToColumn: "id"}
	aggregate, statement := wire.AggregateRequest{Table: "orders"}, wire.SQLRequest{SQL: "SELECT 1"}
	_, _ = c.Query(t.Context(), own, &query, nil)
	_, _ = c.Count(t.Context(), own, &count)
	_, _ = c.LinkHitRate(t.Context(), own, &link)
	_, _, _ = c.Aggregate(t.Context(), own, &aggregate, nil)
	_, _ = c.SQL(t.Context(), own, &statement)
	for i, e := range []wire.Envelope{query.Envelope, count.Envelope, link.Envelope, aggregate.Envelope, statement.Envelope} {
		require.Empty(t, e.Credentials.Reveal(), i)
		require.Zero(t, e.TimeoutMS, i)
	}
}

// TestRequests looks at the headers of every request. The document is asked for without
// the token.
func TestRequests(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]http.Header{}
	methods := map[string]string{}
	c := connect(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.URL.Path], methods[r.URL.Path] = r.Header, r.Method
	}), platform.Options{Timeout: time.Second})
	for path, ask := range asks {
		require.Error(t, ask(t.Context(), c))
		mu.Lock()
		h := seen[path]
		require.Equal(t, "identity", h.Get("Accept-Encoding"))
		if path == wire.PathDocument {
			require.Equal(t, http.MethodGet, methods[path])
			require.Empty(t, h["Authorization"])
		} else {
			require.Equal(t, http.MethodPost, methods[path])
			require.Equal(t, []string{"Bearer " + testToken}, h["Authorization"])
			require.Equal(t, []string{terms.MediaJSON}, h["Content-Type"])
		}
		mu.Unlock()
	}
}

// TestRedirect answers every request with a redirect to another host. No request
// reaches it, and so neither the token nor a credential.
func TestRedirect(t *testing.T) {
	var reached atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		}))
		// Not even if the HTTP client of the caller follows redirects.
		c := testkit.Must(platform.NewClient(srv.URL, wire.NewBearer(testToken), &platform.Options{Local: true,
			HTTP: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}}))(t)
		for path, ask := range asks {
			fault := faultOf(t, ask(t.Context(), c), "%d %s", status, path)
			require.Equal(t, "status", fault.Place)
		}
		srv.Close()
	}
	require.Zero(t, reached.Load())
}

// TestAddresses asks servers on this machine. Without Local the platform would refuse
// them, and they get no connection.
func TestAddresses(t *testing.T) {
	var reached atomic.Int64
	count := func(h http.Handler) *httptest.Server {
		srv := httptest.NewUnstartedServer(h)
		srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				reached.Add(1)
			}
		}
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		return srv
	}
	plain, secure := count(shop(t, orders())), count(shop(t, orders()))
	plain.Start()
	defer plain.Close()
	secure.StartTLS()
	defer secure.Close()

	_, err := platform.NewClient(plain.URL, wire.NewBearer(testToken), nil)
	require.ErrorIs(t, err, platform.ErrAddress)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(secure.URL, "https://"))
	require.NoError(t, err)
	for _, url := range []string{secure.URL, "https://localhost:" + port} {
		c := testkit.Must(platform.NewClient(url, wire.NewBearer(testToken), nil))(t)
		_, err := c.Document(t.Context())
		require.ErrorIs(t, err, platform.ErrAddress)
		require.ErrorContains(t, err, "the platform would refuse this address")
		require.NotErrorIs(t, err, io.EOF, "nor is it any other error")
	}
	require.Zero(t, reached.Load())

	local := &platform.Options{Local: true}
	c := testkit.Must(platform.NewClient(plain.URL+"/", wire.NewBearer(testToken), local))(t)
	require.NoError(t, c.Check(t.Context(), wire.Credentials{}))
	c = testkit.Must(platform.NewClient(secure.URL, wire.NewBearer(testToken), local))(t)
	var failed *platform.ConnectionError
	require.ErrorAs(t, c.Check(t.Context(), wire.Credentials{}), &failed)
	require.Contains(t, failed.Problem, "the certificate of the host is not trusted")
	require.NotErrorIs(t, failed, platform.ErrAddress)
}

// TestBaseURL reads base URLs. What is wrong with one is said without quoting it.
func TestBaseURL(t *testing.T) {
	for _, c := range []struct{ url, want, problem string }{
		{"https://connector.test", "https://connector.test", ""},
		{"https://connector.test/", "https://connector.test", ""},
		{"https://connector.test:8443/a/b/", "https://connector.test:8443/a/b", ""},
		{"HTTPS://connector.test", "https://connector.test", ""},
		{"", "", "something like"},
		{"connector.test", "", "something like"},
		{"https://", "", "something like"},
		{"https://connector.test/%zz?secret", "", "something like"},
		{"ftp://connector.test", "", "https://"},
		{"http://connector.test", "", "would refuse"},
		{"https://user:secret@connector.test", "", "user name"},
		{"https://connector.test?token=secret", "", "query"},
		{"https://connector.test#secret", "", "fragment"},
		{"https://connector.test?", "", "query"},
		{"https://connector.test/x/.well-known/service/platform.json", "", "precedes"},
	} {
		asked := ""
		to := testkit.Transport(func(r *http.Request) (*http.Response, error) { asked = r.URL.String(); return nil, io.EOF })
		client, err := platform.NewClient(c.url, wire.NewBearer(testToken), &platform.Options{HTTP: &http.Client{Transport: to}})
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem, c.url)
			require.NotContains(t, err.Error(), "secret")
			continue
		}
		require.NoError(t, err, c.url)
		require.Error(t, client.Check(t.Context(), wire.Credentials{}))
		require.Equal(t, c.want+wire.PathCheck, asked)
	}
}

// TestUnreachable has no server, one that hangs up, and one that is no HTTP server.
func TestUnreachable(t *testing.T) {
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	var mu sync.Mutex
	greeting := ""
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			_, _ = io.WriteString(conn, greeting)
			mu.Unlock()
			_ = conn.Close()
		}
	}()
	gone := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	require.NoError(t, gone.Close())
	for _, c := range []struct{ url, greeting, problem string }{
		{"http://" + gone.Addr().String(), "", "no connection"},
		{"http://" + l.Addr().String(), "", ""},
		{"http://" + l.Addr().String(), "SSH-2.0 " + testToken + " s3cret-value\r\n", ""},
		{"http://no-such-host.invalid", "", "does not resolve"},
	} {
		mu.Lock()
		greeting = c.greeting
		mu.Unlock()
		client := testkit.Must(platform.NewClient(c.url, wire.NewBearer(testToken), &platform.Options{Local: true}))(t)
		err := client.Check(t.Context(), wire.NewCredentials(map[string]string{"key": "s3cret-value"}))
		var failed *platform.ConnectionError
		require.ErrorAs(t, err, &failed, c.url)
		require.Contains(t, failed.Problem, c.problem)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, failed.Problem), testToken)
		for ; err != nil; err = errors.Unwrap(err) {
			require.NotContains(t, err.Error(), testToken)
			require.NotContains(t, err.Error(), "s3cret-value")
		}
	}
}

// TestErrorsQuoteNoURL fails a request to a URL whose path is a secret.
func TestErrorsQuoteNoURL(t *testing.T) {
	for _, failure := range []struct {
		err     error
		problem string
	}{
		{errors.New("boom"), "boom"},
		{io.EOF, "the connection was closed before the answer came"},
		{fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), "the connection was closed before the answer came"},
		{&net.DNSError{Name: "s3cret-host"}, "the host's name does not resolve"},
		{&net.OpError{Op: "dial", Err: errors.New("no route to host")}, "no connection: no route to host"},
		{errors.New("a header with " + testToken), "a header with [redacted]"},
		{errors.New(`a header with "` + strings.ReplaceAll(testToken, "-", `\u002D`) + `"`), `a header with "[redacted]"`},
	} {
		broken := testkit.Fails(failure.err)
		c := testkit.Must(platform.NewClient("https://connector.test/s3cret-path", wire.NewBearer(testToken),
			&platform.Options{HTTP: &http.Client{Transport: broken}}))(t)
		for path, ask := range asks {
			err := ask(t.Context(), c)
			require.EqualError(t, err, "no answer of "+path+": "+failure.problem)
			require.NotContains(t, errors.Unwrap(err).Error(), testToken)
			if !strings.Contains(failure.problem, "[redacted]") {
				require.ErrorIs(t, err, failure.err)
			}
		}
	}
}

// TestHeaders answers with a megabyte of headers, which is no answer.
func TestHeaders(t *testing.T) {
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 1000 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
		}
	}), platform.Options{})
	for path, ask := range asks {
		require.ErrorAs(t, ask(t.Context(), c), new(*platform.ConnectionError), path)
	}
}
