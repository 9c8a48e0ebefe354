package filter

import "github.com/connectorsdk/connector-sdk-go/wire"

// Compare orders a against b as a filter on a column of type t would: negative
// when a is less, zero when they are equal, positive when a is greater (A6 to
// A9). It is not ok when one of them is null or cannot cross the wire (A2), or
// when they are incomparable: a declared number or decimal where one side is
// not a number (A6). The empty type is undeclared (A8).
//
// Use it for minima and maxima. Do not sort by it: an undeclared column that
// mixes numbers and other text, and a date column that mixes dates and other
// text, have pairs that run in circles, as 9 < 10, 10 < "1a", "1a" < 9.
// [CompileOrder] has the order for that, and [AppendKey] the equality for
// grouping.
//
// It allocates nothing, and takes time linear in the length of the values.
func Compare(a, b wire.Value, t wire.Type) (order int, ok bool) {
	if !hasText(a.Kind()) || !hasText(b.Kind()) {
		return 0, false
	}
	switch f := familyOf(t); f {
	case numeric, undeclared:
		c, aok, bok := compareNumbers(a, b)
		if aok && bok {
			return c, true
		}
		if f == numeric {
			return 0, false
		}
	case temporal:
		if at, ok := instantOf(a); ok {
			if bt, ok := instantOf(b); ok {
				return at.compare(bt), true
			}
		}
	}
	return compareTexts(a, b), true
}

// hasText reports whether a cell has a text on the wire: it is neither null
// nor invalid.
func hasText(k wire.Kind) bool { return k != wire.KindNull && k != wire.KindInvalid }
