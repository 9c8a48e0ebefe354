package connector_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	instead := func(body string) func(string) string { return func(string) string { return body } }
	swap := func(old, new string) func(string) string {
		return func(good string) string { return strings.Replace(good, old, new, 1) }
	}
	more := func(text string) func(string) string {
		return func(good string) string { return good[:len(good)-1] + text }
	}
	const and = `"and":[]`
	s := serve(t, testkit.Endpoints{}, nil)
	for _, c := range []struct {
		why     string
		path    string // "" for all
		body    func(good string) string
		message string
	}{
		{"P0: an empty body", "", instead(""), "body: is empty*"},
		{"an empty object lacks every required member", "", instead("{}"), "body: *"},
		{"cut in the middle", "", func(good string) string { return good[:len(good)/2] }, "*"},
		{"http-4: something behind it", "", more("},"), "body: invalid JSON at byte *"},
		{"a line break inside a string", "", swap(secret, canary+"\n"), "credentials: invalid JSON at byte *"},
		{"http-4: two credentials objects are not merged", "", more(`,"credentials":{"apiKey":"` + canary + `"}}`),
			"body: duplicate member \"credentials\"*"},
		{"very deep", "", more(`,"x":` + deep + "}"), "*"},
		{"aggregate-8: credentials are required", "/query", swap(`"credentials":{"apiKey":"`+secret+`"},`, ``),
			`body: member "credentials" is missing`},
		{"query-5: a member stands once", "/query", swap(`["id"]`, `["id","`+canary+`","`+canary+`"]`), "fields[2]: *"},
		{"http-5: an unknown member could change which rows answer", "/count", swap(and, and+`,"`+canary+`":1`),
			"body: unknown member*"},
		{"filter-13: an array is no value", "/query", swap(and, `"and":[{"field":"id","op":"in","values":[1,["`+canary+`"]]}]`),
			"and[0].values[1]: must be a string, a number, true, false or null"},
		{"query-6: a hop starts at the base or an earlier hop", "/query", swap(and, and+`,"joins":[{"fromTable":"`+canary+
			`","toTable":"b","fromField":"id","toField":"id","fields":[]}]`), "joins[0].fromTable: must be the request's table *"},
		{"stream-9: a connector without dialect takes no SQL, in whatever shape", "/query",
			swap(and, and+`,"sql":"select `+canary+`"`), "body: unknown member*"},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, route := range routes {
				if c.path == "" || c.path == route.path {
					a := s.post(route.path, c.body(route.body))
					a.refuses(t, 400, wire.CodeBadRequest, c.message)
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
	for _, c := range []struct {
		why   string
		body  func(good string) string
		alter func(*http.Request)
		lax   bool // on the routes where unknown members are ignored
	}{
		{"http-4: no content type is required", nil, func(r *http.Request) { r.Header.Del("Content-Type") }, false},
		{"http-4: nor any in particular", nil, func(r *http.Request) { r.Header.Set("Content-Type", "text/html") }, false},
		{"http-4: identity is no encoding", nil,
			func(r *http.Request) { r.Header.Set("Content-Encoding", "Identity") }, false},
		{"in chunks, without a stated length", nil, func(r *http.Request) { r.ContentLength = -1 }, false},
		{"http-5: an unknown member on the lax routes",
			func(good string) string { return good[:len(good)-1] + `,"trace":{"a":[1,{"b":null}]}}` }, nil, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, route := range routes {
				body := route.body
				if c.body != nil {
					body = c.body(body)
				}
				r := s.Request(context.Background(), route.path, body)
				if c.alter != nil {
					c.alter(r)
				}
				a := s.do(r)
				strict := route.path == "/query" || route.path == "/count" || route.path == "/aggregate"
				if c.lax && strict {
					a.refuses(t, 400, wire.CodeBadRequest, "body: *")
					continue
				}
				assert.Equal(t, 200, a.status, "%s: %s", route.path, a.body)
			}
		})
	}
}

// TestBodySize sends bodies around the size limit, to the byte, with and
// without a stated length.
func TestBodySize(t *testing.T) {
	const most = 1024
	fill := func(n int) string { return good("/check") + strings.Repeat(" ", n-len(good("/check"))) }
	for _, c := range []struct {
		why        string
		options    *connector.Options
		size       int
		stated, ok bool
	}{
		{"at the limit", &connector.Options{MaxRequestBytes: most}, most, true, true},
		{"at the limit, in chunks", &connector.Options{MaxRequestBytes: most}, most, false, true},
		{"a byte over", &connector.Options{MaxRequestBytes: most}, most + 1, true, false},
		{"a byte over, in chunks", &connector.Options{MaxRequestBytes: most}, most + 1, false, false},
		{"far over, in chunks", &connector.Options{MaxRequestBytes: most}, 1 << 20, false, false},
		{"http-4: 8 MiB by default", nil, 8 << 20, true, true},
		{"a byte over 8 MiB", nil, 8<<20 + 1, true, false},
		{"a byte over 8 MiB, in chunks", nil, 8<<20 + 1, false, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := serve(t, testkit.Source{}, c.options)
			r := s.Request(context.Background(), "/check", fill(c.size))
			if !c.stated {
				r.ContentLength = -1
			}
			a := s.do(r)
			if c.ok {
				assert.Equal(t, 200, a.status)
			} else if c.options != nil {
				a.refuses(t, 400, wire.CodeBadRequest, "body: larger than 1024 bytes")
			} else {
				a.refuses(t, 400, wire.CodeBadRequest, "body: larger than 8388608 bytes")
			}
			s.alive()
		})
	}
}

// TestBodyEndless sends a body without end: it is read to the limit and no
// further.
func TestBodyEndless(t *testing.T) {
	s := serve(t, testkit.Source{}, &connector.Options{MaxRequestBytes: 1024})
	body := &blanks{}
	r := s.Request(context.Background(), "/check", "")
	r.Body = io.NopCloser(body)
	r.ContentLength = -1
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	read(t, w.Result()).refuses(t, 400, wire.CodeBadRequest, "body: larger than 1024 bytes")
	assert.Equal(t, 1025, body.read)
}

// blanks never ends, or nearly so.
type blanks struct{ read int }

func (b *blanks) Read(p []byte) (int, error) {
	if b.read > 1<<20 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	b.read += len(p)
	return len(p), nil
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
			host := listen(t, s.Handler, func(h *http.Server) { h.ReadTimeout = c.server })
			conn := host.dial(t)
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

// host runs an http.Server with a test's own settings, reached through pipes.
type host struct{ *memlisten.Listener }

func listen(t *testing.T, h http.Handler, configure func(*http.Server)) *host {
	server := &http.Server{Handler: h}
	configure(server)
	l, stop := memlisten.Serve(server)
	t.Cleanup(stop)
	return &host{l}
}

func (l *host) dial(t *testing.T) net.Conn {
	c := testkit.Must(l.Dial(context.Background()))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
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
				a := s.post(path, edit(t, path, declared, credentials))
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
