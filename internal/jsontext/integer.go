package jsontext

import (
	"strconv"
	"strings"
)

// maxDigits is the number of digits up to which ExactInteger reads an integer.
const maxDigits = 18

// ExactInteger returns the value of a JSON number, and whether it is an integer
// of at most 18 digits. It decides by the exact value: 3e4 and 5.0 are integers.
// Its time grows with the length of the text and not with the exponent.
func ExactInteger(raw string) (n int64, ok bool) {
	if len(raw) <= maxDigits {
		if n, err := strconv.ParseInt(raw, 10, 64); err == nil {
			return n, true
		}
	}
	negative, significant, zeros := plain(raw)
	if significant == "" {
		return 0, true
	}
	if zeros < 0 || zeros > int64(maxDigits-len(significant)) {
		return 0, false
	}
	n, err := strconv.ParseInt(significant+strings.Repeat("0", int(zeros)), 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}

// plain returns a JSON number as its digits, without zeros around them, and the number of
// zeros behind them: below 0, so many of the digits are behind the point. Zero has no digits
// and no sign.
func plain(raw string) (negative bool, digits string, zeros int64) {
	mantissa, exponent := raw, "0"
	if i := strings.IndexAny(raw, "eE"); i >= 0 {
		mantissa, exponent = raw[:i], raw[i+1:]
	}
	mantissa, negative = strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := strings.TrimLeft(whole+fraction, "0")
	digits = strings.TrimRight(all, "0")
	if digits == "" {
		return false, "", 0
	}
	// For an exponent out of range, ParseInt returns the bound, which is still
	// far beyond the length of any text.
	scale, _ := strconv.ParseInt(exponent, 10, 60)
	return negative, digits, scale - int64(len(fraction)-len(all)+len(digits))
}
