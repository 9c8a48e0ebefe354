// Command memsource is a template: a connector over values that the program holds
// in memory. It serves every part of the protocol as it is. Search for FILL IN, and
// change what stands there.
//
//	go run .    # prints its URL, a token, and curl lines to paste
//	go test .   # grades it with the conformance program
package main

import (
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

// FILL IN the slug: what the connector is called, such as acme-orders.
//
// KeysEnforced is right here: memsource checks that keys are unique when it starts.
var definition = connector.Definition{Slug: "my-orders", KeysEnforced: true}

// Order is one row of the table: the tags name its fields and say what Go's types
// cannot. The descriptions are what the platform understands the data by.
//
// FILL IN the values that you have; rowmap.Struct explains the tags.
type Order struct {
	_        struct{}        `description:"The orders of the web shop, one row each."`
	ID       int64           `connector:"id,pk"`
	Customer string          `connector:"customer" description:"The customer's first name."`
	Total    decimal.Decimal `connector:"total,scale=2" description:"In euros, with tax."` // money is never a float
	Placed   time.Time       `connector:"placed,datetime"`
	Paid     bool            `connector:"paid"`
}

// orders returns the rows.
//
// FILL IN where they come from. All tenants see the same rows: if each has rows of
// their own, use connector.Source, whose methods get the tenant's credentials.
func orders() []Order {
	day := time.Date(2026, 1, 1, 9, 30, 0, 0, time.UTC)
	return []Order{
		{ID: 1, Customer: "Ada", Total: decimal.RequireFromString("12.50"), Placed: day, Paid: true},
		{ID: 2, Customer: "Grace", Total: decimal.RequireFromString("999.99"), Placed: day.AddDate(0, 0, 1)},
		{ID: 3, Customer: "Ada", Total: decimal.RequireFromString("5.00"), Placed: day.AddDate(0, 1, 0), Paid: true},
	}
}

// newSource returns the source. Add tables here; declare the keys that link them as
// ForeignKeys.
func newSource() (connector.Source, error) {
	return memsource.New([]memsource.Table{memsource.TableOf("orders", orders())}, nil)
}

func main() {
	source, err := newSource()
	if err != nil {
		log.Fatal(err)
	}
	if err := standalone.Run(definition, source, nil); err != nil {
		log.Fatal(err)
	}
}
