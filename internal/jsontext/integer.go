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
	mantissa, exponent := raw, "0"
	if i := strings.IndexAny(raw, "eE"); i >= 0 {
		mantissa, exponent = raw[:i], raw[i+1:]
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return 0, true
	}
	// For an exponent out of range, ParseInt returns the bound, which is still
	// far beyond the length of any text.
	scale, _ := strconv.ParseInt(exponent, 10, 60)
	zeros := scale - int64(len(fraction)-len(digits)+len(significant))
	if zeros < 0 || zeros > int64(maxDigits-len(significant)) {
		return 0, false
	}
	n, err := strconv.ParseInt(significant+strings.Repeat("0", int(zeros)), 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}
