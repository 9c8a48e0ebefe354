package connector_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/verdicts"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	noRoute  = "no such route; the document at /.well-known/service/platform.json below the base URL lists the optional ones"
	noBearer = "a valid bearer token is required, as the header Authorization: Bearer TOKEN"
)

// TestBearer checks that every cause gets one fixed 401.
func TestBearer(t *testing.T) {
	const token = connectortest.Token
	wrong := strings.Replace(token, "0", "1", 1)
	spelled := strings.NewReplacer("TOKEN", token, "WRONG", wrong, "SHORT", token[:len(token)-1], "REST", token[1:],
		"UPPER", strings.ToUpper(token), "MANY", strings.Repeat("a=b&", 200))
	s := serve(t, connectors.Endpoints{}, nil)
	for _, c := range testkit.Table(t, "testdata/bearer.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			var headers []string
			require.NoError(t, json.Unmarshal([]byte(spelled.Replace(c[1])), &headers))
			for _, route := range routes {
				r := s.Request(context.Background(), route.path, route.body)
				r.Header["Authorization"] = headers
				r.URL.RawQuery = spelled.Replace(c[2])
				a := s.do(r)
				if c[3] == "200" {
					assert.Equal(t, 200, a.status, route.path)
					continue
				}
				a.refuses(t, 401, wire.CodeUnauthorized, noBearer)
				assert.Equal(t, "Bearer", a.header.Get("Www-Authenticate"))
				assert.NotContains(t, a.body, token)
				assert.NotContains(t, a.body, wrong)
			}
		})
	}
	s.alive()
	assert.Empty(t, s.log.String(), "a refused bearer is no event for the host's log")
}

// TestTwoTokens checks that a host can hold two tokens while it rotates them.
func TestTwoTokens(t *testing.T) {
	const next = "the-next-token-0123456789abcdef-0123"
	token := testkit.Must(wire.NewToken(connectortest.Token, next))(t)
	h := testkit.Must(connector.New(shop, connectors.Source{}, token, nil))(t)
	for bearer, want := range map[string]int{connectortest.Token: 200, next: 200, next + "x": 401} {
		assert.Equal(t, want, testkit.Post(h, bearer, "/check", good("/check")).Code, bearer)
	}
}

// TestBodyUnread checks that what can be refused without the body is refused before it is read.
func TestBodyUnread(t *testing.T) {
	h := newHandler(connectors.Source{}, nil)
	for _, c := range testkit.Table(t, "testdata/unread.tsv", 6) {
		t.Run(c[0], func(t *testing.T) {
			body := strings.NewReader("{}")
			r := httptest.NewRequest(c[1], c[2], body)
			r.Header.Set("Authorization", strings.Replace(c[3], "TOKEN", connectortest.Token, 1))
			if r.ContentLength = -1; c[4] == "over" {
				r.ContentLength = 8<<20 + 1
			} else {
				r.Header.Set("Content-Encoding", c[4])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			assert.Equal(t, c[5], itoa(w.Code))
			assert.Equal(t, 2, body.Len(), "the body was read before the bearer was judged")
		})
	}
}

// TestOrderOfRefusal checks pairs of faults: the answer names the earlier one.
func TestOrderOfRefusal(t *testing.T) {
	type request struct{ method, path, bearer, table, joins, limit, behind string }
	faults := []struct {
		name    string
		put     func(*request)
		status  int
		code    wire.Code
		message string
	}{
		{"path", func(r *request) { r.path = "/nowhere" }, 404, wire.CodeNotFound, noRoute},
		{"method", func(r *request) { r.method = "PUT" }, 405, wire.CodeMethodNotAllowed, "use POST"},
		{"bearer", func(r *request) { r.bearer = "wrong" }, 401, wire.CodeUnauthorized, noBearer},
		{"size", func(r *request) { r.behind += strings.Repeat(" ", 4096) }, 400, wire.CodeBadRequest,
			"body: larger than 2048 bytes"},
		{"JSON", func(r *request) { r.behind += "," }, 400, wire.CodeBadRequest, ""},
		{"shape", func(r *request) { r.limit = "0" }, 400, wire.CodeBadRequest, ""},
		{"unadvertised", func(r *request) {
			r.joins = `[{"fromTable":"` + r.table + `","toTable":"x","fromField":"id","toField":"id","fields":[]}]`
		}, 422, wire.CodeUnsupported, "joins: this connector executes no joins (join is false)"},
		{"source", func(r *request) { r.table = "nothing" }, 404, wire.CodeUnknownEntity, `no table "nothing"`},
	}
	s := serve(t, connectors.Source{}, &connector.Options{MaxRequestBytes: 2048})
	for i, first := range faults {
		for _, second := range faults[i+1:] {
			t.Run(first.name+" before "+second.name, func(t *testing.T) {
				q := request{"POST", "/query", connectortest.Token, "items", "[]", "10", ""}
				second.put(&q)
				first.put(&q)
				body := `{"table":"` + q.table + `","and":[],"sort":[],"fields":["id"],"limit":` + q.limit +
					`,"joins":` + q.joins + `,` + tail + q.behind
				r := s.Request(context.Background(), q.path, body)
				r.Method = q.method
				r.Header.Set("Authorization", "Bearer "+q.bearer)
				message := first.message
				if message == "" {
					message = "*"
				}
				s.do(r).refuses(t, first.status, first.code, message)
			})
		}
	}
	s.alive()
}

// TestPaths checks that paths match exactly, byte for byte as they are sent.
func TestPaths(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/paths.tsv", 3) {
		why, line := c[0], "POST "+c[1]+" HTTP/1.1"
		t.Run(why, func(t *testing.T) {
			s := serve(t, connectors.Endpoints{}, nil)
			a := s.raw(t, line, "Authorization: Bearer "+connectortest.Token, good("/check"))
			if c[2] == "200" {
				assert.Equal(t, 200, a.status)
				return
			}
			a.refuses(t, 404, wire.CodeNotFound, noRoute)
			s.raw(t, line, "Authorization: Bearer wrong", "").refuses(t, 404, wire.CodeNotFound, noRoute)
			s.alive()
		})
	}
}

// raw sends a request as it is written, and reads the answer.
func (s *site) raw(t *testing.T, line, header, body string) answer {
	t.Helper()
	conn := s.Dial()
	defer conn.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, line+"\r\nHost: connector.test\r\n"+header+"\r\nContent-Length: "+itoa(len(body))+
			"\r\n\r\n"+body)
	}()
	method, _, _ := strings.Cut(line, " ")
	res := testkit.Must(http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method}))(t)
	a := read(t, res)
	_ = conn.Close()
	<-sent
	return a
}

// TestMethods checks 405 with Allow on every known route, before the bearer token is looked at.
func TestMethods(t *testing.T) {
	s := serve(t, connectors.Endpoints{}, nil)
	type target struct{ path, allow string }
	targets := []target{{wire.PathDocument, "GET, HEAD"}}
	for _, r := range routes {
		targets = append(targets, target{r.path, "POST"})
	}
	for _, at := range targets {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE",
			"CONNECT", "PROPFIND", "post", "get"} {
			if strings.Contains(at.allow, method) {
				continue
			}
			t.Run(method+" "+at.path, func(t *testing.T) {
				a := s.raw(t, method+" "+at.path+" HTTP/1.1", "Authorization: Bearer wrong", "")
				assert.Equal(t, at.allow, a.header.Get("Allow"))
				if method == "HEAD" {
					assert.Equal(t, 405, a.status)
					assert.Empty(t, a.body, "HEAD has no body")
					assert.NotEqual(t, "0", a.header.Get("Content-Length"),
						"the length of the envelope that GET would have")
					a.hasRefusalHeaders(t)
					return
				}
				a.refuses(t, 405, wire.CodeMethodNotAllowed, "use "+at.allow)
			})
		}
	}
	s.raw(t, "OPTIONS /nowhere HTTP/1.1", "X: y", "").refuses(t, 404, wire.CodeNotFound, noRoute)
	a := s.raw(t, "HEAD /nowhere HTTP/1.1", "X: y", "")
	assert.Equal(t, 404, a.status)
	a.hasRefusalHeaders(t)
	s.alive()
}

// TestVerdicts sends each body of wire/testdata/verdicts that is not a request of its
// route. What is wrong with each stands there.
func TestVerdicts(t *testing.T) {
	s := serve(t, connectors.Full{Described: connectors.Described{Endpoints: connectors.Endpoints{}}, Speaker: connectors.Speaker{Name: "ansi"}}, nil)
	for folder, path := range map[string]string{
		"check-request": "/check", "discovery-request": "/discovery", "query-request": "/query", "sql-request": "/query",
		"count-request": "/count", "aggregate-request": "/aggregate", "size-request": "/size",
		"cardinality-request": "/cardinality", "link-hit-rate-request": "/linkHitRate",
	} {
		refused := 0
		for _, c := range verdicts.Read(t, filepath.Join("../wire/testdata/verdicts", folder)) {
			if !c.Valid {
				refused++
				t.Run(folder+" "+c.Why, func(t *testing.T) { s.post(path, string(c.Message())).refuses(t, 400, wire.CodeBadRequest, "*") })
			}
		}
		assert.Positive(t, refused, folder)
	}
	s.alive()
	assert.Empty(t, s.log.String(), "a bad body is no event for the host's log")
}

// TestUnadvertised checks that legal requests for what the document never
// promised are 422, and that no source sees them.
func TestUnadvertised(t *testing.T) { answers(t, "unadvertised.tsv") }

// TestUnknownNames checks that what the data lacks is refused by name, before any row.
func TestUnknownNames(t *testing.T) { answers(t, "names.tsv") }

// TestNamesAreBounded checks that a name in a message is cut, so that no body comes back whole.
func TestNamesAreBounded(t *testing.T) {
	long := strings.Repeat("ä\\u0001", 10_000)
	for _, request := range []string{
		`/query ["id"] => ["LONG"]`, `/query "sort":[] => "sort":[{"field":"LONG","dir":"asc"}]`, `/query "items" => "LONG"`,
		`/query "and":[] => "and":[{"field":"LONG","op":"isnull"}]`, `/cardinality ["id"] => ["LONG"]`,
	} {
		for _, src := range []connector.Source{connectors.Endpoints{}, connectors.Described{}} {
			path, body := asked(strings.Replace(request, "LONG", long, 1))
			a := serve(t, src, nil).post(path, body)
			if a.status == 200 && path == "/cardinality" {
				continue // without a Describer a column is what its answer calls it
			}
			assert.Contains(t, []int{404, 422}, a.status)
			assert.Less(t, len(a.body), 10_000, request)
		}
	}
}

// FuzzRequest checks that whatever a body holds, the answer is a clean one: the route's own, or an envelope below 500.
func FuzzRequest(f *testing.F) {
	for i, r := range routes {
		f.Add(uint8(i), r.body)
		f.Add(uint8(i), r.body[:len(r.body)-1]+`,"x":[{"y":null}]}`)
	}
	f.Add(uint8(2), query(hopQuery))
	f.Add(uint8(2), query(`"and":[{"field":"price","op":"gte","value":"1e5"}],"or":[[],[{"field":"name","op":"in",`+
		`"values":["pen",null]}]],"sort":[{"field":"price","dir":"desc"}],"fields":["id","price"],"limit":2,`+
		`"offset":1`))
	f.Add(uint8(2), sqlBody)
	f.Add(uint8(4), strings.Replace(good("/aggregate"), `"groupBy":[]`,
		`"groupBy":[{"field":"id","as":"d","grain":"day"}]`, 1))
	src := connectors.Full{Speaker: connectors.Speaker{Name: "ansi"}}
	src.Joiner = func(_ context.Context, req *connector.Query, out *connector.Rows) error {
		columns := items().Columns()
		for i, j := range req.Joins {
			for _, field := range j.Fields {
				columns = append(columns, wire.Column{Name: field.As, Hop: i + 1})
			}
		}
		return out.Begin(columns).Row(make([]wire.Value, len(columns))...)
	}
	h := newHandler(src, nil)
	f.Fuzz(func(t *testing.T, route uint8, body string) {
		w := direct(h, routes[int(route)%len(routes)].path, body)
		switch {
		case w.Code == 408:
			t.Skip("the body asks for a millisecond")
		case w.Code >= 500:
			t.Fatalf("%d %s", w.Code, w.Body)
		case w.Code >= 400:
			var e wire.ErrorAnswer
			require.NoError(t, wire.Decode(w.Body.Bytes(), &e), w.Body)
			require.LessOrEqual(t, w.Body.Len(), 8<<10)
			require.Equal(t, w.Code, e.Error.Code.Status(), w.Body)
		case w.Code != 200 && w.Code != 204:
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	})
}

// TestBodies sends bodies that are no requests to every route, or to one. They are refused with a
// message that names the place and shows nothing of the body. TestVerdicts sends many more.
func TestBodies(t *testing.T) {
	s := serve(t, connectors.Endpoints{}, nil)
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
	s := serve(t, connectors.Endpoints{}, nil)
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

// TestBodySize sends bodies around the size limit, to the byte, with and without a stated length.
func TestBodySize(t *testing.T) {
	for most, options := range map[int]*connector.Options{8 << 20: nil, 1024: {MaxRequestBytes: 1024}} {
		s := serve(t, connectors.Source{}, options)
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

// TestBodyEndless sends a body that is far too long: it is read to the limit and no further.
func TestBodyEndless(t *testing.T) {
	s := serve(t, connectors.Source{}, &connector.Options{MaxRequestBytes: 1024})
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
			s := serve(t, connectors.Source{}, &c.options)
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
	s := serve(t, connectors.Source{
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
