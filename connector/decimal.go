package connector

import (
	"strings"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Decimal returns a cell with the digits of d, its scale kept: a value read as
// 12.50 crosses as "12.50". A decimal that needs more than 400 zeros beside its
// own digits, such as 1e500, fails the row.
func Decimal(d decimal.Decimal) wire.Value {
	digits, _ := decimalDigits(d)
	return wire.Decimal(digits) // "" is not a decimal, and fails the row
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
func decimalDigits(d decimal.Decimal) (digits string, ok bool) {
	coefficient := d.Coefficient()
	sign := ""
	if coefficient.Sign() < 0 {
		sign = "-"
	}
	text := coefficient.Abs(coefficient).String()
	return placePoint(sign, text, int64(len(text))+int64(d.Exponent()))
}

// maxZeros limits the zeros that spelling out an exponent adds: the exponents of
// doubles end at 308, and a few bytes must not grow to pages.
const maxZeros = 400

// placePoint returns the number whose decimal point stands behind so many of the
// digits; before the first one if that is negative. It reports false if that
// takes too many zeros.
func placePoint(sign, digits string, point int64) (string, bool) {
	if point < -maxZeros || point > int64(len(digits)+maxZeros) {
		return "", false
	}
	at := int(point)
	if at <= 0 {
		digits, at = strings.Repeat("0", 1-at)+digits, 1
	}
	if at > len(digits) {
		digits += strings.Repeat("0", at-len(digits))
	}
	text := strings.TrimLeft(digits[:at], "0")
	if text == "" {
		text = "0"
	}
	if at < len(digits) {
		text += "." + digits[at:]
	}
	return sign + text, true
}
