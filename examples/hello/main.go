// Command hello is a whole connector: one table, with every filter, sort and window.
package main

import (
	"context"
	"errors"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
	"log"
	"net/http"
	"os"
)

var planets = wire.Table{Name: "planets", SourceDescription: "The rocky planets and their moons.", StoresRows: true, PrimaryKey: []string{"name"},
	Fields: []wire.Field{{Name: "name", Type: wire.TypeString, Unique: true}, {Name: "moons", Type: wire.TypeNumber}}}

type source struct{} // three methods make a connector; the SDK does the rest

func (source) Check(context.Context, *wire.CheckRequest) error { return nil }

func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{planets}}, nil
}

func (source) Query(_ context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	if req.Table != planets.Name {
		return connector.UnknownEntity("no table %q; there is only planets", req.Table)
	}
	w := out.Begin(planets.Columns()) // nothing served: the SDK filters, sorts and cuts
	for i, name := range []string{"Mercury", "Venus", "Earth", "Mars"} {
		if err := w.Row(wire.Text(name), wire.Int([]int64{0, 0, 1, 2}[i])); err != nil {
			return err // the reader has enough, or is gone
		}
	}
	return nil
}

func main() {
	token, err := wire.NewToken(os.Getenv("PLATFORM_CONNECTOR_TOKEN")) // at least 32 characters
	handler, fault := connector.New(connector.Definition{Slug: "hello"}, source{}, token, nil)
	if err := errors.Join(err, fault); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(":8080", handler))
}
