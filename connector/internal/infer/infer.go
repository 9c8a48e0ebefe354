// Package infer finds the type of a column from the values that it holds.
package infer

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Kinds is a set of what the values of a column are.
type Kinds uint16

// The kinds of one value, taken by itself.
const (
	Text     Kinds = 1 << iota
	Bool           // true, false
	Integer        // plain digits
	Decimal        // plain digits with a fraction
	Float          // a number with an exponent
	Date           // ISO 8601
	Datetime       // ISO 8601
	Array          // a JSON array
	Object         // a JSON object
)

// types lists types with the kinds of values that each holds, the narrowest first.
var types = []struct {
	holds Kinds
	typ   wire.Type
}{
	{Bool, wire.TypeBoolean},
	{Integer, wire.TypeNumber},
	{Integer | Decimal, wire.TypeDecimal},
	{Integer | Decimal | Float, wire.TypeNumber},
	{Date, wire.TypeDate},
	{Date | Datetime, wire.TypeDatetime},
	{Array, wire.TypeArray},
	{Array | Object, wire.TypeJSON},
}

// Type returns the narrowest type that holds values of all these kinds. It is
// string for a mixture, and if there is no value.
func (k Kinds) Type() wire.Type {
	for _, t := range types {
		if k != 0 && k&^t.holds == 0 {
			return t.typ
		}
	}
	return wire.TypeString
}

// Number returns the kind of a JSON number.
func Number(text string) Kinds {
	switch {
	case !wire.IsDecimal(text):
		return Float
	case strings.Contains(text, "."):
		return Decimal
	}
	return Integer
}
