// A connector over a GraphQL API. Each table is a query; the library asks for the fields
// that a request needs, pages, filters, waits and repeats. Search for FILL IN, and change
// what stands there.
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
	Slug: "my-shop",
	Credentials: []wire.CredentialField{{
		Key:   "accessToken",
		Label: "Access token",
		Type:  wire.CredentialPassword,
		Help:  "Settings, then *Apps*. A token that may only read is enough.",
	}},
}

// FILL IN the address of the API, and how it wants the token. For OAuth's client
// credentials there is restsource.ClientCredentials.
var api = restsource.API{
	Base:      "https://shop.example.com/graphql",
	Authorize: restsource.KeyHeader("X-Access-Token", "accessToken"),
}

// FILL IN the tables. The "*" of a query stands for the fields of a row, and pageInfo
// need not be written. A filter is a variable of the query. `go doc restsource.Table`
// explains every member, and restsource.Introspect finds columns in the API's schema.
var tables = []restsource.Table{{
	Name:        "orders",
	Description: "The orders of the shop, one row each.",
	Key:         []string{"id"},
	GraphQL: `query($first: Int!, $after: String, $status: String) {
		orders(first: $first, after: $after, status: $status) { nodes { * } } }`,
	Columns: []restsource.Column{
		{Name: "id", Type: wire.TypeString},
		{Name: "customer", Path: "customer.id", Type: wire.TypeReference},
		{Name: "status", Type: wire.TypeString},
		{Name: "total", Path: "total.amount", Type: wire.TypeDecimal},
		{Name: "updated", Path: "updatedAt", Type: wire.TypeDatetime},
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
