package duckdb

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// decode converts what the driver returns to a cell.
func decode(value any) (wire.Value, error) {
	switch v := value.(type) {
	case string:
		return wire.Text(v), nil
	case bool:
		return wire.Bool(v), nil
	case int8:
		return wire.Int(int64(v)), nil
	case int16:
		return wire.Int(int64(v)), nil
	case int32:
		return wire.Int(int64(v)), nil
	case int64:
		return wire.Int(v), nil
	case uint8:
		return wire.Int(int64(v)), nil
	case uint16:
		return wire.Int(int64(v)), nil
	case uint32:
		return wire.Int(int64(v)), nil
	case uint64:
		return wire.Uint(v), nil
	case float64:
		return wire.Float(v), nil
	case time.Time:
		return wire.Date(v), nil
	case *big.Int:
		return integer(v), nil
	case driver.Decimal:
		return scaled(v.Value, int(v.Scale)), nil
	}
	return wire.Null(), fmt.Errorf("the driver returned a %T, which no cell is made of", value)
}

// decodeSingle is the library's reader of floats of 32 bits.
var decodeSingle = (&sqlengine.Column{Type: wire.TypeNumber, Class: sqlengine.ClassFloat, Single: true}).Decoder()

// integer returns an integer of any size.
func integer(n *big.Int) wire.Value {
	if n.IsInt64() {
		return wire.Int(n.Int64())
	}
	return wire.Decimal(n.String())
}

// scaled returns the decimal n / 10^scale, with all its digits.
func scaled(n *big.Int, scale int) wire.Value {
	return wire.Decimal(placeDot(n.String(), scale))
}

// placeDot returns the digits of an integer with so many of them behind a dot.
func placeDot(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	dot := len(digits) - scale
	return sign + digits[:dot] + "." + digits[dot:]
}

// decodeLarge converts integers that a BIGINT may not hold to a cell. The driver
// reads no BIGNUM, so they come as texts, too.
func decodeLarge(value any) (wire.Value, error) {
	digits, ok := value.(string)
	if !ok {
		return decode(value)
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return wire.Null(), errors.New("the driver returned a text that is no integer where one was expected")
	}
	return integer(n), nil
}

// decodeMoment returns a decoder of datetimes with so many digits of fraction.
func decodeMoment(digits int) func(any) (wire.Value, error) {
	return func(value any) (wire.Value, error) {
		at, ok := value.(time.Time)
		if !ok {
			return wire.Null(), fmt.Errorf("the driver returned a %T where a time was expected", value)
		}
		return wire.DatetimeWidth(at, digits), nil
	}
}

// decodeJSON is the library's reader of JSON.
var decodeJSON = (&sqlengine.Column{Type: wire.TypeJSON}).Decoder()

// decodeDocument returns the cell of a JSON. The engine takes NaN and infinities for
// JSON, and here they become null.
func decodeDocument(value any) (wire.Value, error) {
	cell, err := decodeJSON(value)
	if text, ok := value.(string); ok && err == nil && cell.Err() != nil {
		return decodeJSON(notNumbers.ReplaceAllStringFunc(text, func(found string) string {
			if strings.HasPrefix(found, `"`) {
				return found
			}
			return "null"
		}))
	}
	return cell, err
}

// notNumbers finds what is no number where JSON has one, and all texts, so that it finds
// nothing in them.
var notNumbers = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|(?i:-?(?:nan|inf(?:inity)?)\b)`)
