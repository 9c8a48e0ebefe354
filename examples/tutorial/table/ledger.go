package main

import "time"

// invoice is what the bookkeeping keeps of an invoice.
type invoice struct {
	id       int64
	customer string
	total    string // as it is printed on the invoice
	paid     time.Time
}

// ledger stands for the bookkeeping.
var ledger = []invoice{
	{1, "Ada", "120.00", time.Date(2026, 1, 9, 0, 0, 0, 0, time.UTC)},
	{2, "Grace", "75.50", time.Time{}},
	{3, "Ada", "9.90", time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)},
	{4, "Edsger", "1200.00", time.Time{}},
}
