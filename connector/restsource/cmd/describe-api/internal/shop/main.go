// Command shop is the output of describe-api for testdata/shop.yaml, completed by hand. Its
// test runs it against a server and grades it.
//
// Command corner-shop is a connector to "Corner Shop API". It was drafted from a description
// (OpenAPI 3.1.0), and is yours to edit.
//
// The compiler stops at each fillIn: the description does not say it. A TODO is left for you to
// decide. A Guess was decided from names alone: compare it with the API.
package main

import (
	"log"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// definition names the connector and what each tenant enters.
var definition = connector.Definition{
	Slug: "corner-shop",
	Credentials: []wire.CredentialField{
		{Key: "token", Label: "Access token", Type: wire.CredentialPassword, Help: "A token of the *settings*"},
	},
}

// api says how the API is reached.
var api = restsource.API{
	Base:      "https://api.shop.example/v2",
	Authorize: restsource.Bearer("token"),
	// Guess: this endpoint refuses wrong credentials.
	Check: "/me",
}

// tables are the endpoints that list rows.
var tables = []restsource.Table{
	{
		Name:        "orders",
		Description: "All orders of the shop",
		Path:        "/orders",
		Rows:        "data",
		// Guess: id is unique among the rows of one list; its name is usual for one.
		Key: []string{"id"},
		// Guess: paging.next_cursor of the answer is sent as after to get the next page.
		Pages: restsource.Pages{By: restsource.PagingCursor, Param: "after", Next: "paging.next_cursor", SizeParam: "limit", Size: 100},
		Columns: []restsource.Column{
			{Name: "id", Type: wire.TypeNumber, NotNull: true, Description: "The number on the invoice"},
			{Name: "status", Type: wire.TypeString, NotNull: true},
			// Guess: text with a decimal number, by its pattern.
			{Name: "total", Type: wire.TypeDecimal, NotNull: true},
			{Name: "weight", Type: wire.TypeDecimal},
			{Name: "customer", Type: wire.TypeJSON, NotNull: true, Description: "Who ordered"},
			{Name: "customer_id", Path: "customer.id", Type: wire.TypeNumber, NotNull: true},
			{Name: "tags", Type: wire.TypeArray},
			{Name: "created_at", Type: wire.TypeDatetime},
			{Name: "due", Type: wire.TypeDate},
			{Name: "note", Type: wire.TypeString},
		},
		// Guess: columns are named after the tables that they refer to.
		ForeignKeys: []wire.ForeignKey{
			{Field: "customer_id", TargetTable: "customers", TargetField: "id"},
		},
		// Guess: parameters select by the columns of the same names. Each answer is filtered again.
		Filters: []restsource.Param{
			// Guess: created_after is a bound of created_at.
			{Column: "created_at", Op: wire.OpGt, Name: "created_after", Exact: false},
			{Column: "status", Op: wire.OpEq, Name: "status", Exact: false},
			// Guess: min_total is a bound of total.
			{Column: "total", Op: wire.OpGte, Name: "min_total", Exact: false},
		},
		// Not used: the parameters sort.
	},
	{
		Name:        "customers",
		Description: "The customers",
		Path:        "/customers",
		// Guess: id is unique among the rows of one list; its name is usual for one.
		Key: []string{"id"},
		// Guess: the header X-Total-Count has the exact number of rows in all pages.
		Pages:       restsource.Pages{By: restsource.PagingPage, Param: "page", SizeParam: "per_page", Size: 50},
		TotalHeader: "X-Total-Count",
		Columns: []restsource.Column{
			{Name: "id", Type: wire.TypeNumber, NotNull: true},
			{Name: "name", Type: wire.TypeString, NotNull: true},
			{Name: "email", Type: wire.TypeString},
			{Name: "address", Type: wire.TypeJSON},
		},
	},
	{
		Name:        "shipments",
		Description: "Parcels",
		Path:        "/shipments",
		// Guess: id is unique among the rows of one list; its name is usual for one.
		Key:   []string{"id"},
		Pages: restsource.Pages{By: restsource.PagingLink, SizeParam: "limit", Size: 200},
		Columns: []restsource.Column{
			{Name: "id", Type: wire.TypeString, NotNull: true},
			{Name: "order_id", Type: wire.TypeNumber, NotNull: true},
			// Guess: seconds since 1970, by its format unix-time.
			{Name: "sent", Type: wire.TypeDatetime, Convert: restsource.Unix(time.Second)},
		},
		// Guess: columns are named after the tables that they refer to.
		ForeignKeys: []wire.ForeignKey{
			{Field: "order_id", TargetTable: "orders", TargetField: "id"},
		},
	},
	{
		Name:        "stock",
		Description: "What is in the warehouses",
		Path:        "/stock",
		Query:       "archived=any",
		Key:         []string{"sku", "warehouse"},
		// Guess: all rows come in one answer: the description has no parameter of pages.
		Columns: []restsource.Column{
			{Name: "sku", Type: wire.TypeString, NotNull: true},
			{Name: "warehouse", Type: wire.TypeString, NotNull: true},
			{Name: "amount", Type: wire.TypeNumber},
			{Name: "archived", Type: wire.TypeBoolean},
		},
	},
	{
		Name:        "order_lines",
		Description: "The lines of an order",
		// Guess: {order_id} is the column id of orders.
		Path:   "/orders/{id}/lines",
		Parent: "orders",
		// Guess: id is unique among the rows of one list; its name is usual for one.
		Key: []string{"order_id", "id"},
		// Guess: all rows come in one answer: the description has no parameter of pages.
		Columns: []restsource.Column{
			{Name: "order_id", OfParent: "id"},
			{Name: "id", Type: wire.TypeNumber, NotNull: true},
			{Name: "sku", Type: wire.TypeString, NotNull: true},
			{Name: "amount", Type: wire.TypeNumber, NotNull: true},
			{Name: "gift", Type: wire.TypeBoolean},
		},
	},
}

func main() {
	source, err := restsource.New(api, tables, nil)
	if err != nil {
		log.Fatal(err)
	}
	standalone.Main(definition, source, nil)
}
