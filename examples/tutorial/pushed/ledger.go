package main

import (
	"context"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// invoice is what the bookkeeping keeps of an invoice.
type invoice struct {
	id       int64
	customer string
	total    string // as it is printed on the invoice
	paid     time.Time
}

// cells returns the row of an invoice.
func (i invoice) cells() []wire.Value {
	paid := wire.Null()
	if !i.paid.IsZero() {
		paid = wire.Date(i.paid)
	}
	return []wire.Value{wire.Int(i.id), wire.Text(i.customer), wire.Decimal(i.total), paid}
}

// fetch returns the invoices of one customer, as an API would; "" means all.
func fetch(_ context.Context, customer string) (found []invoice, err error) {
	for _, i := range ledger {
		if customer == "" || i.customer == customer {
			found = append(found, i)
		}
	}
	return found, nil
}

// ledger stands for the bookkeeping.
var ledger = []invoice{
	{1, "Ada", "120.00", time.Date(2026, 1, 9, 0, 0, 0, 0, time.UTC)},
	{2, "Grace", "75.50", time.Time{}},
	{3, "Ada", "9.90", time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)},
	{4, "Edsger", "1200.00", time.Time{}},
}
