package filter

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// number is a filter's value, prepared to be compared with cells of any kind.
type number struct {
	digits
	text string // what the digits are pieces of

	// Against integer cells: see digits.floor.
	k      int64
	above  bool
	beyond int

	// Against float cells. A float stands for its shortest digits (A6), which
	// lie within its rounding interval, as this number lies within that of
	// near. The intervals of two floats do not overlap, so where the floats
	// differ they order the numbers, and where they do not, tie does: the
	// order of near's own digits against this number.
	near float64
	tie  int
}

// parseNumber prepares a filter's value; not ok when it is not a number (A6).
func parseNumber(v wire.Value) (number, bool) {
	var buf textBuffer
	text := strings.Clone(wireText(v, &buf))
	d, ok := parseDigits(text)
	if !ok {
		return number{}, false
	}
	n := number{digits: d, text: text}
	n.k, n.above, n.beyond = d.floor()
	n.near, _ = strconv.ParseFloat(text, 64) // out of range: an infinity, beyond every cell
	if !math.IsInf(n.near, 0) {
		near, _ := parseDigits(wireText(wire.Float(n.near), &buf))
		n.tie = near.compare(&d)
	}
	return n, true
}

// compare orders a cell against n; not ok when the cell is not a number.
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

// compareNumbers orders two cells as numbers. The order means something only
// when both are numbers.
func compareNumbers(a, b wire.Value) (order int, aok, bok bool) {
	ak, bk := a.Kind(), b.Kind()
	atext, btext := isText(ak), isText(bk)
	if atext && btext {
		if order, ok := compareAligned(a.Text(), b.Text()); ok {
			return order, true, true
		}
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
	case atext && btext:
		order = d.compare(&e)
	case atext:
		order = -d.compareCell(b)
	case btext:
		order = e.compareCell(a)
	case ak == bk && ak == wire.KindInt:
		order = cmp.Compare(a.Int64(), b.Int64())
	case ak == bk: // two floats are ordered as their digits are: see number
		order = cmp.Compare(a.Float64(), b.Float64())
	case ak == wire.KindInt:
		order = compareIntFloat(a, b)
	default:
		order = -compareIntFloat(b, a)
	}
	return order, true, true
}

// compareCell orders an integer or a float against d.
func (d *digits) compareCell(v wire.Value) int {
	if v.Kind() == wire.KindInt {
		return d.compareInt(v.Int64())
	}
	return d.compareFloat(v)
}

// compareIntFloat orders an integer against a float.
func compareIntFloat(i, f wire.Value) int {
	n := i.Int64()
	if c := cmp.Compare(float64(n), f.Float64()); c != 0 {
		return c
	}
	if n >= -wire.MaxSafeInteger && n <= wire.MaxSafeInteger {
		return 0
	}
	// Beyond 2^53 several integers are nearest to one float, and its shortest
	// digits are one of them.
	var buf textBuffer
	d, _ := parseDigits(wireText(f, &buf))
	return d.compareInt(n)
}

// compareFloat orders a float against d.
//
//go:noinline
func (d *digits) compareFloat(f wire.Value) int {
	var buf textBuffer
	e, _ := parseDigits(wireText(f, &buf))
	return e.compare(d)
}
