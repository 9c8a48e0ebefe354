package connectortest

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxOperandBytes limits the texts that are used as operands.
const maxOperandBytes = 4 << 10

// column is a field with values of its rows, from which it makes operands.
type column struct {
	field  wire.Field
	values []wire.Value // a few distinct ones, with the least and the greatest
}

// newColumn selects a few values of a column: some at random, and the least and
// the greatest, where comparisons often go wrong.
func newColumn(f wire.Field, cells []wire.Value, random *rand.Rand) column {
	seen := map[string]bool{}
	var distinct []wire.Value
	var least, greatest wire.Value
	for _, v := range cells {
		key := string(filter.AppendKey(nil, v, f.Type))
		if v.IsNull() || seen[key] || len(v.Text()) > maxOperandBytes {
			continue
		}
		seen[key] = true
		distinct = append(distinct, v)
		if c, ok := filter.Compare(v, least, f.Type); !ok && least.IsNull() || ok && c < 0 {
			least = v
		}
		if c, ok := filter.Compare(v, greatest, f.Type); !ok && greatest.IsNull() || ok && c > 0 {
			greatest = v
		}
	}
	random.Shuffle(len(distinct), func(i, j int) { distinct[i], distinct[j] = distinct[j], distinct[i] })
	c := column{field: f}
	if len(distinct) > 0 {
		c.values = append(distinct[:min(2, len(distinct))], least, greatest)
	}
	return c
}

// filters returns filters on the column by one operator, with operands that
// match and that do not, other spellings of the same value, nulls and empty
// operands.
func (c column) filters(op wire.Op) []wire.Filter {
	var filters []wire.Filter
	value := func(values ...wire.Value) {
		for _, v := range values {
			filters = append(filters, wire.Filter{Field: c.field.Name, Op: op, Value: v})
		}
	}
	member := func(values ...wire.Value) {
		filters = append(filters, wire.Filter{Field: c.field.Name, Op: op, Values: values})
	}
	switch op {
	case wire.OpIsNull, wire.OpNotNull:
		return []wire.Filter{{Field: c.field.Name, Op: op}}
	case wire.OpIn, wire.OpNin:
		member()            // in matches nothing, nin drops nothing
		member(wire.Null()) // the same
		member(c.stranger())
		member(c.near()...)
		if len(c.values) > 0 {
			member(c.values[0])
			member(append([]wire.Value{wire.Null(), c.stranger()}, c.values...)...)
			member(c.twins(c.values[0])...)
		}
	case wire.OpContains:
		value(wire.Null(), wire.Text(""))
		for _, v := range c.values {
			value(elements(v)...)
			value(v) // text that is not an array contains nothing, not even itself
		}
	case wire.OpIncludes, wire.OpStartsWith:
		value(wire.Null(), wire.Text(""), c.stranger())
		for _, v := range c.values {
			value(parts(v.String())...)
		}
	default:
		value(wire.Null(), wire.Text(""), c.stranger())
		value(c.near()...)
		value(c.values...)
		for _, v := range c.values {
			value(c.twins(v)...)
		}
	}
	return filters
}

// stranger returns a value that the column is unlikely to have.
func (c column) stranger() wire.Value {
	switch c.field.Type {
	case wire.TypeNumber, wire.TypeDecimal:
		return wire.Text("-987654321.0123456789")
	case wire.TypeDate:
		return wire.Text("1066-10-14")
	case wire.TypeDatetime:
		return wire.Text("1066-10-14T09:00:00Z")
	}
	return wire.Text("no such value \u2603")
}

// near returns values that look like one of the column's values, or like a value
// of its type, and are not.
func (c column) near() []wire.Value {
	switch c.field.Type {
	case wire.TypeNumber, wire.TypeDecimal:
		near := []wire.Value{wire.Text("n/a"), wire.Text("1e3"), wire.Bool(true)} // not numbers
		for _, v := range c.values {
			if wire.IsDecimal(v.String()) {
				text := v.String()
				if !strings.Contains(text, ".") {
					text += "."
				}
				near = append(near, wire.Text(text+"0000000000000000001")) // more digits than a float has
				break
			}
		}
		return near
	case wire.TypeBoolean:
		return []wire.Value{wire.Int(1), wire.Text("TRUE")} // true is not 1
	case wire.TypeDate, wire.TypeDatetime:
		return []wire.Value{wire.Text("tomorrow")} // compares as bytes
	}
	var near []wire.Value
	for _, v := range c.values {
		if text := v.String(); v.Kind() == wire.KindText && text != "" {
			near = append(near, wire.Text(text+" "), wire.Text(otherCase(text))) // no trimming, no case folding
			break
		}
	}
	return near
}

// twins returns other spellings of the same value.
func (c column) twins(v wire.Value) []wire.Value {
	text := v.String()
	switch c.field.Type {
	case wire.TypeNumber, wire.TypeDecimal:
		if !wire.IsDecimal(text) {
			return nil
		}
		sign, digits := "+", strings.TrimPrefix(text, "+")
		if strings.HasPrefix(text, "-") {
			sign, digits = "-", text[1:]
		}
		if !strings.Contains(digits, ".") {
			digits += "."
		}
		twins := []wire.Value{wire.Text(sign + "0" + digits + "0")}
		if f, err := strconv.ParseFloat(text, 64); err == nil && len(text) <= 15 {
			twins = append(twins, wire.Float(f))
		}
		return twins
	case wire.TypeDate:
		if _, ok := instant(v); ok {
			return []wire.Value{wire.Text(text + "T00:00:00Z")}
		}
	case wire.TypeDatetime:
		if at, ok := instant(v); ok {
			return []wire.Value{wire.Text(at.In(time.FixedZone("", 2*3600)).Format(time.RFC3339Nano))}
		}
	case wire.TypeBoolean:
		return []wire.Value{wire.Text(text)} // booleans compare as text
	}
	return nil
}

// elements returns the scalars of an array cell, and a prefix of each text.
func elements(v wire.Value) []wire.Value {
	var list []any
	d := json.NewDecoder(strings.NewReader(v.Text()))
	d.UseNumber()
	if d.Decode(&list) != nil {
		return nil
	}
	var values []wire.Value
	for _, e := range list[:min(len(list), 3)] {
		switch e := e.(type) {
		case string:
			values = append(values, wire.Text(e))
			if _, size := utf8.DecodeRuneInString(e); size < len(e) {
				values = append(values, wire.Text(e[:size])) // a part of an element is not an element
			}
		case json.Number:
			if f, err := e.Float64(); err == nil {
				values = append(values, wire.Float(f), wire.Text(e.String()))
			}
		case bool:
			values = append(values, wire.Bool(e))
		}
	}
	return values
}

// parts returns a prefix, a substring and a case variant of a text.
func parts(text string) []wire.Value {
	runes := []rune(text)
	if len(runes) < 2 {
		return []wire.Value{wire.Text(text)}
	}
	return []wire.Value{
		wire.Text(text),
		wire.Text(string(runes[:(len(runes)+1)/2])),
		wire.Text(string(runes[1:])),
		wire.Text(otherCase(string(runes[:(len(runes)+1)/2]))),
		wire.Text("%"), wire.Text("_"), // wildcards of SQL are plain characters
	}
}

func otherCase(text string) string {
	if upper := strings.ToUpper(text); upper != text {
		return upper
	}
	return strings.ToLower(text)
}
