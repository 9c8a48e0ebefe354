// A connector over Go structs that the program holds in memory. It serves every part of
// the protocol as it is. Search for FILL IN, and change what stands there.
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
// cannot. The platform uses the descriptions to understand the data. A pointer may be
// nil, which is null.
//
// FILL IN the values that you have; rowmap.Struct explains the tags.
type Order struct {
	_        struct{}        `description:"The orders of the web shop, one row each."`
	ID       int64           `connector:"id,pk"`
	Customer string          `connector:"customer" description:"The customer's first name."`
	Total    decimal.Decimal `connector:"total,scale=2" description:"In euros, with tax."` // money is never a float
	Placed   time.Time       `connector:"placed,datetime,width=3"`                         // with milliseconds
	Shipped  *time.Time      `connector:"shipped_on,date"`
	Paid     bool            `connector:"paid"`
	Tags     []string        `connector:"tags"`
	Note     *string         `connector:"note"`
}

// newSource returns the source. Add tables here; declare the keys that link them as
// ForeignKeys.
func newSource() (connector.Source, error) {
	table, err := memsource.TableOf("orders", orders())
	if err != nil {
		return nil, err
	}
	return memsource.New([]memsource.Table{table}, nil)
}

func main() {
	source, err := newSource()
	if err != nil {
		log.Fatal(err)
	}
	standalone.Main(definition, source, nil)
}
