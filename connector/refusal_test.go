package connector_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
	s := serve(t, testkit.Endpoints{}, nil)
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
	h := testkit.Must(connector.New(shop, testkit.Source{}, token, nil))(t)
	for bearer, want := range map[string]int{connectortest.Token: 200, next: 200, next + "x": 401} {
		assert.Equal(t, want, testkit.Post(h, bearer, "/check", good("/check")).Code, bearer)
	}
}

// TestBodyUnread checks that what can be refused without the body is refused
// before it is read.
func TestBodyUnread(t *testing.T) {
	h := newHandler(testkit.Source{}, nil)
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
	s := serve(t, testkit.Source{}, &connector.Options{MaxRequestBytes: 2048})
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
			s := serve(t, testkit.Endpoints{}, nil)
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

// TestMethods checks 405 with Allow on every known route, before the bearer
// token is looked at.
func TestMethods(t *testing.T) {
	s := serve(t, testkit.Endpoints{}, nil)
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
	s := serve(t, testkit.Full{Described: testkit.Described{Endpoints: testkit.Endpoints{}}, Speaker: testkit.Speaker{Name: "ansi"}}, nil)
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

// TestUnknownNames checks that what the data lacks is refused by name, before
// any row.
func TestUnknownNames(t *testing.T) { answers(t, "names.tsv") }

// TestNamesAreBounded checks that a name in a message is cut, so that no body
// comes back whole.
func TestNamesAreBounded(t *testing.T) {
	long := strings.Repeat("ä\\u0001", 10_000)
	for _, request := range []string{
		`/query ["id"] => ["LONG"]`, `/query "sort":[] => "sort":[{"field":"LONG","dir":"asc"}]`, `/query "items" => "LONG"`,
		`/query "and":[] => "and":[{"field":"LONG","op":"isnull"}]`, `/cardinality ["id"] => ["LONG"]`,
	} {
		for _, src := range []connector.Source{testkit.Endpoints{}, testkit.Described{}} {
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

// FuzzRequest checks that whatever a body holds, the answer is a clean one: the
// route's own, or an envelope below 500.
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
	src := testkit.Full{Speaker: testkit.Speaker{Name: "ansi"}}
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
			if err := wire.Decode(w.Body.Bytes(), &e); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Body.Len() > 8<<10 || e.Error.Code.Status() != w.Code {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		case w.Code != 200 && w.Code != 204:
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	})
}
