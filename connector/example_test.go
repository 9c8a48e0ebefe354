package connector_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var planets = wire.Table{Name: "planets", SourceDescription: "The rocky planets and their moons.", StoresRows: true,
	PrimaryKey: []string{"name"}, Fields: []wire.Field{{Name: "name", Type: wire.TypeString, Unique: true},
		{Name: "moons", Type: wire.TypeNumber}}}

type source struct{} // three methods make a connector

func (source) Check(context.Context, *wire.CheckRequest) error { return nil }

func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{planets}}, nil
}

func (source) Query(_ context.Context, req *connector.Query, out *connector.Rows) error {
	if req.Table != planets.Name {
		return connector.UnknownEntity("no table %q; there is only planets", req.Table)
	}
	w := out.Begin(planets.Columns()) // nothing claimed: the library filters, sorts and cuts
	for i, name := range []string{"Mercury", "Venus", "Earth", "Mars"} {
		if err := w.Row(wire.Text(name), wire.Int([]int64{0, 0, 1, 2}[i])); err != nil {
			return err // the reader has enough, or is gone
		}
	}
	return nil
}

// The connector of examples/hello, asked for the planet with most moons.
func Example() {
	token, err := wire.NewToken("no-secret-ever-stands-in-an-example")
	if err != nil {
		panic(err)
	}
	handler, err := connector.New(connector.Definition{Slug: "hello"}, source{}, token, nil)
	if err != nil {
		panic(err)
	}

	post(handler, "/query", `{
		"table": "planets", "fields": ["name"],
		"and": [{"field": "moons", "op": "gt", "value": 0}], "sort": [{"field": "moons", "dir": "desc"}], "limit": 1,
		"credentials": {}, "timeoutMs": 5000}`)
	post(handler, "/query", `{
		"table": "stars", "fields": [], "and": [], "sort": [],
		"credentials": {}, "timeoutMs": 5000}`)
	// Output:
	// 200
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"name":"Mars"}]}
	// {"end":1}
	// 404
	// {"error":{"code":"unknown_entity","message":"no table \"stars\"; there is only planets"}}
}

func post(handler http.Handler, path, body string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer no-secret-ever-stands-in-an-example")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	answer, _ := io.ReadAll(w.Body)
	fmt.Printf("%d\n%s\n", w.Code, bytes.TrimSpace(answer))
}
