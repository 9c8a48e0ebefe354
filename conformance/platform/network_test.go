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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A part of a body comes after a pause.
type part struct {
	pause time.Duration
	text  string
}

// slowly answers parts of a body, the last of which comes again and again.
func slowly(media string, parts ...part) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", media)
		for i := 0; ; i++ {
			next := parts[min(i, len(parts)-1)]
			select {
			case <-time.After(next.pause):
			case <-r.Context().Done():
				return
			}
			if _, err := io.WriteString(w, next.text); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// silence is a connector that answers nothing.
var silence = slowly("", part{24 * time.Hour, ""})

// TestStalls asks connectors that answer a part of a stream and then nothing, and servers that go on for ever, in virtual
// time. The client gives up 30 seconds after the last byte, whatever the place [rule stream-14], and each request ends five
// seconds after the time that it allowed.
func TestStalls(t *testing.T) {
	type row struct {
		name string
		h    http.Handler
		path string
		rule string
		want time.Duration
	}
	ping, served := "{\"ping\":1}\n", strings.Index(stream, "\n")+1
	drip := func(first time.Duration, media, text string) http.Handler {
		return slowly(media, part{first, text}, part{9 * time.Second, text})
	}
	rows := []row{
		{"no answer", silence, wire.PathQuery, "stream-14", 30 * time.Second},
		{"headers alone, which are no sign of life", slowly(terms.MediaNDJSON, part{7 * time.Second, ""}, part{24 * time.Hour, ""}),
			wire.PathQuery, "stream-14", 30 * time.Second},
		{"pings that begin late", drip(20*time.Second, terms.MediaNDJSON, ping), wire.PathQuery, "stream-5", 10*time.Minute + 5*time.Second},
		{"pings", drip(0, terms.MediaNDJSON, ping), wire.PathQuery, "stream-5", 10*time.Minute + 5*time.Second},
		{"a line that never ends", drip(0, terms.MediaNDJSON, " "), wire.PathQuery, "stream-5", 65 * time.Second},
		{"a count that never ends", drip(0, terms.MediaJSON, " "), wire.PathCount, "stream-5", 65 * time.Second},
		{"a document that never ends", drip(0, terms.MediaJSON, " "), wire.PathDocument, "stream-5", 65 * time.Second},
		{"no answer of /check", silence, wire.PathCheck, "stream-5", 65 * time.Second},
		{"no document", silence, wire.PathDocument, "stream-5", 65 * time.Second},
	}
	for _, n := range []int{1, 20, served, 150, strings.Index(stream, `{"ping"`), len(stream) - 11, len(stream) - 2} {
		h := slowly(terms.MediaNDJSON, part{7 * time.Second, stream[:n]}, part{24 * time.Hour, ""})
		rows = append(rows, row{fmt.Sprint(n, " bytes"), h, wire.PathQuery, "stream-14", 37 * time.Second})
	}
	for _, c := range rows {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			client := connect(t, c.h, platform.Options{})
			begun := time.Now()
			ask := asks[c.path]
			if c.rule == "stream-14" {
				ask = func(ctx context.Context, c *platform.Client) error { return readRows(ctx, c, columns) }
			}
			err := ask(t.Context(), client)
			require.Equal(t, c.want, time.Since(begun))
			require.Equal(t, c.rule, faultOf(t, err).Rule)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			synctest.Wait()
		})
	}
}

// readRows reads rows of columns to the end.
func readRows(ctx context.Context, c *platform.Client, columns []wire.Column) error {
	rows, err := c.Query(ctx, nobody, query("t"), columns)
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
		c := connect(t, testkit.NDJSON(stream), platform.Options{})
		rows := testkit.Must(c.Query(t.Context(), nobody, query("t"), columns))(t)
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

// TestClocksOfARequest looks at the time limits that are sent, and that those of a
// request hold.
func TestClocksOfARequest(t *testing.T) {
	for _, c := range []struct {
		why             string
		opts            platform.Options
		timeout, idle   int64 // of the request
		sent            string
		took, tookCheck time.Duration
	}{
		{"the usual ones [rule stream-14]", platform.Options{}, 0, 0, "60000 30000 600000", 30 * time.Second, 65 * time.Second},
		{"those of the request", platform.Options{}, 2000, 60_000, "2000 60000 600000", 7 * time.Second, 65 * time.Second},
		{"what is no time is the usual one", platform.Options{}, -1, 0, "60000 30000 600000", 30 * time.Second, 65 * time.Second},
		{"nor is it in the options", platform.Options{Timeout: -1, MaxTimeout: -1, Idle: -1}, 0, 0, "60000 30000 600000",
			30 * time.Second, 65 * time.Second},
		{"a client in a hurry", platform.Options{Timeout: 3 * time.Second, Idle: time.Second}, 0, 0, "3000 1000 600000",
			time.Second, 8 * time.Second},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			received := make(chan wire.QueryRequest, 1)
			client := connect(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); r.URL.Path == wire.PathQuery {
					var sent wire.QueryRequest
					assert.NoError(t, wire.Decode(body, &sent))
					received <- sent
				}
				<-r.Context().Done()
			}), c.opts)
			begun := time.Now()
			req := query("t")
			req.TimeoutMS, req.IdleTimeoutMS, req.MaxTimeoutMS = c.timeout, c.idle, min(c.timeout, 0)
			before := *req
			_, err := client.Query(t.Context(), nobody, req, nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, c.took, time.Since(begun))
			sent := <-received
			require.Equal(t, c.sent, fmt.Sprint(sent.TimeoutMS, sent.IdleTimeoutMS, sent.MaxTimeoutMS))
			require.Equal(t, before, *req, "the caller's request is as it was")
			begun = time.Now()
			require.ErrorIs(t, client.Check(t.Context(), nobody), context.DeadlineExceeded)
			require.Equal(t, c.tookCheck, time.Since(begun))

			ctx, cancel := context.WithCancelCause(t.Context())
			gone := errors.New("the person has left")
			time.AfterFunc(time.Second, func() { cancel(gone) })
			require.ErrorIs(t, client.Check(ctx, nobody), gone)
		})
	}
}

// TestEndlessClocks allows a stream more time than there is.
func TestEndlessClocks(t *testing.T) {
	c := saysNDJSON(t, stream)
	rows, err := c.Query(t.Context(), nobody, &wire.QueryRequest{Table: "t", Envelope: wire.Envelope{TimeoutMS: math.MaxInt64},
		IdleTimeoutMS: math.MaxInt64, MaxTimeoutMS: math.MaxInt64}, columns)
	require.NoError(t, err)
	require.Equal(t, int64(3), counted(t, rows.All()))
}

// TestRequestsAreKept looks at the caller's requests, into which the client writes neither
// its time limits nor the credentials.
func TestRequestsAreKept(t *testing.T) {
	c := connect(t, tabled(numbered(3, true), ""), platform.Options{})
	own := wire.NewCredentials(map[string]string{"key": "s3cret-value"})
	rows, count, statement := query("numbered"), question("count numbered").(*wire.CountRequest), &wire.SQLRequest{SQL: "SELECT 1"}
	link, aggregate := question("linkHitRate numbered.id>numbered.id").(*wire.LinkHitRateRequest), groups("numbered count():n")
	_, _ = c.Query(t.Context(), own, rows, nil)
	_, _ = c.Count(t.Context(), own, count)
	_, _ = c.LinkHitRate(t.Context(), own, link)
	_, _, _ = c.Aggregate(t.Context(), own, aggregate, nil)
	_, _ = c.SQL(t.Context(), own, statement)
	for i, e := range []wire.Envelope{rows.Envelope, count.Envelope, link.Envelope, aggregate.Envelope, statement.Envelope} {
		require.Empty(t, e.Credentials.Reveal(), i)
		require.Zero(t, e.TimeoutMS, i)
	}
}

// TestRequests looks at the headers of every request. The document is asked for without
// the token.
func TestRequests(t *testing.T) {
	requests := make(chan *http.Request, 1)
	c := connect(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r }), platform.Options{Timeout: time.Second})
	for path, ask := range asks {
		require.Error(t, ask(t.Context(), c))
		r := <-requests
		want := []string{http.MethodPost, path, "[Bearer " + testToken + "]", "[" + terms.MediaJSON + "]", "[identity]"}
		if path == wire.PathDocument {
			want = []string{http.MethodGet, path, "[]", "[]", "[identity]"}
		}
		require.Equal(t, want, []string{r.Method, r.URL.Path, fmt.Sprint(r.Header["Authorization"]), fmt.Sprint(r.Header["Content-Type"]),
			fmt.Sprint(r.Header["Accept-Encoding"])})
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
	plain, secure := count(tabled(numbered(3, true), "")), count(tabled(numbered(3, true), ""))
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
	require.NoError(t, c.Check(t.Context(), nobody))
	c = testkit.Must(platform.NewClient(secure.URL, wire.NewBearer(testToken), local))(t)
	var failed *platform.ConnectionError
	require.ErrorAs(t, c.Check(t.Context(), nobody), &failed)
	require.Contains(t, failed.Problem, "the certificate of the host is not trusted")
	require.NotErrorIs(t, failed, platform.ErrAddress)
}

// TestBaseURL reads base URLs. What is wrong with one is said without quoting it.
func TestBaseURL(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/urls.tsv", 3) {
		url, want, problem := c[0], c[1], c[2]
		asked := ""
		to := testkit.Transport(func(r *http.Request) (*http.Response, error) { asked = r.URL.String(); return nil, io.EOF })
		client, err := platform.NewClient(url, wire.NewBearer(testToken), &platform.Options{HTTP: &http.Client{Transport: to}})
		if problem != "" {
			require.ErrorContains(t, err, problem, url)
			require.NotContains(t, err.Error(), "secret")
			continue
		}
		require.NoError(t, err, url)
		require.Error(t, client.Check(t.Context(), nobody))
		require.Equal(t, want+wire.PathCheck, asked)
	}
}

// TestUnreachable has no server, one that hangs up, and one that is no HTTP server.
func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		if strings.HasPrefix(r.URL.Path, "/ssh/") {
			_, _ = io.WriteString(conn, "SSH-2.0 "+testToken+" s3cret-value\r\n")
		}
		_ = conn.Close()
	}))
	defer server.Close()
	for _, c := range []struct{ url, problem string }{
		{"http://127.0.0.1:1", "no connection"},
		{server.URL, "the connection was closed before the answer came"},
		{server.URL + "/ssh", ""},
		{"http://no-such-host.invalid", "does not resolve"},
	} {
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
