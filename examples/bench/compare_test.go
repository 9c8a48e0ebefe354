package main

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pairs are decimals as text, each with the one it is compared with.
var pairs = []struct{ name, a, b string }{
	{"money", "12345.67", "12345.70"},
	{"scales", "12345.6", "12345.600"},
	{"magnitudes", "9.99", "123456.78"},
	{"long", "123456789012345678901234567890.123456789", "123456789012345678901234567890.123456788"},
}

var compared10 int

// BenchmarkS10 compares two decimals that are text: a "row" here is a pair.
// "shopspring-parsed" parses its operands beforehand and is no rival, because cells
// come as text. It shows the cost of comparing without parsing.
func BenchmarkS10(b *testing.B) {
	const n = 5000
	for _, p := range pairs {
		b.Run(p.name, func(b *testing.B) {
			x, y := wire.Text(p.a), wire.Text(p.b)
			d, e := decimal.RequireFromString(p.a), decimal.RequireFromString(p.b)
			duel(b, n,
				side{"filter", func() {
					for range n {
						compared10, _ = filter.Compare(x, y, wire.TypeDecimal)
					}
				}},
				side{"shopspring", func() {
					for range n {
						d, _ := decimal.NewFromString(p.a)
						e, _ := decimal.NewFromString(p.b)
						compared10 = d.Cmp(e)
					}
				}},
				side{"shopspring-parsed", func() {
					for range n {
						compared10 = d.Cmp(e)
					}
				}})
		})
	}
}

func TestDecimalsCompareTheSame(t *testing.T) {
	for _, p := range pairs {
		order, ok := filter.Compare(wire.Text(p.a), wire.Text(p.b), wire.TypeDecimal)
		require.True(t, ok, p.name)
		require.Equal(t, decimal.RequireFromString(p.a).Cmp(decimal.RequireFromString(p.b)), order, p.name)
	}
}
