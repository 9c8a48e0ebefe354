// Package terms holds the words, limits and texts of the protocol that more than
// one package of this library needs and that no user of it does. The words that
// users write are constants of package wire, which imports this package.
package terms

import (
	"strconv"
	"time"
)

// Limits of the protocol, and those that this library adds.
const (
	PlatformIdleTimeout = 30 * time.Second // three missed heartbeats
	MaxDocumentBytes    = 64 << 10         // capability document
	MaxAnswerBytes      = 32 << 20         // JSON answer body
	MaxOrphanSamples    = 20               // in an answer of /linkHitRate
	MinConcurrency      = 1                // limits.concurrency
	MaxConcurrency      = 16
	MaxDepth            = 32        // nesting of a JSON body
	MaxSafeInteger      = 1<<53 - 1 // largest integer that crosses as a JSON number
)

// The content types of answers.
const (
	MediaJSON   = "application/json"
	MediaNDJSON = "application/x-ndjson"
)

// InternalMessage is the only message that an internal error ever carries.
const InternalMessage = "internal error"

// A Shape is one of the three strict forms of a filter.
type Shape uint8

// The shapes. ShapeUnknown belongs to a word that is not an operator.
const (
	ShapeUnknown Shape = iota
	ShapeValue         // field, op, value
	ShapeMember        // field, op, values
	ShapeNullary       // field, op
)

// operators are the thirteen, in the order of the protocol.
var operators = []struct {
	word  string
	shape Shape
}{
	{"eq", ShapeValue}, {"neq", ShapeValue}, {"gt", ShapeValue}, {"gte", ShapeValue}, {"lt", ShapeValue}, {"lte", ShapeValue},
	{"in", ShapeMember}, {"nin", ShapeMember},
	{"contains", ShapeValue}, {"includes", ShapeValue}, {"startswith", ShapeValue},
	{"isnull", ShapeNullary}, {"notnull", ShapeNullary},
}

// Operators returns a new slice of the thirteen operators, in the order of the protocol.
func Operators[Op ~string]() []Op {
	list := make([]Op, len(operators))
	for i, o := range operators {
		list[i] = Op(o.word)
	}
	return list
}

// ShapeOf returns which members a filter with the operator has.
func ShapeOf[Op ~string](op Op) Shape {
	for _, o := range operators {
		if o.word == string(op) {
			return o.shape
		}
	}
	return ShapeUnknown
}

// IsType reports whether t is one of the nine types of fields.
func IsType[Type ~string](t Type) bool {
	switch t {
	case "string", "number", "decimal", "boolean", "date", "datetime", "json", "array", "reference":
		return true
	}
	return false
}

// IsText reports whether the values of a type are compared by their bytes.
func IsText[Type ~string](t Type) bool { return t == "string" || t == "reference" }

// IsTime reports whether the values of a type are days or instants.
func IsTime[Type ~string](t Type) bool { return t == "date" || t == "datetime" }

// IsDocument reports whether the values of a type are JSON, which sources compare in their own ways.
func IsDocument[Type ~string](t Type) bool { return t == "json" || t == "array" }

// Allowed reports whether a flag of discovery allows a use of a field: it does unless it says no.
func Allowed(flag *bool) bool { return flag == nil || *flag }

// IsAggFunc reports whether f is one of the five functions of a measure.
func IsAggFunc[AggFunc ~string](f AggFunc) bool {
	switch f {
	case "count", "sum", "min", "max", "count_distinct":
		return true
	}
	return false
}

// IsGrain reports whether g is one of the four grains of a group key.
func IsGrain[Grain ~string](g Grain) bool {
	return g == "year" || g == "quarter" || g == "month" || g == "day"
}

// IsSlug reports whether s is a legal slug: ^[a-z][a-z0-9-]{2,39}$.
func IsSlug(s string) bool {
	if len(s) < 3 || len(s) > 40 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// maxQuoted is the number of characters of a name that an error shows.
const maxQuoted = 64

// QuoteName returns the name of a table or a field from a request as an error
// message shows it: quoted, and cut to 64 characters, so that no body comes back
// whole. Values are never shown.
func QuoteName(name string) string {
	n := 0
	for i := range name {
		if n == maxQuoted {
			return strconv.Quote(name[:i]) + "..."
		}
		n++
	}
	return strconv.Quote(name)
}

// IsDecimal reports whether s is plain decimal text: no exponent, no
// blanks, digits on both sides of a dot.
func IsDecimal(s string) bool {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	start := i
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return false
	}
	if i == len(s) {
		return true
	}
	if s[i] != '.' {
		return false
	}
	i++
	start = i
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return i > start && i == len(s)
}
