package oracle

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// rule is one of the four ways in which values compare; a type has one.
type rule int

const (
	asText       rule = iota // A7: bytes of the wire text
	asNumber                 // A6: digits, or incomparable
	asUndeclared             // A8: digits where both are plain decimal text, else bytes
	asInstant                // A9: instants where both are ISO 8601, else bytes
)

func (r Reading) rule(t wire.Type) rule {
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		return asNumber
	case wire.TypeDate, wire.TypeDatetime:
		if r.DatesAsText {
			return asText
		}
		return asInstant
	case "":
		return asUndeclared
	}
	return asText
}

// key is a cell made ready to be compared under one rule: parsed once.
type key struct {
	null      bool
	text      string // as on the wire, without quotes
	isNumber  bool
	number    number
	isInstant bool
	instant   instant
}

func keyOf(v wire.Value, by rule) key {
	if v.IsNull() {
		return key{null: true}
	}
	k := key{text: v.String()}
	switch by {
	case asNumber, asUndeclared:
		k.number, k.isNumber = parseNumber(k.text)
	case asInstant:
		k.instant, k.isInstant = parseInstant(k.text)
	}
	return k
}

// compare orders two keys of one rule as a filter does. Null is comparable to
// nothing (A2), and under A6 neither is what is no number.
func compare(a, b key, by rule) (order int, comparable bool) {
	switch {
	case a.null || b.null:
		return 0, false
	case a.isNumber && b.isNumber:
		return compareNumbers(a.number, b.number), true
	case by == asNumber:
		return 0, false
	case a.isInstant && b.isInstant:
		return compareInstants(a.instant, b.instant), true
	}
	return strings.Compare(a.text, b.text), true
}

// identity is equal for two keys of one rule exactly when they are one group
// and one distinct value (E2). What is no number equals its own text here, and
// null is a group of its own (E3).
func (k key) identity() string {
	switch {
	case k.null:
		return "0"
	case k.isNumber:
		return "n" + k.number.String()
	case k.isInstant:
		return "i" + k.instant.String()
	}
	return "t" + k.text
}

// rank is the part of a sorted column in which a key stands, in both
// directions: first what the rule can order, then other text, then null (B1).
func (k key) rank(by rule) int {
	switch {
	case k.null:
		return 2
	case by == asText || k.isNumber || k.isInstant:
		return 0
	}
	return 1
}

// Compare orders a against b as a filter on a column of type t does (A6 to
// A9): negative where a is less. It is not comparable when one is null (A2) or,
// in a column of numbers, no number (A6).
func Compare(a, b wire.Value, t wire.Type) (order int, comparable bool) {
	by := Reading{}.rule(t)
	return compare(keyOf(a, by), keyOf(b, by), by)
}
