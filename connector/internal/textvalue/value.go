package textvalue

import (
	"errors"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Rules are where files, APIs and documents differ on purpose.
type Rules struct {
	// HandWritten is for what people write: a blank may stand for the T of a datetime,
	// while a decimal comma and the hour 24 may be anything, and make a text.
	HandWritten bool
	// CutTimes lets a date column take datetimes: the date is the one that a datetime
	// shows in its own zone. Otherwise they do not fit, because the time would be lost.
	CutTimes bool
	// EmptyIsNull is for APIs that leave out a number, a boolean or a date by an empty
	// text.
	EmptyIsNull bool
	// DecimalComma says that a comma and not a dot stands before the fraction of a number
	// in a text.
	DecimalComma bool
	// DateFormat says how dates are written, if not as ISO 8601 alone.
	DateFormat DateFormat
}

// The rules of the sources.
var (
	Files     = Rules{HandWritten: true}
	APIs      = Rules{CutTimes: true, EmptyIsNull: true}
	Documents = Rules{CutTimes: true}
)

// OwnWidth is the width of a column whose datetimes have as many digits in the
// fraction as each takes.
const OwnWidth = -1

// The errors of Value. None quotes the value.
var (
	ErrMisfit  = errors.New("the value does not fit the type")
	ErrInexact = errors.New("a fraction beyond nanoseconds, or a leap second, cannot be kept; declare the type string")
)

// Value converts a value to a cell of a column. width is that of the fractions of a
// datetime column: 0, 3, 6, 9 or OwnWidth.
//
// A type that [Class.Type] has found fits every value of its column. A type that
// somebody declares takes a little more than Classify would guess: numbers with a plus
// sign, leading zeros or an exponent, numbers and booleans in JSON strings, and 1 and 0
// as booleans in [Plain] text.
func (r Rules) Value(v Raw, t wire.Type, width int) (wire.Value, error) {
	if v.None() {
		return wire.Null(), nil
	}
	if v.Text == "" && v.Kind == Text && r.EmptyIsNull && !IsText(t) {
		return wire.Null(), nil
	}
	switch t { // a number is no date, and what is nested neither
	case wire.TypeNumber, wire.TypeDecimal:
		text := v.Text
		if v.Kind != Number {
			pointed, ok := r.pointed(text)
			if !ok {
				return wire.Null(), ErrMisfit
			}
			text = pointed
		}
		return exact(text, t == wire.TypeDecimal)
	case wire.TypeBoolean:
		return truth(v)
	case wire.TypeDate:
		return r.date(v.Text)
	case wire.TypeDatetime:
		return r.datetime(v.Text, width)
	case wire.TypeArray:
		switch {
		case v.Kind == Array,
			v.Kind == Plain && strings.HasPrefix(strings.TrimLeft(v.Text, " \t"), "[") && isJSON(v.Text, terms.MaxDepth):
			return wire.JSON(v.Text), nil
		}
	case wire.TypeJSON:
		switch {
		case v.Kind == Text:
			quoted, err := jsontext.AppendString(nil, v.Text)
			return wire.Text(string(quoted)), err
		case v.Kind != Plain || isJSON(v.Text, terms.MaxDepth):
			return wire.JSON(v.Text), nil
		}
	default:
		if v.Kind == Array || v.Kind == Object {
			return wire.JSON(v.Text), nil // compact JSON text
		}
		return wire.Text(v.Text), nil
	}
	return wire.Null(), ErrMisfit
}

// pointed returns the text of a number with a dot before its fraction. It reports false
// for one with a dot where a comma belongs, because it could mean thousands.
func (r Rules) pointed(text string) (string, bool) {
	if !r.DecimalComma {
		return text, true
	}
	return strings.Replace(text, ",", ".", 1), strings.IndexByte(text, '.') < 0
}

func truth(v Raw) (wire.Value, error) {
	switch v.Kind {
	case Bool, Text:
		if v.Text == "true" || v.Text == "false" {
			return wire.Bool(v.Text == "true"), nil
		}
	case Plain:
		switch v.Text {
		case "true", "TRUE", "True", "1":
			return wire.Bool(true), nil
		case "false", "FALSE", "False", "0":
			return wire.Bool(false), nil
		}
	}
	return wire.Null(), ErrMisfit
}

func (r Rules) date(text string) (wire.Value, error) {
	if at, ok := r.Instant(text); ok && at.Date {
		return wire.Date(at.Time), nil
	}
	if r.CutTimes {
		if v, ok := shownDate(text); ok {
			return v, nil
		}
	}
	return wire.Null(), ErrMisfit
}

func (r Rules) datetime(text string, width int) (wire.Value, error) {
	at, ok := r.Instant(text)
	switch {
	case !ok:
		if _, ok := filter.Instant(wire.Text(text)); ok {
			return wire.Null(), ErrInexact
		}
	case width == OwnWidth:
		return wire.Datetime(at.Time), nil
	case at.Digits <= width:
		return wire.DatetimeWidth(at.Time, width), nil
	}
	return wire.Null(), ErrMisfit
}
