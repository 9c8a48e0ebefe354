package main

import (
	"context"
	"errors"
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

var errKey = errors.New("unknown API key")

// fetch returns the invoices of one customer of the key's account, as an API would; ""
// means all. The account of key-of-sloth is slow.
func fetch(ctx context.Context, credentials wire.Credentials, customer string) (found []invoice, err error) {
	account, known := accounts[credentials.Get("apiKey")]
	if !known {
		return nil, errKey
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(account.delay):
	}
	for _, i := range account.ledger {
		if customer == "" || i.customer == customer {
			found = append(found, i)
		}
	}
	return found, nil
}

// accounts stands for the bookkeeping of several companies.
var accounts = map[string]struct {
	delay  time.Duration
	ledger []invoice
}{
	"key-of-otter": {ledger: []invoice{
		{1, "Ada", "120.00", time.Date(2026, 1, 9, 0, 0, 0, 0, time.UTC)},
		{2, "Grace", "75.50", time.Time{}},
		{3, "Ada", "9.90", time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)},
	}},
	"key-of-sloth": {delay: time.Minute, ledger: []invoice{{1, "Edsger", "1200.00", time.Time{}}}},
}
