package standin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// exchange is one request and the answer that the documents show for it, read
// from testdata/exchanges. README.md there describes the format.
type exchange struct {
	title  string
	wait   time.Duration // before the request
	from   string        // the address of the connection
	times  int           // how often the request is sent; every answer must match
	head   string        // request line and headers
	body   string
	status int
	header map[string]string
	want   string // JSON with placeholders; empty for an empty body
}

// anExchange is a title, directives, a request and an answer.
var anExchange = regexp.MustCompile(`(?s)^([^\n]*)\n((?:@[^\n]*\n)*)(.*?)\n--- (.*)$`)

// readExchanges returns the exchanges of each file, by its name.
func readExchanges(t *testing.T) map[string][]exchange {
	t.Helper()
	all := map[string][]exchange{}
	for _, file := range testkit.Must(filepath.Glob("testdata/exchanges/*.http"))(t) {
		name := filepath.Base(file)
		for _, part := range strings.Split(string(testkit.Must(os.ReadFile(file))(t)), "\n### ")[1:] {
			p := anExchange.FindStringSubmatch(part)
			require.NotNil(t, p, "no exchange: %s", part)
			e := exchange{title: p[1], times: 1, from: "192.0.2.1:1000", header: map[string]string{}}
			for directive := range strings.Lines(p[2]) {
				directive, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
				switch directive {
				case "@wait":
					e.wait = testkit.Must(time.ParseDuration(value))(t, e.title)
				case "@from":
					e.from = value
				case "@times":
					e.times = testkit.Must(strconv.Atoi(value))(t, e.title)
				default:
					t.Fatalf("%s: unknown directive %s", e.title, directive)
				}
			}
			e.head, e.body, _ = strings.Cut(p[3], "\n\n")
			e.head, e.body = strings.TrimSpace(e.head), strings.TrimSpace(e.body)
			head, want, _ := strings.Cut(strings.TrimSpace(p[4]), "\n\n")
			status, headers, _ := strings.Cut(head, "\n")
			e.status, e.want = testkit.Must(strconv.Atoi(strings.TrimSpace(status)))(t, e.title), strings.TrimSpace(want)
			for line := range strings.Lines(headers) {
				header, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				e.header[header] = value
			}
			all[name] = append(all[name], e)
		}
		require.NotEmpty(t, all[name], name)
	}
	require.NotEmpty(t, all)
	return all
}

// variables are the values that exchanges refer to as {name}: the tokens, and
// what "<save:name>" kept from an earlier answer.
type variables map[string]string

func (v variables) expand(text string) string {
	for name, value := range v {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// request builds the request as a server would read it from the connection.
func (e *exchange) request(t *testing.T, v variables) *http.Request {
	t.Helper()
	head, body := v.expand(e.head), v.expand(e.body)
	if strings.Contains(head, "multipart/form-data") {
		body = strings.ReplaceAll(body, "\n", "\r\n") + "\r\n"
	}
	raw := strings.ReplaceAll(head, "\n", "\r\n") + "\r\nHost: platform.example\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body
	r := testkit.Must(http.ReadRequest(bufio.NewReader(strings.NewReader(raw))))(t, e.title)
	r.RemoteAddr = e.from
	return r
}

// TestExchanges sends every exchange, file by file, to a fresh service. Each
// answer must match the exchange and the service's own swagger.json.
func TestExchanges(t *testing.T) {
	for file, exchanges := range readExchanges(t) {
		testkit.Bubble(t, file, func(t *testing.T) {
			service := New(Options{SignIn: []string{"/sign-in", "/signup"}, Accounts: append(DefaultAccounts(), Account{
				Token: "limited", Organization: "org_1", PerMinute: 1000, Forbidden: []string{"GET /v1/chats"},
			}, Account{
				Token: "roomy", Organization: "org_1", PerMinute: 1000,
			})})
			defer service.Close()
			described := readDescription(t, service)
			vars := variables{
				"standard": DefaultAccounts()[0].Token, "professional": DefaultAccounts()[1].Token,
				"limited": "limited", "roomy": "roomy",
			}
			for _, e := range exchanges {
				time.Sleep(e.wait)
				for i := range e.times {
					name := fmt.Sprintf("%s (%d)", e.title, i+1)
					r := e.request(t, vars)
					w := httptest.NewRecorder()
					service.ServeHTTP(w, r)
					e.check(t, name, w, vars)
					if i == 0 || i == e.times-1 { // the others repeat the first
						described.check(t, r, w)
					}
					if t.Failed() {
						t.FailNow() // what follows builds on it
					}
				}
			}
		})
	}
}

func (e *exchange) check(t *testing.T, name string, w *httptest.ResponseRecorder, vars variables) {
	t.Helper()
	require.Equal(t, e.status, w.Code, "%s: status of %s", name, w.Body)
	for header, want := range e.header {
		assert.Equal(t, vars.expand(want), w.Header().Get(header), "%s: %s", name, header)
	}
	if media := w.Header().Get("Content-Type"); e.want == "" || media != "application/json" {
		assert.Equal(t, vars.expand(e.want), strings.TrimSpace(w.Body.String()), name)
		return
	}
	var want, got any
	require.NoError(t, json.Unmarshal([]byte(vars.expand(e.want)), &want), "%s: the expected body", name)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got), name)
	assert.Equal(t, vars.fill(want, got), got, name)
}

var placeholder = regexp.MustCompile(`^<([a-z]+)(?:[: ](.*))?>$`)

// fill returns the expected body with the values of the other one in place of placeholders that they
// fit, and without the optional members that it lacks. It is equal to a body that has what is expected.
func (v variables) fill(want, body any) any {
	switch want := want.(type) {
	case string:
		if v.fits(want, body) {
			return body
		}
	case []any:
		list, _ := body.([]any)
		p := placeholder.FindStringSubmatch(fmt.Sprint(append(want, "")[0]))
		if p != nil && p[1] == "each" && (p[2] == "" || p[2] == strconv.Itoa(len(list))) {
			want = slices.Repeat(want[1:2], len(list))
		}
		filled := slices.Clone(want)
		for i := range min(len(want), len(list)) {
			filled[i] = v.fill(want[i], list[i])
		}
		return filled
	case map[string]any:
		object, _ := body.(map[string]any)
		filled := map[string]any{}
		for name, member := range want {
			name, optional := strings.CutSuffix(name, "?")
			if value, present := object[name]; present || !optional {
				filled[name] = v.fill(member, value)
			}
		}
		return filled
	}
	return want
}

// kinds are the placeholders for a value of a kind.
var kinds = map[string]reflect.Kind{"string": reflect.String, "bool": reflect.Bool, "object": reflect.Map, "list": reflect.Slice}

// fits reports whether a value is the text, or what the text is a placeholder for.
func (v variables) fits(want string, value any) bool {
	p := placeholder.FindStringSubmatch(want)
	if p == nil {
		return want == value
	}
	text, isText := value.(string)
	switch p[1] {
	case "any":
		return true
	case "int":
		n, isNumber := value.(float64)
		return isNumber && n == float64(int64(n))
	case "time":
		_, err := time.Parse("2006-01-02T15:04:05Z", text)
		return isText && err == nil
	case "matches":
		ok, err := regexp.MatchString("^(?:"+p[2]+")$", text)
		return isText && ok && err == nil
	case "save":
		v[p[2]] = text
		return isText && text != ""
	}
	kind, known := kinds[p[1]]
	return known && reflect.ValueOf(value).Kind() == kind
}

// description is a service's swagger.json, ready to judge answers.
type description struct {
	service *Service
	Paths   map[string]map[string]struct {
		Responses map[string]struct{ Content map[string]any }
	}
	schemas map[string]*jsonschema.Schema // of answers, by "METHOD path status"
}

// readDescription compiles every schema of every answer. Nothing is fetched.

func readDescription(t *testing.T, s *Service) *description {
	t.Helper()
	const origin = "https://platform.example/swagger.json"
	d, compiler := &description{service: s, schemas: map[string]*jsonschema.Schema{}}, jsonschema.NewCompiler()
	require.NoError(t, json.Unmarshal(s.swagger, d))
	compiler.AssertFormat = true
	compiler.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, errors.New("swagger.json refers to another document: " + url)
	}
	require.NoError(t, compiler.AddResource(origin, bytes.NewReader(s.swagger)))
	escaped := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	for path, operations := range d.Paths {
		for method, operation := range operations {
			for status, response := range operation.Responses {
				if _, isJSON := response.Content["application/json"]; isJSON {
					where := "#/paths/" + escaped.Replace(path) + "/" + method + "/responses/" + status + "/content/application~1json/schema"
					d.schemas[method+" "+path+" "+status] = testkit.Must(compiler.Compile(origin + where))(t)
				}
			}
		}
	}
	return d
}

// check requires that swagger.json describes the answer: the status is listed
// for the endpoint, and the body fits its schema.
func (d *description) check(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	e, _ := match(d.service.endpoints, r)
	if e == nil {
		assert.Contains(t, []int{401, 404, 429}, w.Code, "of an unknown path")
		return
	}
	method, status := strings.ToLower(e.Method), strconv.Itoa(w.Code)
	response, listed := d.Paths[e.Path][method].Responses[status]
	require.True(t, listed, "swagger.json lists no status %s for %s %s", status, e.Method, e.Path)
	if len(response.Content) == 0 {
		assert.Empty(t, w.Body.String())
		return
	}
	schema := d.schemas[method+" "+e.Path+" "+status]
	if schema == nil {
		return
	}
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	var body any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	assert.NoError(t, schema.Validate(body), "%s %s: the answer does not fit swagger.json", e.Method, e.Path)
}

// TestEveryEndpointHasAnExchange requires that the exchanges show a success of
// every row of the table, and that swagger.json has the row. The event stream
// and the resume URL have tests of their own.
func TestEveryEndpointHasAnExchange(t *testing.T) {
	service := New(Options{})
	defer service.Close()
	shown := map[string]bool{
		"GET /api/v3/workflows/runs/{runId}/stream":  true,
		"POST /api/v3/workflows/runs/{runId}/resume": true,
	}
	for _, exchanges := range readExchanges(t) {
		for _, e := range exchanges {
			url := variables{"url": "/download/file_1?expires=1&signature=1", "statusUrl": "/"}.expand(e.head)
			r := testkit.Must(http.ReadRequest(bufio.NewReader(strings.NewReader(url+"\r\n\r\n"))))(t, e.title)
			if endpoint, _ := match(service.endpoints, r); endpoint != nil && endpoint.Status == e.status {
				shown[endpoint.Method+" "+endpoint.Path] = true
			}
		}
	}
	d := readDescription(t, service)
	for _, e := range service.Endpoints() {
		assert.True(t, shown[e.Method+" "+e.Path], "no exchange shows a success of %s %s", e.Method, e.Path)
		assert.Contains(t, d.Paths[e.Path], strings.ToLower(e.Method), e.Path)
	}
}

// TestDescriptionCompiles compiles every schema of every answer.
func TestDescriptionCompiles(t *testing.T) {
	service := New(Options{})
	defer service.Close()
	assert.NotEmpty(t, readDescription(t, service).schemas)
}
