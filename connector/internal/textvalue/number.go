package textvalue

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

// ParseNumber returns the cell of a number in a column of type t: its text in a text
// column, a decimal in a decimal column or if a double cannot hold it, and else a
// number. Every digit is kept. The text is an optional sign, digits, optionally a dot
// and digits, optionally an exponent; leading zeros and a plus sign mean nothing.
func ParseNumber(text string, t wire.Type) (wire.Value, error) {
	if IsText(t) {
		return wire.Text(text), nil
	}
	return exact(text, t == wire.TypeDecimal)
}

// exact returns the number or the decimal that has the digits of the text.
func exact(text string, decimal bool) (wire.Value, error) {
	if !decimal {
		if v, ok := shortNumber(text); ok {
			return v, nil
		}
	}
	n, ok := splitNumber(text)
	if !ok {
		return wire.Null(), ErrMisfit
	}
	plain, ok := n.plain()
	if !ok {
		return wire.Null(), ErrRange
	}
	if decimal {
		return wire.Decimal(plain), nil
	}
	short := plain
	if strings.Contains(plain, ".") {
		short = strings.TrimSuffix(strings.TrimRight(plain, "0"), ".")
	}
	if !strings.Contains(short, ".") {
		if i, err := strconv.ParseInt(short, 10, 64); err == nil {
			return wire.Int(i), nil
		}
	} else {
		f, _ := strconv.ParseFloat(short, 64) // an infinity has other digits
		var buf [32]byte
		if len(short) <= len(".")+safeDigits || string(strconv.AppendFloat(buf[:0], f, 'f', -1, 64)) == short {
			return wire.Float(f), nil
		}
	}
	return wire.Decimal(plain), nil
}

// safeDigits is how many digits every double keeps: no two numbers of so many
// digits are the same double, so the shortest spelling of the double is the number.
const safeDigits = 15

// shortNumber returns the cell of a number that is spelled in few characters: an
// optional minus, digits, and optionally a dot and digits. It reports false for any
// other text.
//
// The digits as an integer and the power of ten are exact doubles, so their quotient is
// the double nearest to the number.
func shortNumber(text string) (v wire.Value, ok bool) {
	unsigned := strings.TrimPrefix(text, "-")
	dot := strings.IndexByte(unsigned, '.')
	if unsigned == "" || len(unsigned) > safeDigits || dot == 0 || dot == len(unsigned)-1 {
		return wire.Null(), false
	}
	n := int64(0)
	for i := range len(unsigned) {
		switch digit := unsigned[i] - '0'; {
		case digit <= 9:
			n = n*10 + int64(digit)
		case i != dot:
			return wire.Null(), false
		}
	}
	if len(unsigned) < len(text) {
		n = -n
	}
	fraction := 0
	if dot >= 0 {
		fraction = len(unsigned) - 1 - dot
	}
	for ; fraction > 0 && n%10 == 0; fraction-- {
		n /= 10
	}
	if fraction == 0 {
		return wire.Int(n), true
	}
	return wire.Float(float64(n) / powersOfTen[fraction]), true
}

var powersOfTen = [safeDigits]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// number is the text of a number, taken apart.
type number struct {
	text     string // all of it
	sign     string // a minus, or nothing
	mantissa string // digits, perhaps with a dot
	exponent string // with its sign
}

// splitNumber takes a number apart, and reports false for any other text.
func splitNumber(s string) (n number, ok bool) {
	n.text = s
	if strings.HasPrefix(s, "-") {
		n.sign, s = s[:1], s[1:]
	} else {
		s = strings.TrimPrefix(s, "+")
	}
	end := digits(s)
	if end == 0 {
		return n, false
	}
	if end < len(s) && s[end] == '.' {
		fraction := digits(s[end+1:])
		if fraction == 0 {
			return n, false
		}
		end += 1 + fraction
	}
	if n.mantissa = s[:end]; end == len(s) {
		return n, true
	}
	if s[end] != 'e' && s[end] != 'E' {
		return n, false
	}
	n.exponent = s[end+1:]
	unsigned := n.exponent
	if strings.HasPrefix(unsigned, "-") || strings.HasPrefix(unsigned, "+") {
		unsigned = unsigned[1:]
	}
	return n, unsigned != "" && digits(unsigned) == len(unsigned)
}

// digits returns the number of digits at the beginning of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}

// plain returns the number without exponent, plus sign and leading zeros, its digits
// kept. It reports false if that takes too many zeros.
func (n number) plain() (string, bool) {
	if n.exponent != "" {
		exponent, _ := strconv.ParseInt(n.exponent, 10, 32) // the bound, if it is out of range
		whole, fraction, _ := strings.Cut(n.mantissa, ".")
		return PlacePoint(n.sign, whole+fraction, int64(len(whole))+exponent)
	}
	m := n.mantissa
	for len(m) > 1 && m[0] == '0' && m[1] != '.' {
		m = m[1:]
	}
	if len(n.sign)+len(m) == len(n.text) {
		return n.text, true // joining a minus to the digits would allocate
	}
	return n.sign + m, true
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
	at := max(0, int(point))
	digits = strings.Repeat("0", at-int(point)) + digits
	digits += strings.Repeat("0", max(0, at-len(digits)))
	text := strings.TrimLeft(digits[:at], "0")
	if text == "" {
		text = "0"
	}
	if at < len(digits) {
		text += "." + digits[at:]
	}
	return sign + text, true
}
