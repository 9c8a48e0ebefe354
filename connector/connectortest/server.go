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
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Token is the bearer token of every [Server].
const Token = "connectortest-0123456789abcdef-0123456789"

// baseURL is an address that only the client of a Server can reach.
const baseURL = "http://connector.test"

// A Server is a connector under test: the real handler in a real [http.Server],
// reached through connections in memory. It can be started inside a
// testing/synctest bubble, where it uses the time of the bubble.
type Server struct {
	// URL is the connector's base URL. Only Client can reach it.
	URL string
	// Client reaches the server and follows no redirects.
	Client *http.Client
	// Handler is the connector itself.
	Handler *connector.Handler
	// HTTP is the server around it.
	HTTP *http.Server

	t testing.TB
	l *memlisten.Listener
}

// Start serves a source until the test ends. It fails the test if the connector
// cannot be constructed. Without a logger in opts, the connector logs to the
// test.
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
		o.Logger = newLogger(newTestLog(t), slog.LevelInfo)
	}
	h, err := connector.New(def, src, token, &o)
	if err != nil {
		t.Fatalf("connector.New: %v", err)
	}
	s := &Server{
		URL: baseURL, Handler: h,
		HTTP: &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelError)},
		t:    t,
	}
	var stop func()
	s.l, stop = memlisten.Serve(s.HTTP)
	s.Client = &http.Client{
		Transport:     s.l.Route(&http.Transport{DisableCompression: true}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		s.Client.CloseIdleConnections()
		stop()
	})
	return s
}

// Document fetches the capability document without a token, as the platform
// does. It fails the test if the answer is not a document.
func (s *Server) Document() *wire.Document {
	s.t.Helper()
	doc, err := fetchDocument(s.t.Context(), s)
	if err != nil {
		s.t.Fatalf("connectortest: GET %s: %v", wire.PathDocument, err)
	}
	return doc
}

// Dial opens a connection to the server, for tests that send malformed HTTP.
func (s *Server) Dial() net.Conn {
	s.t.Helper()
	c, err := s.l.Dial(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Request returns a POST request of body to a route, with the bearer token.
// Change it as needed and send it with Client.
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
