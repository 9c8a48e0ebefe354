// Command tenants is the third chapter of docs/tutorial.md: each tenant has an account.
package main

import (
	"context"
	"errors"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var definition = connector.Definition{
	Slug: "ledger",
	Credentials: []wire.CredentialField{{
		Key:   "apiKey",
		Label: "API key",
		Type:  wire.CredentialPassword,
		Help:  "Settings, then *API keys*.",
	}},
}

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

// Check reports whether the tenant's credentials are good. A person at a form reads its error.
func (source) Check(ctx context.Context, req *wire.CheckRequest) error {
	_, err := fetch(ctx, req.Credentials, "nobody")
	if errors.Is(err, errKey) {
		return connector.CheckFailed("The ledger does not know this API key. Make one under Settings, API keys.")
	}
	return err
}

// Discover returns the tables that the tenant can read.
func (source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{invoices}}, nil
}

// Query asks the ledger for one customer if the request allows it.
func (source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if req.Table != invoices.Name {
		return connector.UnknownEntity("no table %q; there is only invoices", req.Table)
	}
	found, err := fetch(ctx, req.Credentials, customer(req.Where))
	if errors.Is(err, errKey) {
		return connector.BadRequest("the ledger does not know the API key")
	}
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
