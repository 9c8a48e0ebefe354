package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// candidates returns filters with an operator on a column, of operands from the
// column's values and their neighbours.
func (d random) candidates(c *Column, n *notable, op wire.Op) (list []wire.Filter) {
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
		if op != wire.OpEq {
			break
		}
		if v, ok := c.absent(0); ok {
			with(v)
		}
		if len(c.cells) <= fewValues {
			for _, v := range c.cells {
				if len(v.String()) <= maxLongOperand && !slices.ContainsFunc(n.values, func(o wire.Value) bool { return o.String() == v.String() }) {
					with(v)
				}
			}
		}
	}
	with(wire.Null())
	if !isTime(c.Type) {
		with(wire.Text(""))
	}
	return list
}

// neighbours returns values that are not in the column, next to some that are: in
// other letters, with a blank, spelled otherwise, a little larger.
func (d random) neighbours(c *Column, n *notable) (list []wire.Value) {
	present := map[string]bool{}
	for _, v := range c.cells {
		present[v.String()] = true
	}
	for i, v := range n.values {
		var near []wire.Value
		add := func(v wire.Value, ok bool) {
			if ok {
				near = append(near, v)
			}
		}
		switch {
		case isTime(c.Type):
			add(d.nearInstant(v.String()))
		case c.Type.Numeric():
			add(d.near(v, c.Type))
			add(d.respelled(v.String()))
		case c.Type == wire.TypeBoolean:
			add(wire.Text(v.String()), true)
		case isText(c.Type):
			add(d.otherCase(v.String()))
			add(changed(v, unaccented))
			add(changed(v, sharpless))
			add(changed(v, strings.TrimSpace))
			add(wildcarded(v.String()))
			switch i % 3 {
			case 0:
				add(wire.Text(v.String()+" "), true)
			case 1:
				add(d.part(v.String(), wire.OpStartsWith))
			case 2:
				add(d.near(v, c.Type))
			}
		}
		for _, v := range near {
			if !present[v.String()] && len(v.String()) <= maxLongOperand {
				list = append(list, v)
			}
		}
		if len(list) > 2*notableValues {
			break
		}
	}
	return list
}

// changed returns a text that a function changes.
func changed(v wire.Value, change func(string) string) (wire.Value, bool) {
	other := change(v.String())
	return wire.Text(other), other != v.String()
}

// wildcarded returns a text with its second character replaced by a wildcard of LIKE.
func wildcarded(text string) (wire.Value, bool) {
	runes := []rune(text)
	if len(runes) < 2 {
		return wire.Value{}, false
	}
	runes[1] = '_'
	return wire.Text(string(runes)), true
}

// listSizes are the sizes of lists at which sources are known to cut or refuse.
var listSizes = []int{3, 6, 10, 11, 40, 110, 501, 1001}

// lists returns lists of members. In all of them, members that are in the column come
// last, so that a list that is cut loses them.
func (d random) lists(c *Column, n *notable) (lists [][]wire.Value) {
	absent := d.neighbours(c, n)
	for i, v := range n.values {
		other := n.values[(i+1)%len(n.values)]
		lists = append(lists, []wire.Value{other, v}, []wire.Value{v})
		if len(absent) > 0 {
			lists = append(lists, []wire.Value{absent[i%len(absent)], v})
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
	for _, v := range absent[:min(len(absent), 12)] {
		lists = append(lists, []wire.Value{v})
	}
	if len(c.cells) > 1 && len(c.cells) <= fewValues {
		all := slices.Clone(c.cells)
		d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
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
// in the column. Between them are others, or the first again where there are none.
func (c *Column) longList(n *notable, size int) (list []wire.Value) {
	first, last := n.values[0], n.values[1:min(len(n.values), 2+size/8)]
	list = append(list, first)
	for i := range size - 1 - len(last) {
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
func (d random) partsFor(c *Column, n *notable, op wire.Op, with func(wire.Value)) {
	part := func(runes []rune, from, to int) {
		if from < 0 || to > len(runes) || from >= to {
			return
		}
		text := string(runes[from:to])
		with(wire.Text(text))
		if other, ok := d.otherCase(text); ok && isText(c.Type) {
			with(other)
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
func (d random) elementsFor(c *Column, n *notable, with func(wire.Value)) {
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
		}
		if len(seen) == 10 {
			break
		}
		with(wire.Text(`"` + v.String() + `"`))
	}
	for _, punctuation := range []string{",", `"`, "["} {
		with(wire.Text(punctuation)) // of the list as a text
	}
	with(n.values[0])
}
