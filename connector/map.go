package connector

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Map offers one row given as decoded JSON. It finds each column's cell by name
// and spells it as the column's type asks. Numbers keep every digit; in a text
// column they keep the upstream's spelling. In a json or array column, a text
// that is not JSON becomes a JSON string. Missing members are null; others are
// ignored. Map also takes the Go types that rows often hold: all integers,
// time.Time, []byte, decimal.Decimal and decimal.NullDecimal, wire.Value.
//
// It is a convenience for sources that are themselves JSON APIs; Row is several
// times faster. Decode upstream answers with json.Decoder.UseNumber: a float64
// has already lost the digits of a large number.
func (w *RowWriter) Map(row map[string]any) error {
	values := make([]wire.Value, len(w.columns))
	for i, c := range w.columns {
		v, err := cell(row[c.Name], c.Type)
		if err != nil {
			w.refuse(faultf("column %s: %v", wire.QuoteName(c.Name), err))
			break
		}
		values[i] = v
	}
	return w.Row(values...)
}

// cell converts a Go value to a cell of a type. Errors never quote the value.
func cell(v any, t wire.Type) (wire.Value, error) {
	switch v := v.(type) {
	case nil:
		return wire.Null(), nil
	case wire.Value:
		return v, nil
	case string:
		return textCell(v, t), nil
	case bool:
		if isText(t) {
			return wire.Text(strconv.FormatBool(v)), nil
		}
		return wire.Bool(v), nil
	case json.Number:
		return numberCell(v.String(), t)
	case float64:
		return floatCell(v, 64, t)
	case float32:
		return floatCell(float64(v), 32, t)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return numberCell(fmt.Sprint(v), t)
	case decimal.Decimal:
		return decimalCell(v, t)
	case decimal.NullDecimal:
		if !v.Valid {
			return wire.Null(), nil
		}
		return decimalCell(v.Decimal, t)
	case time.Time:
		if t == wire.TypeDate {
			return wire.Date(v), nil
		}
		return wire.Datetime(v), nil
	case []byte:
		return wire.Bytes(v), nil
	case map[string]any, []any:
		return nestedCell(v)
	}
	return wire.Null(), fmt.Errorf("cannot convert %T to a cell; pass a wire.Value or a supported Go type", v)
}

// isText reports whether every cell of the type is the value's own text, as a
// string: a number there would change its spelling.
func isText(t wire.Type) bool {
	switch t {
	case wire.TypeString, wire.TypeReference, wire.TypeJSON, wire.TypeArray:
		return true
	}
	return false
}

// nestedCell returns compact JSON text. It does not escape for HTML, as
// json.Marshal does.
func nestedCell(v any) (wire.Value, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return wire.Null(), errors.New("a nested value cannot be encoded as JSON")
	}
	return wire.Text(strings.TrimSuffix(b.String(), "\n")), nil
}

// textCell keeps a text as it is, with two exceptions: dates cross in UTC, and in
// a JSON column a text that is not JSON becomes a JSON string.
func textCell(s string, t wire.Type) wire.Value {
	switch t {
	case wire.TypeDatetime:
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return wire.Datetime(at)
		}
	case wire.TypeDate:
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return wire.Date(at)
		}
	case wire.TypeJSON, wire.TypeArray:
		if v := wire.JSON(s); v.Err() == nil {
			return v
		}
		if quoted, err := jsontext.AppendString(nil, s); err == nil {
			return wire.Text(string(quoted))
		}
	}
	return wire.Text(s)
}

// floatCell returns a double in its shortest digits.
func floatCell(f float64, bits int, t wire.Type) (wire.Value, error) {
	if v := wire.Float(f); v.Err() != nil {
		return v, v.Err()
	}
	return numberCell(strconv.FormatFloat(f, 'f', -1, bits), t)
}

// decimalCell keeps the scale, except in a column of type number, where 12.50 is
// the JSON number 12.5.
func decimalCell(d decimal.Decimal, t wire.Type) (wire.Value, error) {
	digits, ok := decimalDigits(d)
	switch {
	case !ok:
		return wire.Null(), errRange
	case isText(t):
		return wire.Text(digits), nil
	case t == wire.TypeNumber:
		return numberCell(digits, t)
	}
	return wire.Decimal(digits), nil
}

var errRange = errors.New("a number too large or too small; have the upstream send it as text")

// numberCell returns a JSON number without losing a digit: as text in a text
// column, and as a decimal in a decimal column or if a double cannot hold it.
func numberCell(s string, t wire.Type) (wire.Value, error) {
	if isText(t) {
		return wire.Text(s), nil
	}
	s, ok := plainNumber(s)
	if !ok {
		return wire.Null(), errRange
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

// plainNumber returns a JSON number without exponent, its digits kept. It reports
// false if that takes too many zeros.
func plainNumber(s string) (string, bool) {
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
	return placePoint(sign, whole+fraction, int64(len(whole))+exponent)
}
