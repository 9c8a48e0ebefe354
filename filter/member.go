package filter

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxLinearTexts is the size up to which a set of texts is searched one by
// one. Larger sets are hashed.
const maxLinearTexts = 8

// texts is a set of texts, compared as bytes. One of the two members is in use.
type texts struct {
	list   []string
	hashed map[string]struct{}
}

func newTexts(list []string) texts {
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) <= maxLinearTexts {
		return texts{list: list}
	}
	hashed := make(map[string]struct{}, len(list))
	for _, s := range list {
		hashed[s] = struct{}{}
	}
	return texts{hashed: hashed}
}

func (t *texts) has(s string) bool {
	if t.hashed != nil {
		_, ok := t.hashed[s]
		return ok
	}
	for _, e := range t.list {
		if e == s {
			return true
		}
	}
	return false
}

// hasCell reports whether the set has the text of a cell.
func (t *texts) hasCell(v wire.Value) bool {
	if isText(v.Kind()) {
		return t.has(v.Text())
	}
	return v.Kind() != wire.KindInvalid && t.hasSpelled(v)
}

//go:noinline
func (t *texts) hasSpelled(v wire.Value) bool {
	var buf textBuffer
	return t.has(wireText(v, &buf))
}

// numbers is a set of numbers, ordered by their digits.
type numbers []number

func newNumbers(list []number) numbers {
	slices.SortFunc(list, func(a, b number) int { return a.digits.compare(&b.digits) })
	return slices.CompactFunc(list, func(a, b number) bool { return a.digits.compare(&b.digits) == 0 })
}

// has reports whether the set has a cell, and whether the cell is a number.
func (list numbers) has(v wire.Value) (found, ok bool) {
	switch v.Kind() {
	case wire.KindInt:
		i := v.Int64()
		return list.search(func(n *number) int { return compareFloor(i, n.k, n.above, n.beyond) }), true
	case wire.KindFloat:
		f := v.Float64()
		return list.search(func(n *number) int { return n.compareFloat(f) }), true
	case wire.KindText, wire.KindDecimal:
		d, ok := parseDigits(v.Text())
		return ok && list.search(func(n *number) int { return d.compare(&n.digits) }), ok
	}
	return false, false
}

// search does a binary search. order compares the cell with a member.
func (list numbers) search(order func(*number) int) bool {
	low, high := 0, len(list)
	for low < high {
		mid := int(uint(low+high) >> 1)
		switch c := order(&list[mid]); {
		case c == 0:
			return true
		case c < 0:
			high = mid
		default:
			low = mid + 1
		}
	}
	return false
}

// instants is a set of instants in order.
type instants []instant

func newInstants(list []instant) instants {
	slices.SortFunc(list, instant.compare)
	return slices.CompactFunc(list, func(a, b instant) bool { return a.compare(b) == 0 })
}

func (list instants) has(t instant) bool {
	_, found := slices.BinarySearchFunc(list, t, instant.compare)
	return found
}

// testMember returns a test that a cell equals a member of values. It ignores
// null members and members that cannot equal any cell of the family.
func testMember(values []wire.Value, f family) func(wire.Value) bool {
	var plain []string
	var nums []number
	var times []instant
	for _, v := range values {
		if v.IsNull() {
			continue
		}
		switch f {
		case numeric, undeclared:
			if n, ok := parseNumber(v); ok {
				nums = append(nums, n)
				continue
			}
			if f == numeric {
				continue // equals no cell
			}
		case temporal:
			if t, ok := instantOf(v); ok {
				t.rest = strings.Clone(t.rest)
				times = append(times, t)
				continue
			}
		}
		plain = append(plain, ownText(v))
	}
	// A numeric cell can equal only numeric members, and any other cell only
	// the other members. The same is true of instants. So each cell is looked
	// up in one set only.
	set := newTexts(plain)
	switch {
	case len(nums) > 0:
		list := newNumbers(nums)
		return func(v wire.Value) bool {
			if found, ok := list.has(v); ok {
				return found
			}
			return set.hasCell(v)
		}
	case len(times) > 0:
		list := newInstants(times)
		return func(v wire.Value) bool {
			if t, ok := instantOf(v); ok {
				return list.has(t)
			}
			return set.hasCell(v)
		}
	case len(plain) == 0:
		return never
	}
	return set.hasCell
}
