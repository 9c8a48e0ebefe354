package sqlite

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// decode returns a decoder of a column of that type. A value that does not
// fit the type is null, exactly where the column's Valid says so.
func decode(t wire.Type) func(any) (wire.Value, error) {
	return func(driver any) (wire.Value, error) {
		switch v := driver.(type) {
		case string:
			return textCell(t, v), nil
		case []byte:
			return wire.Null(), nil
		case int64:
			return integerCell(t, v), nil
		case float64:
			return realCell(t, v), nil
		case bool:
			return wire.Bool(v), nil
		}
		return wire.Null(), fmt.Errorf("the driver returned a %T where a value of SQLite was expected", driver)
	}
}

// decodeCounted reads a column of datetimes in which numbers are datetimes, too: an
// integer counts the seconds since 1970, a real the days of the Julian calendar.
func decodeCounted(driver any) (wire.Value, error) {
	at := wire.Null()
	switch v := driver.(type) {
	case int64:
		at = wire.Datetime(time.Unix(v, 0))
	case float64:
		const epoch = 2440587.5 // 1970-01-01 as a Julian day
		if v >= 1721059.5 && v <= 5373484.499 {
			at = wire.Datetime(time.UnixMilli(int64(math.Round((v - epoch) * 86_400_000))))
		}
	default:
		return decode(wire.TypeDatetime)(driver)
	}
	if at.Err() != nil {
		at = wire.Null() // a year that cannot be sent
	}
	return at, nil
}

// decodeBytes reads a column of blobs.
func decodeBytes(driver any) (wire.Value, error) {
	if v, ok := driver.([]byte); ok {
		return wire.Bytes(v), nil
	}
	return wire.Null(), nil
}

// decodeNumber returns a decoder of a column of numbers. A text that is one
// does not fit it, either: SQLite would have converted it if it were to.
func decodeNumber(t wire.Type) func(any) (wire.Value, error) {
	decode := decode(t)
	return func(driver any) (wire.Value, error) {
		if _, isText := driver.(string); isText {
			return wire.Null(), nil
		}
		return decode(driver)
	}
}

// decodeDigits reads a column of texts that are decimals.
func decodeDigits(driver any) (wire.Value, error) {
	if s, isText := driver.(string); isText && terms.IsDecimal(s) {
		return wire.Decimal(s), nil
	}
	return wire.Null(), nil
}

// decodeMixed returns a decoder that also reads whole reals of 64 bits as the integers
// that they are compared as: from 2^53 on, the shortest digits of a real would not be
// the value that SQLite compares.
func decodeMixed(t wire.Type) func(any) (wire.Value, error) {
	decode := decodeNumber(t)
	return func(driver any) (wire.Value, error) {
		if f, ok := driver.(float64); ok && math.Abs(f) >= 1<<53 && f >= math.MinInt64 && f < -math.MinInt64 {
			driver = int64(f)
		}
		return decode(driver)
	}
}

func textCell(t wire.Type, s string) wire.Value {
	switch t {
	case wire.TypeString, wire.TypeReference:
		return wire.Text(s)
	case wire.TypeDecimal, wire.TypeNumber:
		if terms.IsDecimal(s) {
			return wire.Decimal(s)
		}
	case wire.TypeJSON, wire.TypeArray:
		if !utf8.ValidString(s) {
			return wire.Text(s) // json_valid takes it; the library refuses it with the field's name
		}
		return wire.JSON(s)
	case wire.TypeDate, wire.TypeDatetime:
		at, ok := instant(s)
		switch {
		case !ok:
		case t == wire.TypeDate:
			return wire.Date(at)
		default:
			return wire.Datetime(at)
		}
	}
	return wire.Null()
}

// instant reads the text of a datetime. It takes what the Valid of such a
// column takes.
func instant(s string) (time.Time, bool) {
	if len(s) < len(time.DateTime) {
		if len(s) != len(time.DateOnly) {
			return time.Time{}, false
		}
		return civil(s, "00:00:00")
	}
	second, rest := s[:len(time.DateTime)], s[len(time.DateTime):]
	at, ok := civil(second[:10], second[11:])
	if ok = ok && (second[10] == ' ' || second[10] == 'T'); !ok || rest == "" || rest == "Z" {
		return at, ok
	}
	fraction := ""
	if digits := strings.TrimLeft(strings.TrimPrefix(rest, "."), "0123456789"); len(digits) < len(rest)-1 && rest[0] == '.' {
		fraction, rest = rest[:len(rest)-len(digits)], digits
	}
	if len(rest) > 7 && rest[0] == ' ' && rest[6] == ' ' && rest[7] >= 'A' && rest[7] <= 'Z' && !strings.Contains(rest, "\x00") {
		rest = rest[1:4] + ":" + rest[4:6] // as Go's drivers store a time.Time: " +0100 CET"
	}
	if rest == "z" {
		rest = "Z"
	}
	if rest != "" && rest != "Z" && (len(rest) != len("+01:00") || s < firstMoved || s >= lastMoved) {
		return time.Time{}, false
	}
	if nanoseconds := len(".123456789"); len(fraction) > nanoseconds && strings.Trim(fraction[nanoseconds:], "0") != "" {
		return time.Time{}, false
	}
	return filter.Instant(wire.Text(second[:10] + "T" + second[11:] + fraction + rest))
}

// civil reads a day YYYY-MM-DD and a time HH:MM:SS, in UTC. It takes what [time.Parse]
// takes of them, for a fraction of what that costs.
func civil(day, clock string) (time.Time, bool) {
	valid := day[4] == '-' && day[7] == '-' && clock[2] == ':' && clock[5] == ':'
	number := func(digits string) (n int) {
		for i := range len(digits) {
			digit := digits[i] - '0'
			valid = valid && digit < 10
			n = n*10 + int(digit)
		}
		return n
	}
	y, m, d := number(day[:4]), number(day[5:7]), number(day[8:])
	hour, minute, second := number(clock[:2]), number(clock[3:5]), number(clock[6:])
	if !valid || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	at := time.Date(y, time.Month(m), d, hour, minute, second, 0, time.UTC)
	return at, at.Day() == d && at.Month() == time.Month(m) // or there is no such day, and it is another one
}

// The numbers that are read as a datetime, of the years 0 to 9999: seconds since
// 1970, and Julian days.
const (
	firstSecond = "-62167219200"
	lastSecond  = "253402300799"
	firstJulian = "1721059.5"
	lastJulian  = "5373484.499"
)

// Between these, an offset cannot move a datetime out of those years.
const (
	firstMoved = "0000-01-02"
	lastMoved  = "9999-12-31"
)

func integerCell(t wire.Type, n int64) wire.Value {
	switch t {
	case wire.TypeBoolean:
		return wire.Bool(n != 0)
	case wire.TypeDecimal:
		return wire.Decimal(strconv.FormatInt(n, 10))
	case wire.TypeDate, wire.TypeDatetime, wire.TypeArray:
		return wire.Null()
	case wire.TypeString, wire.TypeReference, wire.TypeJSON:
		return wire.Text(strconv.FormatInt(n, 10))
	}
	return wire.Int(n)
}

func realCell(t wire.Type, f float64) wire.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		if t == wire.TypeString || t == wire.TypeReference {
			return wire.Text(strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64), "+"))
		}
		return wire.Null()
	}
	switch t {
	case wire.TypeDecimal:
		return wire.Decimal(wire.Float(f).String())
	case wire.TypeDate, wire.TypeDatetime, wire.TypeBoolean, wire.TypeArray:
		return wire.Null()
	case wire.TypeString, wire.TypeReference, wire.TypeJSON:
		return wire.Text(wire.Float(f).String())
	}
	return wire.Float(f)
}
