package filter

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// number is the value of a filter, prepared for cells of every kind.
type number struct {
	digits
	text string // the text that digits refers to

	// To compare with integer cells: the results of digits.floor.
	k      int64
	above  bool
	beyond int

	// To compare with float cells. A float means its shortest digits, which lie
	// within its rounding interval; this number lies within the interval of
	// near. The intervals of two floats do not overlap. So if a cell differs
	// from near, the floats decide; if not, tie does, which compares the
	// shortest digits of near with this number.
	near float64
	tie  int
}

// parseNumber prepares the value of a filter and reports whether it is a number.
func parseNumber(v wire.Value) (number, bool) {
	var buf textBuffer
	text := strings.Clone(wireText(v, &buf))
	d, ok := parseDigits(text)
	if !ok {
		return number{}, false
	}
	n := number{digits: d, text: text}
	n.k, n.above, n.beyond = d.floor()
	n.near, _ = strconv.ParseFloat(text, 64) // infinite if out of range, so beyond every cell
	if !math.IsInf(n.near, 0) {
		near, _ := parseDigits(wireText(wire.Float(n.near), &buf))
		n.tie = near.compare(&d)
	}
	return n, true
}

// compare compares a cell with n and reports whether the cell is a number.
func (n *number) compare(v wire.Value) (order int, ok bool) {
	switch v.Kind() {
	case wire.KindInt:
		return compareFloor(v.Int64(), n.k, n.above, n.beyond), true
	case wire.KindText, wire.KindDecimal:
		if order, ok := compareAlignedTo(v.Text(), n.text); ok {
			return order, true
		}
		d, ok := parseDigits(v.Text())
		if !ok {
			return 0, false
		}
		return d.compare(&n.digits), true
	case wire.KindFloat:
		return n.compareFloat(v.Float64()), true
	}
	return 0, false
}

func (n *number) compareFloat(f float64) int {
	switch {
	case f < n.near:
		return -1
	case f > n.near:
		return 1
	}
	return n.tie
}

// compareNumbers compares two cells as numbers and reports whether each is one.
// The order is valid only if both are.
func compareNumbers(a, b wire.Value) (order int, aok, bok bool) {
	ak, bk := a.Kind(), b.Kind()
	atext, btext := isText(ak), isText(bk)
	if atext && btext {
		return compareDecimals(a.Text(), b.Text())
	}
	var d, e digits
	if atext {
		d, aok = parseDigits(a.Text())
	} else {
		aok = ak == wire.KindInt || ak == wire.KindFloat
	}
	if btext {
		e, bok = parseDigits(b.Text())
	} else {
		bok = bk == wire.KindInt || bk == wire.KindFloat
	}
	if !aok || !bok {
		return 0, aok, bok
	}
	switch {
	case atext:
		order = -d.compareCell(b)
	case btext:
		order = e.compareCell(a)
	case ak == bk && ak == wire.KindInt:
		order = cmp.Compare(a.Int64(), b.Int64())
	case ak == bk: // floats order as their shortest digits do: see number
		order = cmp.Compare(a.Float64(), b.Float64())
	case ak == wire.KindInt:
		order = compareIntFloat(a, b)
	default:
		order = -compareIntFloat(b, a)
	}
	return order, true, true
}

// compareDecimals does the same for two texts.
func compareDecimals(a, b string) (order int, aok, bok bool) {
	if order, ok := compareAligned(a, b); ok {
		return order, true, true
	}
	d, aok := parseDigits(a)
	e, bok := parseDigits(b)
	if !aok || !bok {
		return 0, aok, bok
	}
	return d.compare(&e), true, true
}

// compareCell compares an integer or a float with d.
func (d *digits) compareCell(v wire.Value) int {
	if v.Kind() == wire.KindInt {
		return d.compareInt(v.Int64())
	}
	return d.compareFloat(v)
}

// compareIntFloat compares an integer with a float.
func compareIntFloat(i, f wire.Value) int {
	n := i.Int64()
	if c := cmp.Compare(float64(n), f.Float64()); c != 0 {
		return c
	}
	if n >= -terms.MaxSafeInteger && n <= terms.MaxSafeInteger {
		return 0
	}
	// Beyond 2^53 several integers round to one float, and its shortest digits
	// are only one of them.
	var buf textBuffer
	d, _ := parseDigits(wireText(f, &buf))
	return d.compareInt(n)
}

// compareFloat compares a float with d.
//
//go:noinline
func (d *digits) compareFloat(f wire.Value) int {
	var buf textBuffer
	e, _ := parseDigits(wireText(f, &buf))
	return e.compare(d)
}
