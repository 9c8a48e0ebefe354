package oracle

import (
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A rule is one of the four ways in which the values of a type compare.
type rule int

const (
	asText       rule = iota // by the bytes of the wire text [rule filter-7]
	asNumber                 // by digits; other text cannot be compared [rule filter-6]
	asUndeclared             // by digits if both are plain decimal text, otherwise by bytes [rule filter-8]
	asInstant                // as instants if both are ISO 8601, otherwise by bytes [rule filter-9]
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

// key is a cell that was parsed once, to be compared under one rule.
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

// compare compares two keys of one rule as a filter does. It reports false if
// either is null, or if the rule is asNumber and either is not a number.
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

// equals reports whether the key equals any key under the rule, itself at least.
func (k key) equals(by rule) bool { return !k.null && (by != asNumber || k.isNumber) }

// An identity is equal for two keys of one rule if and only if they are one group and one
// distinct value [rule aggregate-2]. Here text in a column of numbers equals itself, and nulls
// are a group of their own.
type identity struct {
	kind byte
	text string
}

func (k key) identity() identity {
	switch {
	case k.null:
		return identity{kind: '0'}
	case k.isNumber && len(k.text) == k.number.length():
		return identity{'n', k.text} // it is the shortest text of the number
	case k.isNumber:
		return identity{'n', k.number.String()}
	case k.isInstant:
		return identity{'i', k.instant.String()}
	}
	return identity{'t', k.text}
}

// appendTo appends the identity to the text of a row's or a group's: that of other
// identities is another.
func (id identity) appendTo(b []byte) []byte {
	b = append(strconv.AppendInt(b, int64(len(id.text)), 10), id.kind)
	return append(b, id.text...)
}

// rank returns the part of a sorted column in which a key belongs, in both
// directions: 0 for values of the rule's kind, 1 for other text, 2 for null.
func (k key) rank(by rule) int {
	switch {
	case k.null:
		return 2
	case by == asText || k.isNumber || k.isInstant:
		return 0
	}
	return 1
}

// Compare compares a with b as a filter on a column of type t does. The order is
// negative if a is less. Compare reports false if either value is null or, in a
// column of numbers, not a number.
func Compare(a, b wire.Value, t wire.Type) (order int, comparable bool) {
	by := Reading{}.rule(t)
	return compare(keyOf(a, by), keyOf(b, by), by)
}
