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
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// class is how an operand relates to the values of its column. Connectors are
// known to compare each class wrongly.
type class string

// The classes of a single operand.
const (
	classValue    class = "value"    // one of the column's values
	classNear     class = "near"     // next to one of them
	classSpelling class = "spelling" // a number written otherwise
	classKind     class = "kind"     // a number as text, text as a number, a boolean as text
	classCase     class = "case"     // in other letters
	classPart     class = "part"     // a beginning, a middle or an end of one
	classBlank    class = "blank"    // with a blank behind it, or before it
	classNull     class = "null"
	classEmpty    class = "empty"   // the empty text
	classForeign  class = "foreign" // a value of another type
)

// The classes of a list of operands.
const (
	classOne       class = "one member"
	classSeveral   class = "several members"
	classMany      class = "many members"
	classTwice     class = "the same member twice"
	classWithNull  class = "members and null"
	classNulls     class = "only null"
	classNone      class = "no members"
	classSpellings class = "members spelled otherwise"
	classForeigns  class = "members of other types"
)

// classes returns the classes of operands of an operator on columns of a type.
// Days and instants are compared only with operands spelled as the column spells
// them: how others compare is our decision, which no connector has to share
// [rule filter-9].
func classes(op wire.Op, t wire.Type) []class {
	dated := isTime(t)
	switch op {
	case wire.OpIsNull, wire.OpNotNull:
		return []class{classValue}
	case wire.OpIn, wire.OpNin:
		list := []class{classOne, classSeveral, classMany, classTwice, classWithNull, classNulls, classNone}
		if !dated {
			list = append(list, classSpellings, classForeigns)
		}
		return list
	case wire.OpIncludes, wire.OpStartsWith:
		list := []class{classPart, classNear, classBlank, classNull, classEmpty, classForeign}
		if t != wire.TypeDatetime { // how many digits its fraction has is not settled
			list = append(list, classValue)
		}
		if isTextual(t) {
			list = append(list, classCase)
		}
		return list
	case wire.OpContains:
		switch {
		case t == wire.TypeArray || t == wire.TypeJSON:
			return []class{
				classValue, classNear, classSpelling, classKind, classCase, classPart, classBlank,
				classNull, classEmpty, classForeign,
			}
		case dated || t.Numeric() || t == wire.TypeBoolean:
			return []class{classValue, classNull}
		}
		return []class{classValue, classPart, classNull, classEmpty, classForeign}
	}
	list := []class{classValue, classNear, classNull}
	if dated {
		return list
	}
	list = append(list, classBlank, classEmpty, classForeign)
	if t != wire.TypeArray {
		list = append(list, classKind)
	}
	if t.Numeric() || t == wire.TypeString {
		list = append(list, classSpelling)
	}
	if isTextual(t) {
		list = append(list, classCase, classPart)
	}
	return list
}

// isTextual reports whether the values of a type are texts with letters in them.
func isTextual(t wire.Type) bool {
	return !t.Numeric() && !isTime(t)
}

// random makes operands by chance.
type random struct{ *rand.Rand }

// chance returns true once in so many times.
func (d random) chance(of int) bool { return d.IntN(of) == 0 }

// pick returns one of the values.
func pick[T any](d random, from []T) T { return from[d.IntN(len(from))] }

// value returns one of the column's values that is short enough to be sent.
func (d random) value(c *Column) (wire.Value, bool) {
	for range 4 {
		if len(c.cells) == 0 {
			break
		}
		if v := pick(d, c.cells); len(v.String()) <= session.MaxOperand {
			return v, true
		}
	}
	return wire.Value{}, false
}

// operand returns a value of a class for an operator. It reports false if the
// column has none.
func (d random) operand(c *Column, op wire.Op, k class, others []*Column) (v wire.Value, ok bool) {
	switch k {
	case classNull:
		return wire.Null(), true
	case classEmpty:
		return wire.Text(""), true
	case classForeign:
		return d.foreign(c, others)
	}
	of := c.Type
	if op == wire.OpContains && len(c.elements) > 0 {
		v, ok = pick(d, c.elements), true
		of = ""
	} else if v, ok = d.value(c); !ok {
		return v, false
	}
	text := v.String()
	switch k {
	case classNear:
		if op == wire.OpIncludes || op == wire.OpStartsWith {
			return d.nearPart(text, op)
		}
		return d.near(v, of)
	case classSpelling:
		return d.respelled(text)
	case classKind:
		return d.otherKind(v)
	case classCase:
		return d.otherCase(text)
	case classPart:
		return d.part(text, op)
	case classBlank:
		return wire.Text(pick(d, []string{text + " ", " " + text, text + "  "})), true
	}
	return v, true
}

// members returns a list of a class.
func (d random) members(c *Column, k class, others []*Column) ([]wire.Value, bool) {
	list := []wire.Value{}
	switch k {
	case classNone:
		return list, true
	case classNulls:
		return append(list, wire.Null()), true
	}
	sizes := map[class]int{classOne: 1, classSeveral: 2 + d.IntN(2), classMany: 4 + d.IntN(5)}
	for range max(sizes[k], 1) {
		v, ok := d.value(c)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	switch k {
	case classSeveral, classMany:
		if v, ok := d.near(list[0], c.Type); ok && d.chance(2) {
			list = append(list, v)
		}
	case classTwice:
		list = append(list, list[0])
	case classWithNull:
		list = append(list, wire.Null())
	case classSpellings:
		for _, other := range []class{classSpelling, classKind, classCase, classBlank} {
			if v, ok := d.operand(c, wire.OpEq, other, others); ok {
				list = append(list, v)
			}
		}
		list = list[1:]
	case classForeigns:
		for range 2 {
			if v, ok := d.foreign(c, others); ok {
				list = append(list, v)
			}
		}
	}
	if len(list) == 0 {
		return nil, false
	}
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list, true
}

// foreign returns a value of another type, or one that looks like a number and is
// none.
func (d random) foreign(c *Column, others []*Column) (wire.Value, bool) {
	if c.Type.Numeric() && d.chance(2) {
		return wire.Text(pick(d, []string{"1e3", ".5", "5.", "NaN", "0x10", "abc", "1,5", "--1"})), true
	}
	for range min(8, len(others)) {
		o := pick(d, others)
		if o.Type == c.Type || c.Type.Numeric() && o.Type.Numeric() {
			continue
		}
		if v, ok := d.value(o); ok {
			return v, true
		}
	}
	return pick(d, []wire.Value{wire.Bool(true), wire.Int(1), wire.Text("true"), wire.Text("[]")}), true
}

// near returns a value next to one of a type.
func (d random) near(v wire.Value, t wire.Type) (wire.Value, bool) {
	text := v.String()
	switch {
	case isTime(t):
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
