// Command graphql is a connector over a GraphQL API: three related tables, an access
// token by client credentials, and throttling inside answers with the status 200. The
// API is a stand-in in the same process; for a real one, change API.Base and leave
// Options.Transport out.
//
//	go run -C examples/graphql .
package main

import (
	"context"
	"log"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/examples/graphql/standin"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var definition = connector.Definition{
	Slug: "graph-shop",
	Credentials: []wire.CredentialField{
		{Key: "clientId", Label: "Client id", Type: wire.CredentialText},
		{Key: "clientSecret", Label: "Client secret", Type: wire.CredentialPassword},
	},
}

var api = restsource.API{
	Base: "https://shop.example/graphql",
	Authorize: restsource.ClientCredentials{
		TokenURL: "https://auth.shop.example/oauth/token", ID: "clientId", Secret: "clientSecret", Scopes: []string{"read"},
	}.Authorize(),
}

var tables = []restsource.Table{{
	Name: "customers", Description: "A customer of the shop", Key: []string{"id"},
	GraphQL: `query($first: Int!, $after: String) { customers(first: $first, after: $after) { nodes { * } } }`,
	Columns: []restsource.Column{
		{Name: "id", Type: wire.TypeString}, {Name: "name", Type: wire.TypeString}, {Name: "city", Path: "address.city", Type: wire.TypeString},
	},
}, {
	Name: "orders", Description: "An order, without its lines", Key: []string{"id"},
	GraphQL: `query($first: Int!, $after: String, $status: OrderStatus, $since: String) {
		orders(first: $first, after: $after, status: $status, updatedSince: $since) { nodes { * } } }`,
	Columns: []restsource.Column{
		{Name: "id", Type: wire.TypeString},
		{Name: "customer", Path: "customer.id", Type: wire.TypeString},
		{Name: "status", Type: wire.TypeString},
		{Name: "total", Select: "total(currency: EUR) { amount }", Path: "total.amount", Type: wire.TypeDecimal},
		{Name: "updated", Path: "updatedAt", Type: wire.TypeDatetime},
	},
	Filters: []restsource.Param{
		{Column: "status", Op: wire.OpEq, Name: "status"},
		{Column: "updated", Op: wire.OpGte, Name: "since"},
	},
	ForeignKeys: []wire.ForeignKey{{Field: "customer", TargetTable: "customers", TargetField: "id"}},
}, {
	Name: "lines", Description: "One line of an order", Parent: "orders", Key: []string{"order", "position"},
	GraphQL: `lines(first: 20) { nodes { * } }`,
	Columns: []restsource.Column{
		{Name: "order", OfParent: "id"}, {Name: "status", OfParent: "status"}, {Name: "position", Position: true},
		{Name: "sku", Type: wire.TypeString}, {Name: "quantity", Type: wire.TypeNumber},
	},
}}

func main() {
	source, err := restsource.New(api, tables, &restsource.Options{Transport: standin.New(standin.Budget{Most: 2000, Restore: 1000})})
	if err != nil {
		log.Fatal(err)
	}
	program := standalone.Program{Definition: definition, Source: source, Credentials: standin.North}
	if err := program.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
