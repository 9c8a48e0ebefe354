package standin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// description is a service's swagger.json, ready to judge answers.
type description struct {
	service *Service
	Paths   map[string]map[string]struct {
		Responses map[string]struct{ Content map[string]any }
	}
	schemas  map[string]*jsonschema.Schema // compiled, by where they are
	compiler *jsonschema.Compiler
}

// origin is the name under which swagger.json is compiled. Nothing is fetched.
const origin = "https://platform.example/swagger.json"

func readDescription(t *testing.T, s *Service) *description {
	t.Helper()
	d := &description{service: s, schemas: map[string]*jsonschema.Schema{}, compiler: jsonschema.NewCompiler()}
	require.NoError(t, json.Unmarshal(s.swagger, d))
	d.compiler.AssertFormat = true
	d.compiler.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, errors.New("swagger.json refers to another document: " + url)
	}
	require.NoError(t, d.compiler.AddResource(origin, bytes.NewReader(s.swagger)))
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
	if _, isJSON := response.Content["application/json"]; !isJSON {
		return
	}
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	schema := d.schemaAt(t, "/paths/"+escaped(e.Path)+"/"+method+"/responses/"+status+"/content/application~1json/schema")
	var body any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	if err := schema.Validate(body); err != nil {
		t.Errorf("%s %s: the answer does not fit swagger.json: %#v", e.Method, e.Path, err)
	}
}

func escaped(segment string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(segment)
}

func (d *description) schemaAt(t *testing.T, pointer string) *jsonschema.Schema {
	t.Helper()
	if schema := d.schemas[pointer]; schema != nil {
		return schema
	}
	schema := testkit.Must(d.compiler.Compile(origin + "#" + pointer))(t)
	d.schemas[pointer] = schema
	return schema
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
	d := readDescription(t, service)
	for path, operations := range d.Paths {
		for method, operation := range operations {
			for status, response := range operation.Responses {
				if _, isJSON := response.Content["application/json"]; isJSON && status[0] == '2' {
					d.schemaAt(t, "/paths/"+escaped(path)+"/"+method+"/responses/"+status+"/content/application~1json/schema")
				}
			}
		}
	}
	assert.NotEmpty(t, d.schemas)
}
