package generate

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// random makes operands by chance.
type random struct{ *rand.Rand }

// chance returns true once in so many times.
func (d random) chance(of int) bool { return d.IntN(of) == 0 }

// shuffle brings a list into any order.
func shuffle[T any](d random, list []T) {
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// pick returns one of the values.
func pick[T any](d random, from []T) T { return from[d.IntN(len(from))] }

// filters returns filters with an operator on a column, one of each way in which operands
// relate to the column's values. Connectors are known to compare each wrongly. The answers of
// some may not be settled.
func (g *Generator) filters(c *Column, op wire.Op) (list []wire.Filter) {
	switch terms.ShapeOf(op) {
	case terms.ShapeNullary:
		return []wire.Filter{{Field: c.Name, Op: op}}
	case terms.ShapeMember:
		for _, values := range g.memberLists(c) {
			list = append(list, wire.Filter{Field: c.Name, Op: op, Values: values})
		}
		return list
	}
	for _, v := range g.operands(c, op) {
		list = append(list, wire.Filter{Field: c.Name, Op: op, Value: v})
	}
	return list
}

// value returns one of the column's values, or of its elements for contains, that is short
// enough to be sent.
func (g *Generator) value(c *Column, op wire.Op) (wire.Value, bool) {
	from := c.cells
	if op == wire.OpContains && len(c.elements) > 0 {
		from = c.elements
	}
	for range min(4, len(from)) {
		if v := pick(g.random, from); len(v.String()) <= session.MaxOperand {
			return v, true
		}
	}
	return wire.Value{}, false
}

// operands returns a value of a column and others that are derived from it. Days and instants
// are compared only with operands spelled as the column spells them: how others compare is our
// decision, which no connector has to share [rule filter-9].
func (g *Generator) operands(c *Column, op wire.Op) []wire.Value {
	list := []wire.Value{wire.Null()}
	add := func(v wire.Value, ok bool) {
		if ok {
			list = append(list, v)
		}
	}
	v, ok := g.value(c, op)
	add(v, ok)
	text, inPart := v.String(), op == wire.OpIncludes || op == wire.OpStartsWith
	if ok && inPart {
		add(g.part(text, op))
		add(g.nearPart(text, op))
	} else if ok {
		of := c.Type
		if op == wire.OpContains && len(c.elements) > 0 {
			of = ""
		}
		add(g.near(v, of))
	}
	if terms.IsTime(c.Type) && !inPart {
		return list
	}
	list = append(list, wire.Text(""), g.foreign(c))
	if !ok {
		return list
	}
	list = append(list, wire.Text(pick(g.random, []string{text + " ", " " + text, text + "  "})))
	if !inPart {
		add(g.respelled(text))
		add(g.otherKind(v))
	}
	if !c.Type.Numeric() && !terms.IsTime(c.Type) {
		add(g.otherCase(text))
		if !inPart {
			add(g.part(text, op))
		}
	}
	return list
}

// memberLists returns lists of members: none, one, several, the same twice, null among them,
// and others than the values of the column.
func (g *Generator) memberLists(c *Column) [][]wire.Value {
	var some []wire.Value
	for range 4 + g.IntN(5) {
		if v, ok := g.value(c, wire.OpIn); ok {
			some = append(some, v)
		}
	}
	others := g.operands(c, wire.OpEq)
	shuffle(g.random, others)
	lists := [][]wire.Value{{}, {wire.Null()}, slices.Concat(others[:1+g.IntN(len(others))], some), slices.Concat(some, others)}
	if len(some) > 1 {
		lists = append(lists, some[:1], some[:2], some, []wire.Value{some[0], some[0]}, []wire.Value{some[1], wire.Null()})
	}
	return lists
}

// foreign returns a value of another type, or a text that only looks like a number.
func (g *Generator) foreign(c *Column) wire.Value {
	if c.Type.Numeric() && g.chance(2) {
		return wire.Text(pick(g.random, []string{"1e3", ".5", "5.", "NaN", "0x10", "abc", "1,5", "--1"}))
	}
	if len(g.all) > 0 { // else no table has values
		other := pick(g.random, g.all)
		if v, ok := g.value(other, wire.OpEq); ok && other.Type != c.Type && !(other.Type.Numeric() && c.Type.Numeric()) {
			return v
		}
	}
	return pick(g.random, []wire.Value{wire.Bool(true), wire.Int(1), wire.Text("true"), wire.Text("[]")})
}

// near returns a value next to one of a type.
func (d random) near(v wire.Value, t wire.Type) (wire.Value, bool) {
	text := v.String()
	switch {
	case terms.IsTime(t):
		return d.nearInstant(text)
	case wire.IsDecimal(text) && (t.Numeric() || t == ""):
		switch d.IntN(3) {
		case 0: // beyond every float of the same size
			if strings.Contains(text, ".") {
				return wire.Text(text + "1"), true
			}
			return wire.Text(text + ".000000000000000001"), true
		case 1:
			if last := text[len(text)-1]; last < '9' {
				return wire.Text(text[:len(text)-1] + string(last+1)), true
			}
			return wire.Text(text[:len(text)-1] + "8"), true
		}
		return wire.Text("-" + strings.TrimLeft(text, "+-")), true
	case t == wire.TypeBoolean:
		return wire.Text(text + "e"), true
	}
	if text == "" {
		return wire.Text("\x01"), true
	}
	switch d.IntN(3) {
	case 0:
		return wire.Text(text + "\u0001"), true
	case 1:
		_, size := utf8.DecodeLastRuneInString(text)
		return wire.Text(text[:len(text)-size]), true
	}
	r, size := utf8.DecodeLastRuneInString(text)
	if r++; !utf8.ValidRune(r) {
		return wire.Value{}, false
	}
	return wire.Text(text[:len(text)-size] + string(r)), true
}

// nearInstant changes one digit of a day or an instant, so that it still exists.
func (d random) nearInstant(text string) (wire.Value, bool) {
	for range 8 {
		at := d.IntN(len(text))
		if text[at] < '0' || text[at] > '9' {
			continue
		}
		other := text[:at] + strconv.Itoa(d.IntN(10)) + text[at+1:]
		layout := time.RFC3339
		if len(text) == len(time.DateOnly) {
			layout = time.DateOnly
		}
		// No leap second, no hour 24 and no year before 1000: not every source
		// knows them.
		if _, err := time.Parse(layout, other); err == nil && other != text && other[0] != '0' {
			return wire.Text(other), true
		}
	}
	return wire.Value{}, false
}

// respelled returns a number written otherwise: it is equal as a number and not
// as a text.
func (d random) respelled(text string) (wire.Value, bool) {
	if !wire.IsDecimal(text) {
		return wire.Value{}, false
	}
	sign, digits := "", text
	if text[0] == '-' || text[0] == '+' {
		sign, digits = text[:1], text[1:]
	}
	switch d.IntN(4) {
	case 0:
		return wire.Text(sign + "00" + digits), true
	case 1:
		if sign == "" {
			return wire.Text("+" + digits), true
		}
	case 2:
		if plain := canonicalNumber(text); plain != text {
			return wire.Text(plain), true
		}
	}
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	return wire.Text(sign + digits + "0"), true
}

// otherKind returns the value as another kind of JSON scalar with the same text.
func (d random) otherKind(v wire.Value) (wire.Value, bool) {
	switch v.Kind() {
	case wire.KindBool, wire.KindInt, wire.KindFloat:
		return wire.Text(v.String()), true
	}
	switch text := v.String(); text {
	case "true", "false":
		return wire.Bool(text == "true"), true
	default:
		return asNumber(text)
	}
}

// otherCase returns a text in other letters.
func (d random) otherCase(text string) (wire.Value, bool) {
	all := []string{strings.ToUpper(text), strings.ToLower(text)}
	if r, size := utf8.DecodeRuneInString(text); size > 0 {
		all = append(all, string(unicode.ToUpper(r))+text[size:])
	}
	all = slices.DeleteFunc(all, func(other string) bool { return other == text })
	if len(all) == 0 {
		return wire.Value{}, false
	}
	return wire.Text(pick(d, all)), true
}

// part returns a beginning, a middle or an end of a text, of whole characters.
func (d random) part(text string, op wire.Op) (wire.Value, bool) {
	runes := []rune(text)
	if len(runes) < 2 {
		return wire.Value{}, false
	}
	from, to := 0, len(runes)
	way := d.IntN(3)
	if op == wire.OpStartsWith && d.chance(2) {
		way = 0
	}
	switch way {
	case 0:
		to = 1 + d.IntN(len(runes)-1)
	case 1:
		from = 1 + d.IntN(len(runes)-1)
	default:
		from = d.IntN(len(runes) - 1)
		to = from + 1 + d.IntN(min(3, len(runes)-from))
	}
	return wire.Text(string(runes[from:to])), true
}

// nearPart returns a part of a text with one character replaced, by another or by
// a wildcard of LIKE, so that it is no part any more.
func (d random) nearPart(text string, op wire.Op) (wire.Value, bool) {
	runes := []rune(text)
	if len(runes) == 0 {
		return wire.Value{}, false
	}
	from := 0
	if op == wire.OpIncludes {
		from = d.IntN(len(runes))
	}
	runes = runes[from : from+1+d.IntN(len(runes)-from)]
	runes[d.IntN(len(runes))] = pick(d, []rune("_%z"))
	return wire.Text(string(runes)), true
}
