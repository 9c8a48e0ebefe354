package textvalue

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Class is a set of what the values of a column could be.
type Class uint16

// What one value could be, by itself.
const (
	ClassText     Class = 1 << iota
	ClassBool           // true, false
	ClassInteger        // plain digits
	ClassDecimal        // plain digits with a fraction
	ClassFloat          // a number with an exponent
	ClassDate           // ISO 8601
	ClassDatetime       // ISO 8601
	ClassArray          // a JSON array
	ClassObject         // a JSON object
)

// types lists types with the classes of values that each holds, the narrowest first.
var types = []struct {
	holds Class
	typ   wire.Type
}{
	{ClassBool, wire.TypeBoolean},
	{ClassInteger, wire.TypeNumber},
	{ClassInteger | ClassDecimal, wire.TypeDecimal},
	{ClassInteger | ClassDecimal | ClassFloat, wire.TypeNumber},
	{ClassDate, wire.TypeDate},
	{ClassDate | ClassDatetime, wire.TypeDatetime},
	{ClassArray, wire.TypeArray},
	{ClassArray | ClassObject, wire.TypeJSON},
	{ClassText | ClassDate | ClassDatetime, wire.TypeString},
}

// Type returns the narrowest type that holds values of all these classes: the given
// one for a mixture of texts and others, and string if there is no value.
func (c Class) Type(mixture wire.Type) wire.Type {
	if c == 0 {
		return wire.TypeString
	}
	for _, t := range types {
		if c&^t.holds == 0 {
			return t.typ
		}
	}
	return mixture
}

// Classify returns what a value could be, and the digits of a datetime's fraction. No
// value is no class.
//
// Of [Plain] text it takes for text whatever a guess could damage: digits with a
// leading zero may be a code, digits with a plus sign a telephone number, and an
// exponent outside of JSON a part number.
func (r Rules) Classify(v Raw) (c Class, digits int) {
	switch v.Kind {
	case Absent, Null:
		return 0, 0
	case Bool:
		return ClassBool, 0
	case Number:
		return classifyNumber(v.Text), 0
	case Array:
		return ClassArray, 0
	case Object:
		return ClassObject, 0
	}
	if at, ok := r.Instant(v.Text); ok {
		if at.Date {
			return ClassDate, 0
		}
		return ClassDatetime, at.Digits
	}
	if v.Kind == Plain {
		return r.classifyPlain(v.Text), 0
	}
	return ClassText, 0
}

// classifyNumber returns the class of a JSON number. One that no cell can spell is a
// text.
func classifyNumber(text string) Class {
	switch n, ok := splitNumber(text); {
	case !ok: // a json.Number may be any text
		return ClassText
	case n.exponent != "":
		if _, ok := n.plain(); !ok {
			return ClassText
		}
		return ClassFloat
	case strings.Contains(n.mantissa, "."):
		return ClassDecimal
	}
	return ClassInteger
}

func (r Rules) classifyPlain(s string) Class {
	switch s[0] {
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		s, pointed := r.pointed(s)
		n, ok := splitNumber(s)
		m := n.mantissa
		switch {
		case !ok || !pointed || n.exponent != "" || len(m) > 1 && m[0] == '0' && m[1] != '.':
		case strings.Contains(m, "."):
			return ClassDecimal
		default:
			return ClassInteger
		}
	case 't', 'T', 'f', 'F':
		switch s {
		case "true", "TRUE", "True", "false", "FALSE", "False":
			return ClassBool
		}
	case '[':
		if isJSON(s, terms.MaxDepth) {
			return ClassArray
		}
	case '{':
		if isJSON(s, terms.MaxDepth) {
			return ClassObject
		}
	}
	return ClassText
}
