package filesource

import (
	"math"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A shape is what the cells of a column become: values of one type, with one
// width of datetimes.
type shape struct {
	typ    wire.Type
	digits int // of a datetime's fraction: 0, 3, 6 or 9
}

// value converts a cell to the column's type. ok is false if the cell does not
// fit the type. An inferred shape fits every cell of its column. A shape that a
// sidecar declares accepts a little more than inference would guess: numbers
// with a plus sign, leading zeros or an exponent, and 1 and 0 as booleans.
func (s shape) value(c raw) (v wire.Value, ok bool) {
	if c.kind == rawNull {
		return wire.Null(), true
	}
	switch s.typ {
	case wire.TypeNumber:
		return number(c)
	case wire.TypeDecimal:
		if !c.scalar() || !wire.IsDecimal(c.text) {
			return wire.Null(), false
		}
		return wire.Decimal(canonical(c.text)), true // with its trailing zeros
	case wire.TypeBoolean:
		return boolean(c)
	case wire.TypeDate, wire.TypeDatetime:
		return s.instant(c)
	case wire.TypeArray:
		if c.kind == rawPlain && !(strings.HasPrefix(strings.TrimLeft(c.text, " \t"), "[") && strictJSON(c.text)) {
			return wire.Null(), false
		}
		return wire.JSON(c.text), c.kind == rawPlain || c.kind == rawArray
	case wire.TypeJSON:
		return jsonText(c)
	}
	if c.kind == rawArray || c.kind == rawObject {
		return wire.JSON(c.text), true // compact JSON text
	}
	return wire.Text(c.text), true
}

// jsonText converts a cell to JSON text. A CSV cell holds such text; a member of
// an object is such a value.
func jsonText(c raw) (wire.Value, bool) {
	switch c.kind {
	case rawPlain:
		if !strictJSON(c.text) {
			return wire.Null(), false
		}
	case rawText:
		quoted, err := jsontext.AppendString(nil, c.text)
		return wire.Text(string(quoted)), err == nil
	}
	return wire.JSON(c.text), true
}

func boolean(c raw) (wire.Value, bool) {
	isBool := c.kind == rawPlain || c.kind == rawBool
	switch c.text {
	case "true", "TRUE", "True", "1":
		return wire.Bool(true), isBool
	case "false", "FALSE", "False", "0":
		return wire.Bool(false), isBool
	}
	return wire.Null(), false
}

// number converts a cell to an exact integer of any size, or to a fraction: a
// float if the float has the same digits, else the digits themselves.
func number(c raw) (wire.Value, bool) {
	if !c.scalar() {
		return wire.Null(), false
	}
	if !wire.IsDecimal(c.text) {
		if !hasExponent(c.text) {
			return wire.Null(), false
		}
		f, err := strconv.ParseFloat(c.text, 64)
		if err != nil {
			return wire.Null(), false // beyond the doubles
		}
		return floatOrInt(f), true
	}
	plain := canonical(c.text)
	if !strings.Contains(plain, ".") {
		if i, err := strconv.ParseInt(plain, 10, 64); err == nil {
			return wire.Int(i), true
		}
		return wire.Decimal(plain), true
	}
	if f, err := strconv.ParseFloat(plain, 64); err == nil {
		var buf [32]byte
		exact := strconv.AppendFloat(buf[:0], f, 'f', -1, 64)
		if string(exact) == strings.TrimRight(strings.TrimRight(plain, "0"), ".") {
			return floatOrInt(f), true
		}
	}
	return wire.Decimal(plain), true
}

func floatOrInt(f float64) wire.Value {
	if f == math.Trunc(f) && math.Abs(f) <= wire.MaxSafeInteger {
		return wire.Int(int64(f))
	}
	return wire.Float(f)
}

// canonical removes the plus sign and leading zeros of plain decimal text.
func canonical(plain string) string {
	digits := strings.TrimPrefix(plain, "+")
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		digits = digits[1:]
	}
	if len(sign)+len(digits) == len(plain) {
		return plain
	}
	return sign + digits
}

// hasExponent reports whether s is plain decimal text with an exponent, as
// JSON writes it.
func hasExponent(s string) bool {
	at := strings.IndexAny(s, "eE")
	if at < 0 || !wire.IsDecimal(s[:at]) {
		return false
	}
	return wire.IsDecimal(s[at+1:]) && !strings.Contains(s[at+1:], ".")
}

// instant converts a cell to a date or a datetime.
func (s shape) instant(c raw) (wire.Value, bool) {
	at, ok := parseInstant(c.text)
	switch {
	case !ok || !c.textual():
		return wire.Null(), false
	case s.typ == wire.TypeDate:
		return wire.Date(at.time), at.bare
	}
	return wire.DatetimeWidth(at.time, s.digits), at.digits <= s.digits
}
