package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// Kind is what a [Value] holds, which decides its spelling on the wire.
type Kind uint8

// The kinds. On the wire there are four: null, string, number, boolean.
const (
	KindNull     Kind = iota
	KindBool          // true or false
	KindInt           // a number, or a digit string beyond 2^53-1
	KindFloat         // a number, or its digits as a string
	KindText          // a string as it is
	KindDecimal       // a string of plain decimal digits, scale kept
	KindDate          // a string, YYYY-MM-DD
	KindDatetime      // a string, ISO 8601 in UTC
	KindInvalid       // cannot cross the wire; the row that holds it fails
)

// Value is one cell: null, or a scalar that is already spelled as the protocol
// wants it. The constructor picks the spelling, so a row that compiles is
// spelled right. The zero Value is null.
//
// A Value is 32 bytes and holds no pointer but that of its text, which it shares
// with its origin.
type Value struct {
	text string
	num  uint64 // int64, float64 bits, bool, or seconds since 1970
	tag
}

// tag is a struct of its own because the compiler keeps only structs of at most
// four fields in registers. A Value of five fields would be copied through memory
// wherever it is passed, which took an eighth of the time of writing and reading
// rows.
type tag struct {
	nano uint32
	prec uint8 // fractional digits of a datetime; shortest picks them
	kind Kind
}

// shortest, as a datetime's precision, means the shortest exact width.
const shortest = 255

func invalid(why string) Value { return Value{tag: tag{kind: KindInvalid}, text: why} }

// Invalid returns a cell that fails its row. why, which [Value.Err] returns, is a
// reason for the log, and never quotes the value that has no cell.
func Invalid(why string) Value { return invalid(why) }

// Null returns the null cell. The zero Value is null too.
func Null() Value { return Value{} }

// Text returns a string cell. Text that is not valid UTF-8 fails its row.
func Text(s string) Value { return Value{tag: tag{kind: KindText}, text: s} }

// Bool returns a boolean cell.
func Bool(b bool) Value {
	v := Value{tag: tag{kind: KindBool}}
	if b {
		v.num = 1
	}
	return v
}

// Int returns an integer cell: a number within ±(2^53-1), beyond it a string of
// digits [rule cell-1].
func Int(i int64) Value { return Value{tag: tag{kind: KindInt}, num: uint64(i)} }

// Uint returns an integer cell as [Int] does.
func Uint(u uint64) Value {
	if u > math.MaxInt64 {
		return Value{tag: tag{kind: KindDecimal}, text: strconv.FormatUint(u, 10)}
	}
	return Int(int64(u))
}

// Float returns a binary floating-point cell in its shortest digits. NaN and the
// infinities cannot cross the wire and fail the row. For money and other exact
// numbers use [Decimal].
func Float(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return invalid("NaN and infinities cannot cross the wire; send null or fix the source")
	}
	return Value{tag: tag{kind: KindFloat}, num: math.Float64bits(f)}
}

// Float32 returns the cell of a float of 32 bits, in the shortest digits that tell it
// from all others of that width: those of float32(999.99) are 999.99, and those of the
// float64 that it is exactly are 999.989990234375. Use it for a value that is stored in
// 32 bits, such as a REAL of PostgreSQL. NaN and the infinities fail the row.
func Float32(f float32) Value {
	wide := float64(f)
	if wide == math.Trunc(wide) && math.Abs(wide) < 1<<24 {
		return Float(wide) // the digits of a small integer are all needed
	}
	var digits [32]byte
	if short, err := strconv.ParseFloat(string(strconv.AppendFloat(digits[:0], wide, 'e', -1, 32)), 64); err == nil {
		wide = short
	}
	return Float(wide)
}

// Decimal returns the cell of an exact number, given as plain decimal text: an
// optional sign, digits, and optionally a dot and more digits. It crosses as that
// text and keeps its scale. Any other text fails the row.
func Decimal(digits string) Value {
	if !terms.IsDecimal(digits) {
		return invalid("not plain decimal digits; a decimal is an optional sign, digits, and optionally a dot and digits")
	}
	return Value{tag: tag{kind: KindDecimal}, text: digits}
}

// Date returns the cell of the date that t shows in its own location. Years are 0
// to 9999.
func Date(t time.Time) Value {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return invalid("a date's year must be 0 to 9999")
	}
	return Value{tag: tag{kind: KindDate}, num: uint64(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix())}
}

// Datetime returns the cell of an instant, in UTC, with the shortest exact
// fraction of 0, 3, 6 or 9 digits. A column that knows its precision uses
// [DatetimeWidth].
func Datetime(t time.Time) Value { return datetime(t, shortest) }

// DatetimeWidth returns the cell of an instant with a fraction of exactly 0, 3, 6
// or 9 digits, so that byte order is time order within the column [rule cell-2].
// A time with more digits fails the row: nothing is cut in silence.
func DatetimeWidth(t time.Time, digits int) Value {
	unit := 1
	switch digits {
	case 0:
		unit = 1_000_000_000
	case 3:
		unit = 1_000_000
	case 6:
		unit = 1000
	case 9:
	default:
		return invalid("a datetime's width must be 0, 3, 6 or 9 digits")
	}
	if t.Nanosecond()%unit != 0 {
		return invalid("a datetime has more digits than its column's width")
	}
	return datetime(t, uint8(digits))
}

// The seconds since 1970 at which the years 0 and 9999 begin and end.
const (
	firstSecond = -62_167_219_200
	lastSecond  = 253_402_300_799
)

func datetime(t time.Time, prec uint8) Value {
	sec := t.Unix()
	if sec < firstSecond || sec > lastSecond {
		return invalid("a datetime's year must be 0 to 9999")
	}
	return Value{num: uint64(sec), tag: tag{nano: uint32(t.Nanosecond()), prec: prec, kind: KindDatetime}}
}

// JSON returns a cell of type json, or of an array of anything: compact JSON text
// in a string. Text that is not JSON fails the row.
func JSON(raw string) Value {
	var b bytes.Buffer
	if !utf8.ValidString(raw) || json.Compact(&b, []byte(raw)) != nil {
		return invalid("not JSON text")
	}
	return Text(b.String())
}

// Array returns a cell of type array whose elements are scalars: compact JSON
// text in a string.
func Array(elements ...Value) Value {
	b := []byte{'['}
	var err error
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = e.AppendJSON(b); err != nil {
			return invalid("array element: " + err.Error())
		}
	}
	return Text(string(append(b, ']')))
}

// Bytes returns a binary cell: standard base64 text.
func Bytes(b []byte) Value { return Text(base64.StdEncoding.EncodeToString(b)) }

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Err returns why the value cannot cross the wire, or nil if it can. The text
// never quotes the value.
func (v Value) Err() error {
	if v.kind == KindInvalid {
		return valueError(v.text)
	}
	if v.kind == KindText && !utf8.ValidString(v.text) {
		return errUTF8
	}
	return nil
}

// valueError is the reason why a value cannot cross the wire.
type valueError string

func (e valueError) Error() string { return string(e) }

var errUTF8 = valueError(jsontext.ErrUTF8.Error())

// The methods below are for code that reads values, such as a filter. Each
// returns zero for a value of a kind that it does not name.

// Text returns the text of a KindText or KindDecimal, without a copy.
func (v Value) Text() string {
	if v.kind == KindText || v.kind == KindDecimal {
		return v.text
	}
	return ""
}

// Int64 returns the integer of a KindInt.
func (v Value) Int64() int64 {
	if v.kind != KindInt {
		return 0
	}
	return int64(v.num)
}

// Float64 returns the number of a KindFloat, or of a KindInt as the nearest float.
func (v Value) Float64() float64 {
	switch v.kind {
	case KindFloat:
		return math.Float64frombits(v.num)
	case KindInt:
		return float64(int64(v.num))
	}
	return 0
}

// IsTrue reports whether the value is the boolean true.
func (v Value) IsTrue() bool { return v.kind == KindBool && v.num == 1 }

// Time returns the instant of a KindDatetime, or the midnight UTC of a KindDate.
func (v Value) Time() time.Time {
	if v.kind != KindDatetime && v.kind != KindDate {
		return time.Time{}
	}
	return time.Unix(int64(v.num), int64(v.nano)).UTC()
}

// Clone returns the value with a copy of its text. Use it to keep a value whose
// text shares a larger one.
func (v Value) Clone() Value {
	v.text = strings.Clone(v.text)
	return v
}

// String returns the text that the value has on the wire, without quotes, and
// "null" for null. It is meant for tests and debugging: never log cells.
func (v Value) String() string {
	switch v.kind {
	case KindInvalid:
		return "invalid: " + v.text
	case KindText, KindDecimal:
		return v.text
	}
	var short [32]byte // holds a number or an instant
	spelled, _ := v.AppendJSON(short[:0])
	return string(bytes.Trim(spelled, `"`))
}

// MarshalJSON writes the value as it crosses the wire.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON reads a scalar. Numbers become a KindInt where they are
// integers within ±(2^53-1), else a KindFloat, as the platform reads them.
func (v *Value) UnmarshalJSON(data []byte) error {
	var s jsontext.Scanner
	s.Reset(string(data))
	scalar := s.Scalar()
	s.End()
	*v = cell(scalar)
	return s.Err()
}

// cell returns a JSON scalar as a value.
func cell(s jsontext.Scalar) Value {
	return Value{text: s.Text, num: s.Bits, tag: tag{kind: cellKinds[s.Kind]}}
}

var cellKinds = [...]Kind{
	jsontext.Null:   KindNull,
	jsontext.Bool:   KindBool,
	jsontext.Int:    KindInt,
	jsontext.Float:  KindFloat,
	jsontext.String: KindText,
}
