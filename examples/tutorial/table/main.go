// Command table is the first chapter of docs/tutorial.md: one table.
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

// Query writes the rows of a table. The library filters, sorts and cuts them.
func (source) Query(_ context.Context, req *connector.Query, out *connector.Rows) error {
	if req.Table != invoices.Name {
		return connector.UnknownEntity("no table %q; there is only invoices", req.Table)
	}
	w := out.Begin(invoices.Columns())
	for _, i := range ledger {
		paid := wire.Null()
		if !i.paid.IsZero() {
			paid = wire.Date(i.paid)
		}
		if err := w.Row(wire.Int(i.id), wire.Text(i.customer), wire.Decimal(i.total), paid); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	standalone.Main(definition, source{}, nil)
}
