package connector_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestBodies sends bodies that are no requests to every route, or to one. They are refused with a
// message that names the place and shows nothing of the body. TestVerdicts sends many more.
func TestBodies(t *testing.T) {
	s := serve(t, testkit.Endpoints{}, nil)
	for _, c := range testkit.Table(t, "testdata/bodies.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			for _, route := range routes {
				if c[1] == "*" || c[1] == route.path {
					a := s.post(asked(route.path + " " + c[2]))
					a.refuses(t, 400, wire.CodeBadRequest, c[3])
					s.keepsSecrets(a)
				}
			}
		})
	}
	// Nothing is inflated.
	for _, encodings := range [][]string{{"gzip"}, {"deflate"}, {"br"}, {"identity, gzip"}, {"identity", "gzip"}, {"GZIP"}} {
		r := s.Request(context.Background(), "/check", good("/check"))
		r.Header["Content-Encoding"] = encodings
		s.do(r).refuses(t, 400, wire.CodeBadRequest, "Content-Encoding: send the body as it is, without compression")
	}
	s.alive()
	assert.Empty(t, s.log.String(), "a bad body is no event for the host's log")
}

// TestBodiesTaken sends their legal neighbours.
func TestBodiesTaken(t *testing.T) {
	s := serve(t, testkit.Endpoints{}, nil)
	for why, alter := range map[string]func(*http.Request){
		"http-4: no content type is required": func(r *http.Request) { r.Header.Del("Content-Type") },
		"http-4: nor any in particular":       func(r *http.Request) { r.Header.Set("Content-Type", "text/html") },
		"http-4: identity is no encoding":     func(r *http.Request) { r.Header.Set("Content-Encoding", "Identity") },
		"in chunks, without a stated length":  func(r *http.Request) { r.ContentLength = -1 },
	} {
		for _, route := range routes {
			r := s.Request(t.Context(), route.path, route.body)
			alter(r)
			assert.Equal(t, 200, s.do(r).status, "%s: %s", why, route.path)
		}
	}
	for _, route := range routes {
		a := s.post(asked(route.path + ` +,"trace":{"a":[1,{"b":null}]}}`))
		if slices.Contains([]string{"/query", "/count", "/aggregate"}, route.path) {
			a.refuses(t, 400, wire.CodeBadRequest, "body: *")
		} else {
			assert.Equal(t, 200, a.status, "http-5: an unknown member on the lax route %s", route.path)
		}
	}
}

// TestBodySize sends bodies around the size limit, to the byte, with and
// without a stated length.
func TestBodySize(t *testing.T) {
	for most, options := range map[int]*connector.Options{8 << 20: nil, 1024: {MaxRequestBytes: 1024}} {
		s := serve(t, testkit.Source{}, options)
		for _, size := range []int{most, most + 1, most + 1<<20} {
			for _, stated := range []bool{true, false} {
				r := s.Request(t.Context(), "/check", good("/check")+strings.Repeat(" ", size-len(good("/check"))))
				if !stated {
					r.ContentLength = -1
				}
				if a := s.do(r); size == most {
					assert.Equal(t, 200, a.status, "http-4: %d bytes, stated: %t", size, stated)
				} else {
					a.refuses(t, 400, wire.CodeBadRequest, fmt.Sprintf("body: larger than %d bytes", most))
				}
				s.alive()
			}
		}
	}
}

// TestBodyEndless sends a body that is far too long: it is read to the limit and no
// further.
func TestBodyEndless(t *testing.T) {
	s := serve(t, testkit.Source{}, &connector.Options{MaxRequestBytes: 1024})
	body := strings.NewReader(strings.Repeat(" ", 1<<20))
	r := s.Request(context.Background(), "/check", "")
	r.Body, r.ContentLength = io.NopCloser(body), -1
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	read(t, w.Result()).refuses(t, 400, wire.CodeBadRequest, "body: larger than 1024 bytes")
	assert.Equal(t, 1<<20-1025, body.Len())
}

// TestBodyTrickles sends a body that never ends: it does not hold its
// connection for ever. The server's own ReadTimeout stays if it has one.
func TestBodyTrickles(t *testing.T) {
	for _, c := range []struct {
		why     string
		server  time.Duration // ReadTimeout
		options connector.Options
		at      time.Duration
	}{
		{"a minute by default", 0, connector.Options{}, time.Minute},
		{"the longest any request may last, where that is less", 0, connector.Options{MaxTimeout: 7 * time.Second},
			7 * time.Second},
		{"the server's ReadTimeout, where it has one", 5 * time.Second, connector.Options{}, 5 * time.Second},
		{"even a longer one", 5 * time.Minute, connector.Options{}, 5 * time.Minute},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			s := serve(t, testkit.Source{}, &c.options)
			conn := listen(t, s.Handler, func(h *http.Server) { h.ReadTimeout = c.server })
			start := time.Now()
			testkit.Must(io.WriteString(conn,
				"POST /check HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+connectortest.Token+
					"\r\nContent-Length: 500\r\n\r\n{"))(t)
			res := testkit.Must(http.ReadResponse(bufio.NewReader(conn), nil))(t)
			assert.Equal(t, c.at, time.Since(start))
			read(t, res).refuses(t, 400, wire.CodeBadRequest, "body: could not be read to its end")
		})
	}
}

// listen runs an http.Server with a test's own settings, and returns a connection to it.
func listen(t *testing.T, h http.Handler, configure func(*http.Server)) net.Conn {
	server := &http.Server{Handler: h}
	configure(server)
	l, stop := memlisten.Serve(server)
	t.Cleanup(stop)
	conn := testkit.Must(l.Dial(context.Background()))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestCredentials checks which credentials are taken, dropped and refused.
func TestCredentials(t *testing.T) {
	const declared = `{"apiKey":"` + secret + `"}`
	var seen wire.Credentials
	s := serve(t, testkit.Source{
		OnCheck: func(_ context.Context, req *wire.CheckRequest) error { seen = req.Credentials; return nil },
		OnDiscover: func(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
			return &wire.Discovery{}, nil
		},
	}, nil)
	var others strings.Builder
	for i := range 255 {
		fmt.Fprintf(&others, `,"other%d":"%s"`, i, canary)
	}
	spelled := strings.NewReplacer("SECRET", secret, "OTHERS", others.String())
	for _, c := range testkit.Table(t, "testdata/credentials.tsv", 4) {
		why, credentials, keys, message := c[0], spelled.Replace(c[1]), strings.Fields(c[2]), c[3]
		t.Run(why, func(t *testing.T) {
			for _, path := range []string{"/check", "/discovery", "/query"} {
				seen = wire.Credentials{}
				a := s.post(asked(path + " " + declared + " => " + credentials))
				if len(keys) > 0 {
					assert.Equal(t, 200, a.status, a.body)
					if path == "/check" {
						assert.Equal(t, keys, seen.Keys())
						assert.Equal(t, secret, seen.Get("apiKey"))
					}
					continue
				}
				if message == "credentials.apiKey: required" && path == "/check" {
					a.refuses(t, 400, wire.CodeCheckFailed, "API key is required.")
				} else {
					a.refuses(t, 400, wire.CodeBadRequest, message)
				}
				assert.NotContains(t, a.body, canary)
				assert.NotContains(t, a.body, "123456789")
			}
		})
	}
	s.alive()
}
