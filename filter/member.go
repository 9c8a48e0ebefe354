package filter

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fewTexts is how many texts are searched one by one; more are hashed.
const fewTexts = 8

// texts is a set of texts, compared as bytes.
type texts struct {
	few  []string
	many map[string]struct{}
}

func newTexts(list []string) texts {
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) <= fewTexts {
		return texts{few: list}
	}
	many := make(map[string]struct{}, len(list))
	for _, s := range list {
		many[s] = struct{}{}
	}
	return texts{many: many}
}

func (t *texts) has(s string) bool {
	if t.many != nil {
		_, ok := t.many[s]
		return ok
	}
	for _, e := range t.few {
		if e == s {
			return true
		}
	}
	return false
}

// hasCell looks up the text of a cell.
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

// has looks up a cell; not ok when the cell is not a number.
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

// search is a binary search by the order of the cell against a member.
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

// testMember tests for membership in a list (A3). Null members are ignored,
// and so are those that can equal no cell of the family.
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
				continue // incomparable with every cell
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
	// A cell that is a number equals only members that are, and one that is
	// not only members that are not; instants likewise. So each cell is looked
	// up in one set.
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
