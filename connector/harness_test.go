package connector_test

import (
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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// secret is the credential of every good request, and canary stands wherever a
// body must not be echoed from. Neither may ever be seen outside.
const (
	secret = "s3cr3t-5f2e-9a77"
	canary = "canary7c1e"
)

// shop is the definition most tests serve: one required credential, one
// optional.
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

// The sources of these tests are put together from the parts below, each of
// which answers well unless its function says otherwise.

type core struct {
	check    func(context.Context, *wire.CheckRequest) error
	discover func(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error)
	query    func(context.Context, *connector.Query, *connector.Rows) error
}

func (s core) Check(ctx context.Context, req *wire.CheckRequest) error {
	if s.check != nil {
		return s.check(ctx, req)
	}
	return nil
}

func (s core) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	if s.discover != nil {
		return s.discover(ctx, req)
	}
	return &wire.Discovery{Tables: []wire.Table{*items()}}, nil
}

func (s core) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if s.query != nil {
		return s.query(ctx, req, out)
	}
	return queryItems(ctx, req, out)
}

type sizer func(context.Context, *wire.SizeRequest) (*wire.Size, error)

func (f sizer) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	if f != nil {
		return f(ctx, req)
	}
	return &wire.Size{Rows: 3, Exact: true}, nil
}

type counter func(context.Context, *wire.CountRequest) (int64, error)

func (f counter) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	if f != nil {
		return f(ctx, req)
	}
	return 3, nil
}

type aggregator func(context.Context, *wire.AggregateRequest) ([][]wire.Value, error)

func (f aggregator) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	if f != nil {
		return f(ctx, req)
	}
	return oneGroup(req), nil
}

type measurer func(context.Context, *wire.CardinalityRequest) (map[string]*wire.Cardinality, error)

func (f measurer) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	if f != nil {
		return f(ctx, req)
	}
	return map[string]*wire.Cardinality{"id": {NonNull: 3, Distinct: 3}}, nil
}

type linker func(context.Context, *wire.LinkHitRateRequest) (*wire.LinkHitRate, error)

func (f linker) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	if f != nil {
		return f(ctx, req)
	}
	return &wire.LinkHitRate{FromNonNull: 3}, nil
}

type joiner func(context.Context, *connector.Query, *connector.Rows) error

func (f joiner) QueryJoined(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if f != nil {
		return f(ctx, req, out)
	}
	return queryItems(ctx, req, out)
}

type speaker struct {
	dialect string
	sql     func(context.Context, *wire.SQLRequest, *connector.Rows) error
}

func (s speaker) Dialect() string { return s.dialect }

func (s speaker) QuerySQL(ctx context.Context, req *wire.SQLRequest, out *connector.Rows) error {
	if s.sql != nil {
		return s.sql(ctx, req, out)
	}
	return out.Begin([]wire.Column{{Name: "one"}}).Row(wire.Int(1))
}

type describer func(context.Context, wire.Credentials, string) (*wire.Table, error)

func (f describer) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	if f != nil {
		return f(ctx, creds, table)
	}
	if table != "items" {
		return nil, connector.UnknownEntity("no table %q", table)
	}
	return items(), nil
}

// endpoints is a source of every optional route and of joins.
type endpoints struct {
	core
	sizer
	counter
	aggregator
	measurer
	linker
	joiner
}

// described adds Describe, and full adds SQL.
type described struct {
	endpoints
	describer
}

type full struct {
	described
	speaker
}

// items is the table most tests serve.
func items() *wire.Table {
	no := false
	return &wire.Table{
		Name: "items", StoresRows: true, PrimaryKey: []string{"id"},
		Fields: []wire.Field{
			{Name: "id", SourceColumn: "id", Type: wire.TypeNumber, Unique: true},
			{Name: "name", SourceColumn: "name", Type: wire.TypeString, Nullable: true},
			{Name: "price", SourceColumn: "price", Type: wire.TypeDecimal, Nullable: true},
			{Name: "sealed", SourceColumn: "sealed", Type: wire.TypeString, Filterable: &no, Groupable: &no,
				Aggregatable: &no},
		},
	}
}

var itemRows = [][]wire.Value{
	{wire.Int(1), wire.Text("pen"), wire.Decimal("1.50"), wire.Text("x")},
	{wire.Int(2), wire.Text("ink"), wire.Decimal("12.00"), wire.Text("x")},
	{wire.Int(3), wire.Null(), wire.Null(), wire.Text("x")},
}

// queryItems answers items in full and claims nothing.
func queryItems(_ context.Context, req *connector.Query, out *connector.Rows) error {
	if req.Table != "items" {
		return connector.UnknownEntity("no table %q", req.Table)
	}
	w := out.Begin(items().Columns())
	for _, row := range itemRows {
		if err := w.Row(row...); err != nil {
			return err
		}
	}
	return nil
}

// oneGroup answers an aggregate with one row of counts.
func oneGroup(req *wire.AggregateRequest) [][]wire.Value {
	row := make([]wire.Value, len(req.GroupBy)+len(req.Measures))
	for i := range req.Measures {
		row[len(req.GroupBy)+i] = wire.Int(3)
	}
	return [][]wire.Value{row}
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
	var o connector.Options
	if opts != nil {
		o = *opts
	}
	log := &logbook{}
	o.Logger = slog.New(log)
	return &site{connectortest.Start(t, shop, src, &o), t, log}
}

// Request returns a POST request of body to a route, with the bearer token. Change it as
// needed and send it with Client.
func (s *site) Request(ctx context.Context, path, body string) *http.Request {
	return request(ctx, s.URL+path, body)
}

// request returns a POST request with the bearer token.
func request(ctx context.Context, url, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+connectortest.Token)
	r.Header.Set("Content-Type", terms.MediaJSON)
	return r
}

// Dial opens a connection to the server, for tests that send malformed HTTP.
func (s *site) Dial() net.Conn {
	s.t.Helper()
	conn, err := s.Client.Transport.(*http.Transport).DialContext(context.Background(), "", "")
	require.NoError(s.t, err)
	return conn
}

// newToken returns the token of every handler here.
func newToken(t testing.TB) wire.Token {
	t.Helper()
	token, err := wire.NewToken(connectortest.Token)
	require.NoError(t, err)
	return token
}

// newHandler returns the shop over a source, for requests that need no server.
func newHandler(t testing.TB, src connector.Source, opts *connector.Options) *connector.Handler {
	t.Helper()
	var o connector.Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h, err := connector.New(shop, src, newToken(t), &o)
	require.NoError(t, err)
	return h
}

// direct sends a POST request to a handler.
func direct(h http.Handler, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(context.Background(), path, body))
	return w
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
	res, err := s.Client.Do(r)
	require.NoError(s.t, err, "%s %s", r.Method, r.URL.Path)
	return read(s.t, res)
}

func (s *site) post(path, body string) answer {
	s.t.Helper()
	return s.do(s.Request(context.Background(), path, body))
}

// alive proves that the next request is answered.
func (s *site) alive() {
	s.t.Helper()
	a := s.post("/check", good("/check"))
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
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{res.StatusCode, res.Header, string(data)}
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

// keepsSecrets asserts that an answer and the log show neither the credential
// nor a text of the body.
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
// and the id of the request in no other.
type logbook struct {
	mu       sync.Mutex
	lines    []string
	requests []string
	panics   bool // in place of taking a line
}

func (l *logbook) Enabled(context.Context, slog.Level) bool { return true }
func (l *logbook) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logbook) WithGroup(string) slog.Handler            { return l }

func (l *logbook) Handle(_ context.Context, r slog.Record) error {
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

func itoa(n int) string { return strconv.Itoa(n) }

// discard is a client that takes everything and looks at nothing.
type discard struct {
	header http.Header
	status int
	bytes  int
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
