package rowmap

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
		if textvalue.IsText(t) {
			return wire.Text(strconv.FormatBool(v)), nil
		}
		return wire.Bool(v), nil
	case json.Number:
		return textvalue.ParseNumber(v.String(), t)
	case float64:
		return floatCell(v, 64, t)
	case float32:
		return floatCell(float64(v), 32, t)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return textvalue.ParseNumber(fmt.Sprint(v), t)
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

// nestedCell returns compact JSON text. It does not escape for HTML, as
// json.Marshal does, and refuses text that encoding/json would replace [rule cell-4].
func nestedCell(v any) (wire.Value, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return wire.Null(), errors.New("a nested value cannot be encoded as JSON")
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if strings.Contains(text, `\ufffd`) && replacesText(reflect.ValueOf(v)) {
		return wire.Null(), errors.New("a nested value has text that is not valid UTF-8")
	}
	return wire.Text(text), nil
}

// replacesText reports whether encoding/json, which can encode v, spells some of its text
// as \ufffd because it is not valid UTF-8. JSON of a value's own may have that escape.
func replacesText(v reflect.Value) bool {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return false
	}
	own := v
	if v.CanAddr() {
		own = v.Addr()
	}
	if own.CanInterface() {
		switch own := own.Interface().(type) {
		case json.Marshaler:
			return false
		case encoding.TextMarshaler:
			text, _ := own.MarshalText()
			return !utf8.Valid(text)
		}
	}
	switch v.Kind() {
	case reflect.String:
		return !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return replacesText(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if replacesText(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if replacesText(key) || replacesText(value) {
				return true
			}
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if isEncoded(&f) && replacesText(value) {
				return true
			}
		}
	}
	return false
}

// textCell keeps a text as it is, with these exceptions: a datetime crosses in UTC,
// a date without the time behind it, and in a JSON column a text that is not JSON
// becomes a JSON string.
func textCell(s string, t wire.Type) wire.Value {
	switch t {
	case wire.TypeDatetime, wire.TypeDate:
	case wire.TypeJSON, wire.TypeArray:
		if v := wire.JSON(s); v.Err() == nil {
			return v
		}
		t = wire.TypeJSON // of which a quoted text is a value
	default:
		return wire.Text(s)
	}
	v, err := textvalue.Documents.Value(textvalue.Raw{Text: s, Kind: textvalue.Text}, t, textvalue.OwnWidth)
	if err != nil {
		return wire.Text(s)
	}
	return v
}

// floatCell returns a double in its shortest textvalue.
func floatCell(f float64, bits int, t wire.Type) (wire.Value, error) {
	if v := wire.Float(f); v.Err() != nil {
		return v, v.Err()
	}
	return textvalue.ParseNumber(strconv.FormatFloat(f, 'f', -1, bits), t)
}

// decimalCell keeps the scale, except in a column of type number, where 12.50 is
// the JSON number 12.5.
func decimalCell(d decimal.Decimal, t wire.Type) (wire.Value, error) {
	text, ok := decimalDigits(d)
	switch {
	case !ok:
		return wire.Null(), textvalue.ErrRange
	case textvalue.IsText(t):
		return wire.Text(text), nil
	case t == wire.TypeNumber:
		return textvalue.ParseNumber(text, t)
	}
	return wire.Decimal(text), nil
}

// decimalDigits returns d as plain decimal text, its scale kept. It reports false if
// that takes more than 400 zeros beside its own textvalue. It does not use d.String,
// which drops trailing zeros or not as a global variable says.
func decimalDigits(d decimal.Decimal) (text string, ok bool) {
	coefficient := d.Coefficient()
	sign := ""
	if coefficient.Sign() < 0 {
		sign = "-"
	}
	all := coefficient.Abs(coefficient).String()
	return textvalue.PlacePoint(sign, all, int64(len(all))+int64(d.Exponent()))
}
