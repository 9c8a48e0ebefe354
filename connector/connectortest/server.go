package connectortest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Token is the bearer token of every [Server].
const Token = "connectortest-0123456789abcdef-0123456789"

// baseURL leads nowhere: only a Server's own client reaches it.
const baseURL = "http://connector.test"

// Server is a connector under test: the real handler under a real
// [http.Server], reached through pipes in memory. It may be started inside a
// testing/synctest bubble, where its clocks are the bubble's.
type Server struct {
	// URL is the connector's base URL, for Client alone.
	URL string
	// Client reaches the server and follows no redirects.
	Client *http.Client
	// Handler is the connector itself.
	Handler *connector.Handler
	// HTTP is the server around it.
	HTTP *http.Server

	t testing.TB
	p *Pipe
}

// Start serves a source until the test ends. Construction faults fail the test.
// Without a logger in opts, the connector's log goes to the test's.
func Start(t testing.TB, def connector.Definition, src connector.Source, opts *connector.Options) *Server {
	t.Helper()
	token, err := wire.NewToken(Token)
	if err != nil {
		t.Fatal(err)
	}
	var o connector.Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(newTestLog(t), nil))
	}
	h, err := connector.New(def, src, token, &o)
	if err != nil {
		t.Fatalf("connector.New: %v", err)
	}
	s := &Server{
		URL: baseURL, Handler: h, HTTP: &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelError)},
		t: t, p: NewPipe(),
	}
	s.Client = &http.Client{
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return s.p.Dial(ctx) },
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = s.HTTP.Serve(s.p)
	}()
	t.Cleanup(func() {
		s.Client.CloseIdleConnections()
		_ = s.HTTP.Close()
		<-stopped
	})
	return s
}

// Document fetches the capability document, without a token as the platform
// does, and fails the test unless it is one.
func (s *Server) Document() *wire.Document {
	s.t.Helper()
	doc, err := fetchDocument(s.t.Context(), s)
	if err != nil {
		s.t.Fatalf("connectortest: GET %s: %v", wire.PathDocument, err)
	}
	return doc
}

// Dial opens a bare connection to the server, for tests that break HTTP itself.
func (s *Server) Dial() net.Conn {
	s.t.Helper()
	c, err := s.p.Dial(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Request is a POST of body to a route with the bearer token, to be changed
// before it is sent through Client.
func (s *Server) Request(ctx context.Context, path string, body []byte) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+Token)
	r.Header.Set("Content-Type", wire.MediaJSON)
	return r
}

// Post sends body to a route and reads the whole answer. A transport error
// fails the test.
func (s *Server) Post(path, body string) (status int, answer string) {
	s.t.Helper()
	res, err := s.Client.Do(s.Request(context.Background(), path, []byte(body)))
	if err != nil {
		s.t.Fatalf("POST %s: %v", path, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("POST %s: reading the answer: %v", path, err)
	}
	return res.StatusCode, string(data)
}
