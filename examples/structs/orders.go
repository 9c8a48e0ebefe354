package main

import (
	"time"

	"github.com/shopspring/decimal"
)

// orders returns the rows: in a program of your own, what it has in memory.
func orders() []Order {
	placed := time.Date(2024, 5, 1, 10, 30, 0, 0, time.UTC)
	shipped := placed.AddDate(0, 0, 2)
	return []Order{
		{ID: 1, Total: decimal.RequireFromString("12.5"), Placed: placed, Shipped: &shipped, Tags: []string{"gift", "express"}},
		{ID: 2, Total: decimal.RequireFromString("99.90"), Placed: placed.Add(time.Hour), Tags: []string{}},
		{ID: 3, Total: decimal.RequireFromString("7"), Placed: placed.Add(25 * time.Hour), Note: new("Ring twice.")},
	}
}
