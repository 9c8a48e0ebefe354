package sqlengine

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Decoder returns Decode or, if that is nil, the decoder of the column's Type and
// Class. It makes a cell of what drivers return: int64, float64, bool, []byte, string
// or time.Time, depending on the driver as much as on the column. It copies bytes,
// which are the driver's own. A Decode of your own can call the Decoder of a column
// without one for the values that it does not treat itself.
func (c *Column) Decoder() func(driver any) (wire.Value, error) {
	switch {
	case c.Decode != nil:
		return c.Decode
	case c.Type == wire.TypeJSON, c.Type == wire.TypeArray:
		return decodeJSON
	case c.Type == wire.TypeDecimal:
		return decodeDecimal
	case c.Type == wire.TypeBoolean:
		return decodeBoolean
	case c.Type == wire.TypeDate:
		return decodeDate
	case c.Type == wire.TypeDatetime:
		return decodeDatetime(c.Precision)
	case c.Type == wire.TypeNumber && c.Class == ClassFloat && c.Single:
		return decodeSingle
	case c.Type == wire.TypeNumber && c.Class == ClassFloat:
		return decodeFloat
	case c.Type == wire.TypeNumber:
		return decodeInteger
	case c.Class == ClassBytes:
		return decodeBytes
	}
	return decodeText
}

// unexpected returns the error for a value that a driver should not return. It
// names the type and never the value.
func unexpected(driver any, want string) (wire.Value, error) {
	return wire.Null(), fmt.Errorf("the driver returned a %T where %s was expected", driver, want)
}

// driverText returns what a driver returned as text, or as an integer.
func driverText(driver any) (text string, ok bool) {
	switch v := driver.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}

// decodeText reads text.
func decodeText(driver any) (wire.Value, error) {
	s, ok := driverText(driver)
	if !ok {
		return unexpected(driver, "text")
	}
	return wire.Text(s), nil
}

// decodeInteger reads an integer of any size.
func decodeInteger(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case int64:
		return wire.Int(v), nil
	case uint64:
		return wire.Uint(v), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return wire.Int(int64(v)), nil
		}
	}
	s, _ := driverText(driver)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return wire.Int(n), nil
	}
	if !terms.IsDecimal(s) {
		return unexpected(driver, "an integer")
	}
	return wire.Decimal(s), nil
}

// decodeDecimal reads a decimal from its digits, and keeps its scale.
func decodeDecimal(driver any) (wire.Value, error) {
	s, ok := driverText(driver)
	if !ok {
		return unexpected(driver, "the digits of a decimal")
	}
	return wire.Decimal(s), nil
}

// decodeFloat reads a float.
func decodeFloat(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case float64:
		return wire.Float(v), nil
	case float32:
		return wire.Float32(v), nil
	}
	if s, ok := driverText(driver); ok {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return wire.Float(f), nil
		}
	}
	return unexpected(driver, "a float")
}

// decodeSingle reads a float of 32 bits, which many drivers return as the float64 that
// it is exactly.
func decodeSingle(driver any) (wire.Value, error) {
	v, err := decodeFloat(driver)
	if _, narrow := driver.(float32); narrow || err != nil || v.Kind() != wire.KindFloat {
		return v, err
	}
	return wire.Float32(float32(v.Float64())), nil
}

// decodeBoolean reads a boolean, or an integer, of which 0 is false.
func decodeBoolean(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case bool:
		return wire.Bool(v), nil
	case int64:
		return wire.Bool(v != 0), nil
	}
	s, _ := driverText(driver)
	b, err := strconv.ParseBool(s)
	if err != nil {
		return unexpected(driver, "a boolean")
	}
	return wire.Bool(b), nil
}

// decodeDate reads a date.
func decodeDate(driver any) (wire.Value, error) {
	if at, ok := driver.(time.Time); ok {
		return wire.Date(at), nil
	}
	s, _ := driverText(driver)
	at, ok := filter.Instant(wire.Text(s))
	if !ok {
		return unexpected(driver, "a date")
	}
	return wire.Date(at), nil
}

// decodeDatetime returns a decoder of datetimes whose column has so many digits
// of fraction. All cells have the same width. Text without an offset is UTC.
func decodeDatetime(digits int) func(any) (wire.Value, error) {
	width := (digits + 2) / 3 * 3
	return func(driver any) (wire.Value, error) {
		if at, ok := driver.(time.Time); ok {
			return wire.DatetimeWidth(at, width), nil
		}
		s, _ := driverText(driver)
		at, ok := filter.Instant(wire.Text(withT(s)))
		if !ok {
			return unexpected(driver, "a datetime")
		}
		return wire.DatetimeWidth(at, width), nil
	}
}

// withT replaces the blank between a date and a time by a T.
func withT(s string) string {
	if len(s) > 10 && s[10] == ' ' {
		return s[:10] + "T" + s[11:]
	}
	return s
}

// decodeBytes reads bytes as base64.
func decodeBytes(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case []byte:
		return wire.Bytes(v), nil
	case string:
		return wire.Text(base64.StdEncoding.EncodeToString([]byte(v))), nil
	}
	return unexpected(driver, "bytes")
}

// decodeJSON reads JSON text, and makes it compact.
func decodeJSON(driver any) (wire.Value, error) {
	s, ok := driverText(driver)
	if !ok {
		return unexpected(driver, "JSON text")
	}
	return wire.JSON(s), nil
}
