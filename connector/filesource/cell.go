package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shape is what a column's cells become.
type shape struct {
	typ    wire.Type
	digits int // of a datetime's fraction: 0, 3, 6 or 9
}

// value is the cell as the column's type spells it; ok is false when the cell
// does not fit the type. A shape that was inferred fits every cell of its
// column. One that a sidecar declares takes a little more than inference would
// dare to guess: numbers with a plus sign, leading zeros or an exponent, and 1
// and 0 as booleans.
func (s shape) value(c raw) (v wire.Value, ok bool) {
	if c.kind == rawNull {
		return wire.Null(), true
	}
	switch s.typ {
	case wire.TypeNumber:
		return number(c)
	case wire.TypeDecimal:
		return decimal(c)
	case wire.TypeBoolean:
		return boolean(c)
	case wire.TypeDate:
		return date(c)
	case wire.TypeDatetime:
		return s.datetime(c)
	case wire.TypeArray:
		if c.kind == rawPlain && !(strings.HasPrefix(strings.TrimLeft(c.text, " \t"), "[") && strictJSON(c.text)) {
			return wire.Null(), false
		}
		return wire.JSON(c.text), c.kind == rawPlain || c.kind == rawArray
	case wire.TypeJSON:
		return jsonText(c)
	}
	return text(c), true
}

// text is any cell as a string; an array or an object as compact JSON text.
func text(c raw) wire.Value {
	if c.kind == rawArray || c.kind == rawObject {
		return wire.JSON(c.text)
	}
	return wire.Text(c.text)
}

// jsonText is any cell as JSON text. A CSV cell holds such text; a member of an
// object is such a value.
func jsonText(c raw) (wire.Value, bool) {
	switch c.kind {
	case rawPlain:
		if !strictJSON(c.text) {
			return wire.Null(), false
		}
		return wire.JSON(c.text), true
	case rawText:
		quoted, err := jsontext.AppendString(nil, c.text)
		return wire.Text(string(quoted)), err == nil
	}
	return wire.JSON(c.text), true
}

func boolean(c raw) (wire.Value, bool) {
	switch c.text {
	case "true", "TRUE", "True", "1":
		return wire.Bool(true), c.kind == rawPlain || c.kind == rawBool
	case "false", "FALSE", "False", "0":
		return wire.Bool(false), c.kind == rawPlain || c.kind == rawBool
	}
	return wire.Null(), false
}

// number is an exact integer of any size, or a fraction: a float where the
// float has the very digits, else the digits themselves.
func number(c raw) (wire.Value, bool) {
	if c.kind == rawBool || c.kind == rawArray || c.kind == rawObject {
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

// decimal keeps the digits as they are, trailing zeros included.
func decimal(c raw) (wire.Value, bool) {
	if c.kind == rawBool || c.kind == rawArray || c.kind == rawObject || !wire.IsDecimal(c.text) {
		return wire.Null(), false
	}
	return wire.Decimal(canonical(c.text)), true
}

// canonical is plain decimal text without a plus sign and leading zeros.
func canonical(plain string) string {
	digits := strings.TrimPrefix(plain, "+")
	negative := strings.HasPrefix(digits, "-")
	if negative {
		digits = digits[1:]
	}
	n := 0
	for n+1 < len(digits) && digits[n] == '0' && digits[n+1] != '.' {
		n++
	}
	switch {
	case !negative:
		return digits[n:]
	case n == 0:
		return plain
	}
	return "-" + digits[n:]
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

func date(c raw) (wire.Value, bool) {
	if c.kind != rawPlain && c.kind != rawText {
		return wire.Null(), false
	}
	at, ok := parseInstant(c.text)
	if !ok || !at.bare {
		return wire.Null(), false
	}
	return wire.Date(at.time()), true
}

func (s shape) datetime(c raw) (wire.Value, bool) {
	if c.kind != rawPlain && c.kind != rawText {
		return wire.Null(), false
	}
	at, ok := parseInstant(c.text)
	if !ok || at.digits > s.digits {
		return wire.Null(), false
	}
	return wire.DatetimeWidth(at.time(), s.digits), true
}
