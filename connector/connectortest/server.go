package connectortest

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Token is the bearer token of every [Server].
const Token = "connectortest-0123456789abcdef-0123456789"

// defaultTimeout is the TimeoutMS of a request that states none.
const defaultTimeout = 30 * time.Second

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

	t testing.TB
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
	s := serve(t, &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelError)})
	s.Handler = h
	return s
}

// serve runs an HTTP server in memory until the test ends.
func serve(t testing.TB, server *http.Server) *Server {
	l, stop := memlisten.Serve(server)
	s := &Server{URL: "http://connector.test", t: t, Client: &http.Client{
		Transport:     l.Route(&http.Transport{DisableCompression: true}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(func() {
		s.Client.CloseIdleConnections()
		stop()
	})
	return s
}

// platform returns a client that asks the connector as the platform does.
func (s *Server) platform(o platform.Options) *platform.Client {
	o.HTTP, o.Local, o.Timeout, o.MaxTimeout = cmp.Or(o.HTTP, s.Client), true, defaultTimeout, defaultTimeout
	o.Idle = 10 * time.Minute // longer than any timeout, so that no request ends for want of lines
	c, err := platform.NewClient(s.URL, wire.NewBearer(Token), &o)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Post sends body to a route with the token, and reads the whole answer. A transport
// error fails the test. For a request of another form, use URL and Client.
func (s *Server) Post(path, body string) (status int, answer string) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+Token)
	r.Header.Set("Content-Type", terms.MediaJSON)
	res, err := s.Client.Do(r)
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
