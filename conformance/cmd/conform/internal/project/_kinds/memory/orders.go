package main

import (
	"time"

	"github.com/shopspring/decimal"
)

// orders returns the rows.
//
// FILL IN where they come from. All tenants see the same rows: if each has rows of
// their own, use connector.Source, whose methods get the tenant's credentials.
func orders() []Order {
	day := time.Date(2026, 1, 1, 9, 30, 0, 0, time.UTC)
	shipped := day.AddDate(0, 0, 2)
	return []Order{
		{ID: 1, Customer: "Ada", Total: decimal.RequireFromString("12.5"), Placed: day, Shipped: &shipped, Paid: true,
			Tags: []string{"gift", "express"}},
		{ID: 2, Customer: "Grace", Total: decimal.RequireFromString("999.99"), Placed: day.AddDate(0, 0, 1), Tags: []string{}},
		{ID: 3, Customer: "Ada", Total: decimal.RequireFromString("5"), Placed: day.AddDate(0, 1, 0), Paid: true,
			Note: new("Ring twice.")},
	}
}
