package connector

import (
	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/digits"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Decimal returns a cell with the digits of d, its scale kept: a value read as
// 12.50 crosses as "12.50". A decimal that needs more than 400 zeros beside its
// own digits, such as 1e500, fails the row.
func Decimal(d decimal.Decimal) wire.Value {
	text, _ := decimalDigits(d)
	return wire.Decimal(text) // "" is not a decimal, and fails the row
}

// NullDecimal returns the cell of a decimal that may be null; see [Decimal].
func NullDecimal(d decimal.NullDecimal) wire.Value {
	if !d.Valid {
		return wire.Null()
	}
	return Decimal(d.Decimal)
}

// decimalDigits returns d as plain decimal text. It does not use d.String, which
// drops trailing zeros or not as a global variable says.
func decimalDigits(d decimal.Decimal) (text string, ok bool) {
	coefficient := d.Coefficient()
	sign := ""
	if coefficient.Sign() < 0 {
		sign = "-"
	}
	all := coefficient.Abs(coefficient).String()
	return digits.PlacePoint(sign, all, int64(len(all))+int64(d.Exponent()))
}
