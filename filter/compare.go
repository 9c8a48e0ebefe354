package filter

import "github.com/connectorsdk/connector-sdk-go/wire"

// Compare compares a with b as a filter on a column of type t would. The
// result is negative if a is less, zero if they are equal and positive if a is
// greater. The empty type is undeclared.
//
// Compare reports false if either value is null or cannot be written to the
// wire, and if t is number or decimal and either value is not a number.
//
// Use it for minima and maxima. Do not sort by it, because it is not always
// transitive: an undeclared column may hold 9 < 10, 10 < "1a" and "1a" < 9, and
// a date column that mixes dates and other text has such cycles too. Use
// [CompileOrder] to sort and [AppendKey] to group.
//
// Compare does not allocate and takes time linear in the length of the values.
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

// hasText reports whether a cell of kind k has text on the wire, which null
// and invalid cells do not.
func hasText(k wire.Kind) bool { return k != wire.KindNull && k != wire.KindInvalid }
