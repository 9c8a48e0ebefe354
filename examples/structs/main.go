// Command structs is a connector over a slice of Go structs.
//
//	go run ./examples/structs
package main

import (
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

// Order is a row: tags say what Go's types cannot.
type Order struct {
	_       struct{}        `description:"One order of one customer"`
	ID      int64           `connector:"id,pk"`
	Total   decimal.Decimal `connector:"total,scale=2" description:"In euros, with tax"`
	Placed  time.Time       `connector:"placed_at,datetime,width=3"`
	Shipped *time.Time      `connector:"shipped_on,date"`
	Tags    []string        `connector:"tags"`
	Note    *string         `connector:"note"`
}

func main() {
	source, err := memsource.New([]memsource.Table{memsource.TableOf("orders", orders())}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := standalone.Run(connector.Definition{Slug: "structs"}, source, nil); err != nil {
		log.Fatal(err)
	}
}
