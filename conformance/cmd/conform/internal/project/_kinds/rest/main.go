// A connector over a REST API. It is declared, and the library pages, filters, waits and
// repeats. Search for FILL IN, and change what stands there.
//
//	go run .    # prints its URL, a token, and curl lines to paste
//	go test .   # grades it with the conformance program
package main

import (
	"context"
	"log"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// FILL IN the slug, and what a tenant types into the connect form. Help says where
// the vendor shows the value.
var definition = connector.Definition{
	Slug: "my-orders",
	Credentials: []wire.CredentialField{{
		Key:   "apiKey",
		Label: "API key",
		Type:  wire.CredentialPassword,
		Help:  "Settings, then *API keys*. A key that may only read is enough.",
	}},
}

// FILL IN the address of the API, how it wants the key, and a path that answers an
// error if the key is wrong.
var api = restsource.API{
	Base:      "https://api.example.com/v2",
	Authorize: restsource.KeyHeader("X-Api-Key", "apiKey"),
	Check:     "/orders",
}

// FILL IN the tables: for each the path, the member of the answer that holds the
// rows, how it pages, the columns, and the filters that the API takes as parameters.
// `go doc restsource.Table` explains every member.
var tables = []restsource.Table{{
	Name:        "orders",
	Description: "The orders of the web shop, one row each.",
	Path:        "/orders",
	Rows:        "data",
	Key:         []string{"id"},
	Pages:       restsource.Pages{By: restsource.PagingCursor, Param: "after", Next: "paging.next", SizeParam: "limit", Size: 100},
	Columns: []restsource.Column{
		{Name: "id", Type: wire.TypeNumber},
		{Name: "customer", Path: "customer.id", Type: wire.TypeReference},
		{Name: "status", Type: wire.TypeString},
		{Name: "total", Type: wire.TypeDecimal},
		{Name: "updated", Path: "updated_at", Type: wire.TypeDatetime},
	},
	// A filter that is pushed saves requests. The library applies it again, so an API
	// that reads it otherwise costs time and no wrong row.
	Filters: []restsource.Param{
		{Column: "status", Op: wire.OpEq, Name: "status"},
	},
}}

// newSource returns the source. Nil options ask the API over the network.
func newSource(options *restsource.Options) (connector.Source, error) {
	return restsource.New(api, tables, options)
}

// main serves the API that standin.go answers for.
//
// FILL IN: give newSource nil instead, and leave Credentials out. Then the connector
// asks the real API, and standin.go is the tests' alone: name it standin_test.go.
func main() {
	source, err := newSource(&restsource.Options{Transport: roundTrip(standIn)})
	if err != nil {
		log.Fatal(err)
	}
	program := standalone.Program{Definition: definition, Source: source, Credentials: demo}
	if err := program.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
