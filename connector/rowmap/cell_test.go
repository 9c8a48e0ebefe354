package rowmap_test

import (
	"math"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestDecimal checks that a cell keeps the digits and the scale of a
// decimal.Decimal, and does not obey the package's global settings.
func TestDecimal(t *testing.T) {
	trailing := decimal.TrimTrailingZeros
	decimal.TrimTrailingZeros = true
	defer func() { decimal.TrimTrailingZeros = trailing }()
	type amounts struct {
		Plain       decimal.Decimal
		Valid, None decimal.NullDecimal
	}
	mapping, err := rowmap.Of[amounts]()
	require.NoError(t, err)
	cells := func(d decimal.Decimal) []wire.Value {
		return mapping.AppendRow(nil, &amounts{Plain: d, Valid: decimal.NewNullDecimal(d)})
	}
	long := "-123456789012345678901234567890.123456789012345678901234567890"
	for _, c := range []struct {
		d    decimal.Decimal
		want string
	}{
		{decimal.Decimal{}, "0"},
		{decimal.New(1250, -2), "12.50"},
		{decimal.New(-1250, -2), "-12.50"},
		{decimal.New(5, -3), "0.005"},
		{decimal.New(-5, -1), "-0.5"},
		{decimal.New(0, -2), "0.00"},
		{decimal.New(0, 3), "0"},
		{decimal.New(12, 3), "12000"},
		{decimal.New(7, 0), "7"},
		{decimal.RequireFromString(long), long},
		{decimal.RequireFromString("1.10").Add(decimal.RequireFromString("1.9")), "3.00"},
		{decimal.New(1, 400), "1" + strings.Repeat("0", 400)},
		{decimal.New(1, -401), "0." + strings.Repeat("0", 400) + "1"},
	} {
		row := cells(c.d)
		assert.NoError(t, row[0].Err(), c.want)
		assert.Equal(t, c.want, row[0].String())
		assert.Equal(t, wire.KindDecimal, row[0].Kind())
		assert.Equal(t, row[0], row[1])
		assert.True(t, row[2].IsNull())
	}
	for _, exponent := range []int32{401, 1 << 30, math.MaxInt32, -402, math.MinInt32} {
		row := cells(decimal.New(1, exponent))
		assert.Error(t, row[0].Err(), "1e%d", exponent)
		assert.Error(t, row[1].Err(), "1e%d", exponent)
	}
}
