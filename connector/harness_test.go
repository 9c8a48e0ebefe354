package connector_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// secret is the credential of every good request, and canary stands wherever a
// body must not be echoed from. Neither may ever be seen outside.
const (
	secret = "s3cr3t-5f2e-9a77"
	canary = "canary7c1e"
)

// shop is the definition most tests serve: one required credential, one optional.
var shop = connector.Definition{
	Slug: "shop",
	Credentials: []wire.CredentialField{
		{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword},
		{Key: "region", Label: "Region", Type: wire.CredentialText, Optional: true},
	},
}

// tail ends every good body.
const tail = `"credentials":{"apiKey":"` + secret + `"},"timeoutMs":60000}`

// routes are the eight routes, each with a body that is answered 200.
var routes = []struct{ path, body string }{
	{"/check", `{` + tail},
	{"/discovery", `{` + tail},
	{"/query", `{"table":"items","and":[],"sort":[],"fields":["id"],` + tail},
	{"/count", `{"table":"items","and":[],` + tail},
	{"/aggregate", `{"table":"items","and":[],"groupBy":[],"measures":[{"fn":"count","as":"n"}],"limit":1001,` +
		tail},
	{"/size", `{"table":"items",` + tail},
	{"/cardinality", `{"table":"items","columns":["id"],` + tail},
	{"/linkHitRate", `{"fromTable":"items","fromColumn":"id","toTable":"items","toColumn":"id",` + tail},
}

// good is the body of a route that is answered 200.
func good(path string) string {
	for _, r := range routes {
		if r.path == path {
			return r.body
		}
	}
	panic("no such route: " + path)
}

// items is the table most tests serve.
func items() *wire.Table {
	t := connectors.Items().Table
	return &t
}

// site is a connector under test and its log.
type site struct {
	*connectortest.Server
	t   testing.TB
	log *logbook
}

// serve starts the shop over a source.
func serve(t testing.TB, src connector.Source, opts *connector.Options) *site {
	t.Helper()
	return serveAs(t, shop, src, opts)
}

// serveAs starts a connector.
func serveAs(t testing.TB, def connector.Definition, src connector.Source, opts *connector.Options) *site {
	t.Helper()
	log, own := &logbook{}, *cmp.Or(opts, &connector.Options{})
	own.Logger = slog.New(log)
	if own.Observe == nil {
		own.Observe = func(ctx context.Context, o connector.RequestStats) {
			assert.NoError(t, ctx.Err(), "a hook may take its time")
			log.mu.Lock()
			defer log.mu.Unlock()
			log.stats = append(log.stats, o)
		}
	}
	return &site{connectortest.Start(t, def, src, &own), t, log}
}

// Request returns a POST request of body to a route, with the bearer token. Change it as
// needed and send it with Client.
func (s *site) Request(ctx context.Context, path, body string) *http.Request {
	return request(ctx, s.URL+path, body)
}

// request returns a POST request with the bearer token.
func request(ctx context.Context, url, body string) *http.Request {
	r := testkit.Must(http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body)))(inScript{})
	r.Header.Set("Authorization", "Bearer "+connectortest.Token)
	r.Header.Set("Content-Type", terms.MediaJSON)
	return r
}

// Dial opens a connection to the server, for tests that send malformed HTTP.
func (s *site) Dial() net.Conn {
	s.t.Helper()
	return testkit.Must(s.Client.Transport.(*http.Transport).DialContext(context.Background(), "", ""))(s.t)
}

// newHandler returns the shop over a source, for requests that need no server.
func newHandler(src connector.Source, opts *connector.Options) *connector.Handler {
	own := *cmp.Or(opts, &connector.Options{})
	own.Logger = cmp.Or(own.Logger, slog.New(slog.DiscardHandler))
	return connectors.New(connectortest.Token, shop, src, &own)
}

// direct sends a POST request to a handler.
func direct(h http.Handler, path, body string) *httptest.ResponseRecorder {
	return testkit.Post(h, connectortest.Token, path, body)
}

// open sends a request over a connection of its own, which nobody reads but the test.
func (s *site) open(path, body string) net.Conn {
	s.t.Helper()
	conn := s.Dial()
	s.t.Cleanup(func() { _ = conn.Close() })
	send(s.t, conn, path, body)
	return conn
}

// send writes a request to a connection.
func send(t testing.TB, conn net.Conn, path, body string) {
	t.Helper()
	require.NoError(t, request(context.Background(), "http://connector.test"+path, body).Write(conn))
}

func (s *site) do(r *http.Request) answer {
	s.t.Helper()
	return read(s.t, testkit.Must(s.Client.Do(r))(s.t, "%s %s", r.Method, r.URL.Path))
}

func (s *site) post(path, body string) answer {
	s.t.Helper()
	return s.do(s.Request(context.Background(), path, body))
}

// alive proves that the next request is answered.
func (s *site) alive() {
	s.t.Helper()
	a := s.post(asked("/check"))
	assert.Equal(s.t, 200, a.status, "the next request")
	assert.Equal(s.t, `{"ok":true}`, a.body, "the next request")
}

// answer is one whole answer.
type answer struct {
	status int
	header http.Header
	body   string
}

func read(t testing.TB, res *http.Response) answer {
	t.Helper()
	defer res.Body.Close()
	return answer{res.StatusCode, res.Header, string(testkit.Must(io.ReadAll(res.Body))(t))}
}

// refuses asserts a refusal to the byte: status, envelope, headers. A message
// that ends in an asterisk is the beginning of the one expected.
func (a answer) refuses(t testing.TB, status int, code wire.Code, message string) {
	t.Helper()
	assert.Equal(t, status, a.status)
	var e wire.ErrorAnswer
	if err := wire.Decode([]byte(a.body), &e); !assert.NoError(t, err, "the body is no envelope: %s", a.body) {
		return
	}
	assert.Equal(t, code, e.Error.Code)
	if start, partly := strings.CutSuffix(message, "*"); partly {
		assert.True(t, strings.HasPrefix(e.Error.Message, start), "the message %q must start with %q",
			e.Error.Message, start)
	} else {
		assert.Equal(t, message, e.Error.Message)
	}
	a.hasRefusalHeaders(t)
}

func (a answer) hasRefusalHeaders(t testing.TB) {
	t.Helper()
	assert.Equal(t, "application/json", a.header.Get("Content-Type"))
	assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
	assert.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
	assert.Empty(t, a.header.Get("Location"), "nothing ever redirects")
}

// keepsSecrets asserts that an answer and the log show neither the credential nor a text of the body.
func (s *site) keepsSecrets(a answer) {
	s.t.Helper()
	for where, text := range map[string]string{"answer": a.body, "headers": fmt.Sprint(a.header),
		"log": s.log.String(), "the requests' lines": fmt.Sprint(s.log.each())} {
		assert.NotContains(s.t, text, canary, where)
		assert.NotContains(s.t, text, secret, where)
	}
}

// logbook is a log that can be read. Each line is the level, the message and
// the attributes, none of them quoted. The line that every request has stands apart,
// and the id of the request in no other. It takes no line of a context that is over.
type logbook struct {
	mu              sync.Mutex
	lines, requests []string
	stats           []connector.RequestStats // what Options.Observe was told
	panics          bool                     // in place of taking a line
}

func (l *logbook) Enabled(context.Context, slog.Level) bool { return true }
func (l *logbook) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logbook) WithGroup(string) slog.Handler            { return l }

func (l *logbook) Handle(ctx context.Context, r slog.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.panics {
		panic("the logger panicked")
	}
	line := r.Level.String() + " " + r.Message
	each := line == "INFO request"
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "request" && !each {
			return true
		}
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if each {
		l.requests = append(l.requests, line)
	} else {
		l.lines = append(l.lines, line)
	}
	return nil
}

func (l *logbook) String() string { return strings.Join(l.all(), "\n") }

func (l *logbook) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// each returns the lines that every request has.
func (l *logbook) each() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.requests...)
}

// last returns what was told of the latest request, in a bubble, where everything is at rest.
func (l *logbook) last(t *testing.T) connector.RequestStats {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	require.NotEmpty(t, l.stats)
	return l.stats[len(l.stats)-1]
}

func itoa(n int) string { return strconv.Itoa(n) }

// emits is a source whose rows are what a function writes.
func emits(write func(out *connector.Rows) error) connectors.Source {
	return connectors.Source{OnQuery: func(_ context.Context, _ *connector.Query, out *connector.Rows) error { return write(out) }}
}

// Optional methods that give one answer.

func counts(n int64, err error) connectors.Counter {
	return func(context.Context, *wire.CountRequest) (int64, error) { return n, err }
}

// discard is a client that takes everything and looks at nothing.
type discard struct {
	header        http.Header
	status, bytes int
}

func (d *discard) Header() http.Header {
	if d.header == nil {
		d.header = http.Header{}
	}
	return d.header
}
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { d.bytes += len(p); return len(p), nil }
func (d *discard) Flush()                      {}

func (d *discard) SetReadDeadline(time.Time) error  { return nil }
func (d *discard) SetWriteDeadline(time.Time) error { return nil }

func TestMain(m *testing.M) { testrun.Main(m) }
