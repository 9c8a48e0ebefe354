// Package digits makes cells of numbers that are given as text, without losing a
// digit of them.
package digits

import (
	"errors"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ErrRange is the error for a number that cannot be spelled without an exponent.
var ErrRange = errors.New("a number too large or too small; have the upstream send it as text")

// IsText reports whether every cell of the type is the value's own text, as a
// string: a number there would change its spelling.
func IsText(t wire.Type) bool {
	switch t {
	case wire.TypeString, wire.TypeReference, wire.TypeJSON, wire.TypeArray:
		return true
	}
	return false
}

// Number returns the cell of a JSON number in a column of type t: text in a text
// column, a decimal in a decimal column or if a double cannot hold it, and else a
// number.
func Number(s string, t wire.Type) (wire.Value, error) {
	if IsText(t) {
		return wire.Text(s), nil
	}
	s, ok := plain(s)
	if !ok {
		return wire.Null(), ErrRange
	}
	if t != wire.TypeDecimal {
		short := s
		if strings.Contains(s, ".") {
			short = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
		}
		if i, err := strconv.ParseInt(short, 10, 64); err == nil {
			return wire.Int(i), nil
		}
		if f, err := strconv.ParseFloat(short, 64); err == nil && strconv.FormatFloat(f, 'f', -1, 64) == short {
			return wire.Float(f), nil
		}
	}
	v := wire.Decimal(s)
	return v, v.Err()
}

// plain returns a JSON number without exponent, its digits kept. It reports false
// if that takes too many zeros.
func plain(s string) (string, bool) {
	e := strings.IndexAny(s, "eE")
	if e < 0 {
		return s, true
	}
	exponent, err := strconv.ParseInt(s[e+1:], 10, 32)
	if err != nil {
		return "", false
	}
	digits, sign := s[:e], ""
	if strings.HasPrefix(digits, "-") {
		digits, sign = digits[1:], "-"
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	return PlacePoint(sign, whole+fraction, int64(len(whole))+exponent)
}

// maxZeros limits the zeros that spelling out an exponent adds: the exponents of
// doubles end at 308, and a few bytes must not grow to pages.
const maxZeros = 400

// PlacePoint returns the number whose decimal point stands behind so many of the
// digits; before the first one if that is negative. It reports false if that
// takes too many zeros.
func PlacePoint(sign, digits string, point int64) (string, bool) {
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
