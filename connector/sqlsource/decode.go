package sqlsource

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The decoders turn what drivers return into cells: int64, float64, bool,
// []byte, string or time.Time, depending on the driver as much as on the column.
// They copy bytes, which are the driver's own. A flavor picks one for
// Column.Decode, or brings its own.

// unexpected returns the error for a value that a driver should not return. It
// names the type and never the value.
func unexpected(driver any, want string) error {
	return fmt.Errorf("the driver returned a %T where %s was expected", driver, want)
}

// DecodeText reads text.
func DecodeText(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case string:
		return wire.Text(v), nil
	case []byte:
		return wire.Text(string(v)), nil
	case int64:
		return wire.Text(strconv.FormatInt(v, 10)), nil
	}
	return wire.Null(), unexpected(driver, "text")
}

// DecodeInteger reads an integer of any size.
func DecodeInteger(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case int64:
		return wire.Int(v), nil
	case uint64:
		return wire.Uint(v), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return wire.Int(int64(v)), nil
		}
	case []byte:
		return integerText(string(v))
	case string:
		return integerText(v)
	}
	return wire.Null(), unexpected(driver, "an integer")
}

func integerText(s string) (wire.Value, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return wire.Int(n), nil
	}
	if !wire.IsDecimal(s) {
		return wire.Null(), unexpected(s, "the digits of an integer")
	}
	return wire.Decimal(s), nil
}

// DecodeDecimal reads a decimal from its digits, and keeps its scale.
func DecodeDecimal(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case string:
		return wire.Decimal(v), nil
	case []byte:
		return wire.Decimal(string(v)), nil
	case int64:
		return wire.Decimal(strconv.FormatInt(v, 10)), nil
	}
	return wire.Null(), unexpected(driver, "the digits of a decimal")
}

// DecodeFloat reads a float.
func DecodeFloat(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case float64:
		return wire.Float(v), nil
	case float32:
		return wire.Float(float64(v)), nil
	case int64:
		return wire.Float(float64(v)), nil
	case []byte:
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return wire.Null(), unexpected(driver, "a float")
		}
		return wire.Float(f), nil
	case string:
		return DecodeFloat([]byte(v))
	}
	return wire.Null(), unexpected(driver, "a float")
}

// DecodeBoolean reads a boolean, or an integer, of which 0 is false.
func DecodeBoolean(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case bool:
		return wire.Bool(v), nil
	case int64:
		return wire.Bool(v != 0), nil
	case []byte:
		return DecodeBoolean(string(v))
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return wire.Bool(b), nil
		}
	}
	return wire.Null(), unexpected(driver, "a boolean")
}

// DecodeDate reads a date.
func DecodeDate(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case time.Time:
		return wire.Date(v), nil
	case []byte:
		return DecodeDate(string(v))
	case string:
		if t, ok := filter.Instant(wire.Text(v)); ok {
			return wire.Date(t), nil
		}
	}
	return wire.Null(), unexpected(driver, "a date")
}

// DecodeDatetime returns a decoder of datetimes whose column has so many digits
// of fraction. All cells have the same width. Text without an offset is UTC.
func DecodeDatetime(digits int) func(any) (wire.Value, error) {
	width := (digits + 2) / 3 * 3
	decode := func(s string) (wire.Value, error) {
		if len(s) > 10 && s[10] == ' ' {
			s = s[:10] + "T" + s[11:]
		}
		t, ok := filter.Instant(wire.Text(s))
		if !ok {
			return wire.Null(), unexpected(s, "a datetime")
		}
		return wire.DatetimeWidth(t, width), nil
	}
	return func(driver any) (wire.Value, error) {
		switch v := driver.(type) {
		case time.Time:
			return wire.DatetimeWidth(v, width), nil
		case []byte:
			return decode(string(v))
		case string:
			return decode(v)
		}
		return wire.Null(), unexpected(driver, "a datetime")
	}
}

// DecodeBytes reads bytes as base64.
func DecodeBytes(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case []byte:
		return wire.Bytes(v), nil
	case string:
		return wire.Text(base64.StdEncoding.EncodeToString([]byte(v))), nil
	}
	return wire.Null(), unexpected(driver, "bytes")
}

// DecodeUUID reads the text of a UUID, in lower case.
func DecodeUUID(driver any) (wire.Value, error) {
	v, err := DecodeText(driver)
	return wire.Text(strings.ToLower(v.Text())), err
}

// DecodeJSON reads JSON text, and makes it compact.
func DecodeJSON(driver any) (wire.Value, error) {
	switch v := driver.(type) {
	case string:
		return wire.JSON(v), nil
	case []byte:
		return wire.JSON(string(v)), nil
	}
	return wire.Null(), unexpected(driver, "JSON text")
}
