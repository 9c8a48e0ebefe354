// Command hello is a whole connector: one table, with every filter, sort and window.
package main

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var planets = wire.Table{
	Name:              "planets",
	SourceDescription: "The rocky planets and their moons.",
	StoresRows:        true,
	PrimaryKey:        []string{"name"},
	Fields: []wire.Field{
		{Name: "name", Type: wire.TypeString, Unique: true},
		{Name: "moons", Type: wire.TypeNumber},
	},
}

var rows = [][]wire.Value{
	{wire.Text("Mercury"), wire.Int(0)},
	{wire.Text("Venus"), wire.Int(0)},
	{wire.Text("Earth"), wire.Int(1)},
	{wire.Text("Mars"), wire.Int(2)},
}

// source has the three methods that make a connector.
type source struct{}

func (source) Check(context.Context, *wire.CheckRequest) error { return nil }

func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{planets}}, nil
}

// Query offers every row. The library filters, sorts and cuts the window.
func (source) Query(_ context.Context, req *connector.Query, out *connector.Rows) error {
	if req.Table != planets.Name {
		return connector.UnknownEntity("no table %q; there is only planets", req.Table)
	}
	w := out.Begin(planets.Columns())
	for _, row := range rows {
		if err := w.Row(row...); err != nil {
			return err // the reader has enough, or is gone
		}
	}
	return nil
}

// main prints the connector's URL, its token and requests to paste, and serves.
func main() {
	standalone.Main(connector.Definition{Slug: "hello"}, source{}, nil)
}
