package exam

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// candidates returns filters with an operator on a column, of operands from the
// column's values and their neighbours.
func (d random) candidates(c *Column, n *edgeValues, op wire.Op) (list []wire.Filter) {
	with := func(v wire.Value) { list = append(list, wire.Filter{Field: c.Name, Op: op, Value: v}) }
	switch {
	case terms.ShapeOf(op) == terms.ShapeNullary:
		return []wire.Filter{{Field: c.Name, Op: op}}
	case terms.ShapeOf(op) == terms.ShapeMember:
		for _, values := range d.lists(c, n) {
			list = append(list, wire.Filter{Field: c.Name, Op: op, Values: values})
		}
		return list
	case op == wire.OpContains:
		d.elementsFor(c, n, with)
	case op == wire.OpIncludes || op == wire.OpStartsWith:
		d.partsFor(c, n, op, with)
	default:
		for _, v := range n.values {
			with(v)
		}
		for _, v := range d.neighbours(c, n) {
			with(v)
		}
		if c.Type == wire.TypeDatetime {
			for _, day := range daysOf(n.values) {
				with(day)
			}
		}
		if c.Type == wire.TypeDate {
			for _, v := range n.values[:min(len(n.values), neighboursOfKind)] {
				with(wire.Text(v.String() + "T14:30:00Z")) // by bytes and as an instant later than the day
			}
		}
		if c.Type.Numeric() {
			with(wire.Text("n/a"))
		}
		if op != wire.OpEq {
			break
		}
		if v, ok := c.absent(0); ok {
			with(v)
		}
		if len(c.cells) <= MaxValues {
			for _, v := range c.cells {
				if len(v.String()) <= maxLongOperand && !slices.ContainsFunc(n.values, func(o wire.Value) bool { return o.String() == v.String() }) {
					with(v)
				}
			}
		}
	}
	with(wire.Null())
	if !terms.IsTime(c.Type) {
		with(wire.Text(""))
	}
	return list
}

// daysOf returns the days of instants. A day means the same by bytes and as its midnight in UTC, unless
// an instant is that midnight.
func daysOf(instants []wire.Value) (days []wire.Value) {
	for _, v := range instants {
		if text := v.Text(); len(text) > len(time.DateOnly) {
			if day := wire.Text(text[:len(time.DateOnly)]); !slices.Contains(days, day) {
				days = append(days, day)
			}
		}
	}
	return days
}

// collated are respellings of a text that some collation takes for the same. Like the others, they
// return the text itself where it has no such neighbour.
var collated = []func(string) string{
	strings.ToUpper, strings.ToLower, unaccented, accented, sharpless, sharp, decomposed, composed,
}

// respellings both lose and gain what comparisons ignore: where a row has the plain text,
// only the other operand shows that they are taken for one.
var respellings = slices.Concat(collated, []func(string) string{
	strings.TrimSpace, func(text string) string { return text + " " }, wildcarded,
})

// numberRespellings are texts that a comparison of numbers takes for a text of digits.
var numberRespellings = []func(string) string{
	canonicalNumber,
	func(text string) string { return "0" + text },
	func(text string) string { return "+" + text },
	func(text string) string { return text + strings.Repeat(".", 1-min(1, strings.Count(text, "."))) + "0" },
	func(text string) string { return " " + text },
	exponential,
}

// exponential returns a number of some digits with an exponent.
func exponential(text string) string {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > 15 {
		return text
	}
	return shortExponent.Replace(strconv.FormatFloat(x, 'e', -1, 64))
}

// neighboursOfKind is how many values are respelled in each way.
const neighboursOfKind = 4

// neighbours returns values that are not in the column, next to some that are: in
// other letters, with a blank, spelled otherwise, a little larger. Those that differ most
// from each other come first.
func (d random) neighbours(c *Column, n *edgeValues) (list []wire.Value) {
	kinds := d.neighboursByKind(c, n)
	for i := range 2 * maxEdgeValues {
		for _, kind := range kinds {
			if i < len(kind) {
				list = append(list, kind[i])
			}
		}
	}
	return list
}

// neighboursByKind returns a list of neighbours for each way in which one can differ.
func (d random) neighboursByKind(c *Column, n *edgeValues) [][]wire.Value {
	orSame := func(text string, v wire.Value, ok bool) string {
		if !ok {
			return text
		}
		return v.String()
	}
	ways := append(slices.Clone(respellings), func(text string) string {
		v, ok := d.part(text, wire.OpStartsWith)
		return orSame(text, v, ok)
	}, func(text string) string {
		v, ok := d.near(wire.Text(text), wire.TypeString)
		return orSame(text, v, ok)
	})
	ofTexts := len(ways)
	ways = append(ways, numberRespellings...)
	kinds := make([][]wire.Value, len(ways))
	add := func(kind int, v wire.Value) {
		known := c.has(v) || slices.ContainsFunc(kinds[kind], func(o wire.Value) bool { return o.String() == v.String() })
		if !known && len(v.String()) <= maxLongOperand {
			kinds[kind] = append(kinds[kind], v)
		}
	}
	for _, v := range n.values {
		text := v.String()
		switch {
		case terms.IsTime(c.Type):
			if v, ok := d.nearInstant(text); ok {
				add(0, v)
			}
		case c.Type.Numeric():
			if v, ok := d.near(v, c.Type); ok {
				add(0, v)
			}
			if v, ok := d.respelled(text); ok {
				add(1, v)
			}
		case c.Type == wire.TypeBoolean:
			add(0, wire.Text(text))
		case isText(c.Type):
			for kind, respell := range ways {
				if len(kinds[kind]) == neighboursOfKind || kind >= ofTexts && !terms.IsDecimal(text) {
					continue
				}
				if other := respell(text); other != text {
					add(kind, wire.Text(other))
				}
			}
		}
	}
	return kinds
}

// wildcarded returns a text with its second character replaced by a wildcard of LIKE.
func wildcarded(text string) string {
	runes := []rune(text)
	if len(runes) > 1 {
		runes[1] = '_'
	}
	return string(runes)
}

// listSizes are the sizes of lists at which sources are known to cut or refuse.
var listSizes = []int{3, 6, 10, 11, 40, 110, 501, 1001}

// absentLists is how many values that are not in the column are asked for in lists.
const absentLists = 24

// lists returns lists of members. Members that are in the column come last: a connector
// that cuts lists loses them.
func (d random) lists(c *Column, n *edgeValues) (lists [][]wire.Value) {
	absent := d.neighbours(c, n)
	for i, v := range n.values {
		other := n.values[(i+1)%len(n.values)]
		lists = append(lists, []wire.Value{other, v}, []wire.Value{v})
		if len(absent) > 0 {
			lists = append(lists, []wire.Value{absent[i%len(absent)], v})
		}
		if i == 0 {
			lists = append(lists, []wire.Value{v, v, other})
		}
		if i == 9 {
			break
		}
	}
	lists = append(lists, []wire.Value{}, []wire.Value{wire.Null()})
	if len(n.values) == 0 {
		return lists
	}
	lists = append(lists, []wire.Value{n.values[0], wire.Null()})
	for _, v := range absent[:min(len(absent), absentLists)] {
		lists = append(lists, []wire.Value{v})
	}
	// Neighbours of several kinds in one list show several misreadings at once.
	for some := range slices.Chunk(absent[:min(len(absent), absentLists)], longList-1) {
		lists = append(lists, some)
	}
	if len(c.cells) > 1 && len(c.cells) <= MaxValues {
		all := slices.Clone(c.cells)
		shuffle(d, all)
		lists = append(lists, all)
	}
	if v, ok := c.absent(0); ok {
		lists = append(lists, []wire.Value{v})
	}
	if len(n.values) > 1 && c.Type != wire.TypeBoolean {
		for _, size := range listSizes {
			lists = append(lists, c.longList(n, size))
		}
	}
	return lists
}

// longList returns a list of so many members, of which the first and some at the end are
// in the column. The first comes twice: a join with the list answers its rows so. Between them
// are others, or the first again if the column has no others.
func (c *Column) longList(n *edgeValues, size int) (list []wire.Value) {
	first, last := n.values[0], n.values[1:min(len(n.values), 2+size/8)]
	list = append(list, first, first)
	for i := range size - 2 - len(last) {
		v, ok := c.absent(i)
		if !ok {
			v = first
		}
		list = append(list, v)
	}
	return append(list, last...)
}

// absent returns one of many values of the column's type that it does not have.
func (c *Column) absent(i int) (wire.Value, bool) {
	switch {
	case c.Type.Numeric():
		return wire.Int(int64(manyNumbers + i)), !c.hasMany
	case c.Type == wire.TypeDate && c.uniform:
		return wire.Text(fmt.Sprintf("%04d-%02d-%02d", 7000+i/336, i/28%12+1, i%28+1)), true
	case isText(c.Type):
		return wire.Text(fmt.Sprintf("absent-%d", i)), true
	}
	return wire.Value{}, false
}

// manyNumbers is the first of the numbers that fill long lists.
const manyNumbers = 987_650_001

// partsFor adds operands of includes and startswith: parts of values, and what looks
// like a part to a careless comparison.
func (d random) partsFor(c *Column, n *edgeValues, op wire.Op, with func(wire.Value)) {
	respelled := make([]int, len(collated))
	part := func(runes []rune, from, to int) {
		if from < 0 || to > len(runes) || from >= to {
			return
		}
		text := string(runes[from:to])
		with(wire.Text(text))
		for kind, change := range collated {
			if other := change(text); isText(c.Type) && other != text && respelled[kind] < 2*neighboursOfKind {
				respelled[kind]++
				with(wire.Text(other))
			}
		}
		if to-from > 1 {
			for _, wildcard := range "_.*%" {
				some := []rune(text)
				some[1] = wildcard
				with(wire.Text(string(some)))
			}
		}
	}
	for i, v := range n.values {
		runes := []rune(v.String())
		size := 1 + d.IntN(min(6, max(len(runes), 1)))
		if i == 0 {
			with(wire.Text(v.String()))
		}
		for at, r := range runes {
			switch {
			case !peculiarRune(r) && !strings.ContainsRune("*. ", r) || slices.Index(runes, r) < at:
			case op == wire.OpStartsWith:
				part(runes, 0, at)
				part(runes, 0, min(len(runes), at+2))
			default:
				part(runes, max(0, at-1), min(len(runes), at+2))
				part(runes, at+1, min(len(runes), at+6))
			}
		}
		if op == wire.OpStartsWith {
			part(runes, 0, min(size, len(runes)))
			part(runes, 1, len(runes))
			continue
		}
		part(runes, len(runes)/2, min(len(runes)/2+size, len(runes)))
		part(runes, 0, len(runes)-1)
	}
}

// elementsFor adds operands of contains: elements, and what looks like one. In a
// column without arrays, nothing contains anything.
func (d random) elementsFor(c *Column, n *edgeValues, with func(wire.Value)) {
	if len(c.elements) == 0 {
		for _, v := range n.values[:min(len(n.values), 4)] {
			with(v)
			if part, ok := d.part(v.String(), wire.OpIncludes); ok {
				with(part)
			}
		}
		return
	}
	seen := map[string]bool{}
	start := d.IntN(len(c.elements))
	for i := range c.elements {
		v := c.elements[(start+i)%len(c.elements)]
		if seen[v.String()] {
			continue
		}
		seen[v.String()] = true
		with(v)
		if other, ok := d.otherCase(v.String()); ok {
			with(other)
		}
		if part, ok := d.part(v.String(), wire.OpIncludes); ok {
			with(part)
			if number, ok := asNumber(part.String()); ok {
				with(number) // a part of a longer one
			}
		}
		if other, ok := d.otherKind(v); ok {
			with(other)
		}
		if len(seen) == 10 {
			break
		}
		with(wire.Text(`"` + v.String() + `"`))
	}
	for _, punctuation := range []string{",", `"`, "["} {
		with(wire.Text(punctuation)) // of the list as a text
	}
	for _, v := range n.values[:min(len(n.values), 1)] {
		with(v)
	}
}
