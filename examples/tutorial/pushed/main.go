// Command pushed is the second chapter of docs/tutorial.md: the upstream filters.
package main

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var definition = connector.Definition{Slug: "ledger"}

var invoices = wire.Table{
	Name:              "invoices",
	SourceDescription: "The invoices that were sent, one row each.",
	StoresRows:        true,
	PrimaryKey:        []string{"id"},
	Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber, Unique: true},
		{Name: "customer", Type: wire.TypeString},
		{Name: "total", Type: wire.TypeDecimal, SourceDescription: "In euros, with tax."},
		{Name: "paid", Type: wire.TypeDate, Nullable: true, SourceDescription: "Empty until it is paid."},
	},
}

type source struct{}

// Check reports whether the tenant's credentials are good. This connector has no credentials yet.
func (source) Check(context.Context, *wire.CheckRequest) error { return nil }

// Discover returns the tables that the tenant can read.
func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{invoices}}, nil
}

// Query asks the ledger for one customer if the request allows it.
func (source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if req.Table != invoices.Name {
		return connector.UnknownEntity("no table %q; there is only invoices", req.Table)
	}
	found, err := fetch(ctx, customer(req.Where))
	if err != nil {
		return err
	}
	w := out.Begin(invoices.Columns())
	for _, i := range found {
		if err := w.Row(i.cells()...); err != nil {
			return err
		}
	}
	return nil
}

// customer returns the customer whose invoices are all that the request can match, or
// "" for any. All filters of And hold for every row that is wanted, so one of them may
// narrow what is fetched. Those of Or may not.
func customer(where wire.Where) string {
	for _, f := range where.And {
		if f.Field == "customer" && f.Op == wire.OpEq {
			return f.Value.Text()
		}
	}
	return ""
}

func main() {
	standalone.Main(definition, source{}, nil)
}
