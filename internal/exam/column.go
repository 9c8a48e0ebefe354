package exam

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Column is what operands for a column are made from.
type Column struct {
	wire.Column
	at       int
	cells    []wire.Value   // its distinct values without null
	rows     []int          // how many rows have each of them
	known    map[string]int // the index of each of them, by its text
	nulls    int
	elements []wire.Value // the elements of its arrays
	// What discovery says of the column.
	filterable, groupable, aggregatable bool
	// manySpellings is set when equal values are spelled differently. Then neither
	// the groups nor the number of distinct values is settled.
	manySpellings bool
	// uniform is set when all days or instants are spelled alike, so that byte
	// order is time order. It is always set for other types.
	uniform    bool
	hasMany    bool          // it has numbers like those that fill long lists
	edgeValues *edgeValues   // once it is wanted
	sample     *oracle.Cells // of the sample's rows, once they are filtered

	strict bool // of a strict subject

	// sortable is set when every reading of the protocol sorts the column alike.
	sortable bool
}

// profile returns a column of a table for the making of operands.
func profile(t *oracle.Table, at int, f *wire.Field) *Column {
	c := &Column{Column: t.Columns[at], at: at, uniform: true}
	c.filterable, c.groupable, c.aggregatable = terms.Allowed(f.Filterable), terms.Allowed(f.Groupable), terms.Allowed(f.Aggregatable)
	c.known = map[string]int{}
	for _, row := range t.Rows {
		v := row[at]
		if v.IsNull() {
			c.nulls++
			continue
		}
		text := v.String()
		i, known := c.known[text]
		if !known {
			i = len(c.cells)
			c.known[text] = i
			c.cells, c.rows = append(c.cells, v), append(c.rows, 0)
		}
		c.rows[i]++
	}
	switch c.Type {
	case wire.TypeDate, wire.TypeDatetime:
		c.uniform = spelledAlike(c.cells)
		c.manySpellings = !c.uniform
	case wire.TypeNumber, wire.TypeDecimal:
		values := map[string]bool{}
		for _, v := range c.cells {
			digits := canonicalNumber(v.String())
			c.hasMany = c.hasMany || len(digits) >= 9 && digits[:5] == "98765"
			c.manySpellings = c.manySpellings || values[digits]
			values[digits] = true
		}
	case wire.TypeJSON, wire.TypeArray:
		c.manySpellings = len(c.cells) > 100 || anySame(c.cells, c.Type)
	}
	c.sortable = c.uniform && oracle.Unsettled(t, []wire.SortKey{{Field: c.Name, Dir: wire.Desc}}, nil) == ""
	for _, v := range c.cells[:min(len(c.cells), 1000)] {
		if len(c.elements) < 100 && strings.HasPrefix(v.String(), "[") {
			c.elements = append(c.elements, elementsOf(v.String())...)
		}
	}
	return c
}

// anySame reports whether two of the cells are equal.
func anySame(cells []wire.Value, t wire.Type) bool {
	for i, a := range cells {
		for _, b := range cells[:i] {
			if oracle.Same(a, b, t) {
				return true
			}
		}
	}
	return false
}

// spelledAlike reports whether all of the values are days or instants of one shape, or null.
func spelledAlike(values []wire.Value) bool {
	first := ""
	for _, v := range values {
		if v.IsNull() {
			continue
		}
		pattern := digitPattern(v.String())
		if cmp.Or(first, pattern) != pattern || !isInstant(v) {
			return false
		}
		first = pattern
	}
	return true
}

// digitPattern returns a text with every digit replaced by 0.
func digitPattern(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
}

// isInstant reports whether the oracle takes a value for a day or an instant: then
// it equals the same instant in another spelling.
func isInstant(v wire.Value) bool {
	text := v.String()
	return (len(text) == len(time.DateOnly) || strings.HasSuffix(text, "Z")) && oracle.IsInstant(text)
}

// elementsOf returns the scalars of an array, except numbers with so many digits
// that a JSON library may round them.
func elementsOf(text string) (list []wire.Value) {
	var all []any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if !json.Valid([]byte(text)) || d.Decode(&all) != nil {
		return nil
	}
	for _, e := range all {
		switch e := e.(type) {
		case string:
			list = append(list, wire.Text(e))
		case bool:
			list = append(list, wire.Bool(e))
		case json.Number:
			if v, ok := asNumber(e.String()); ok {
				list = append(list, v)
			}
		}
	}
	return short(list)
}

// short returns those of the values that are short enough to be sent in lists.
func short(list []wire.Value) []wire.Value {
	return slices.DeleteFunc(list, func(v wire.Value) bool { return len(v.String()) > MaxOperand })
}

// asNumber returns a plain decimal text as a JSON number, if every JSON library
// reads that as the same digits.
func asNumber(text string) (wire.Value, bool) {
	if !terms.IsDecimal(text) || len(text) > 15 {
		return wire.Value{}, false
	}
	f, err := strconv.ParseFloat(text, 64)
	v := wire.Float(f)
	if err != nil || v.String() != text {
		return wire.Value{}, false
	}
	return v, true
}

// canonicalNumber returns a number without needless zeros and without a plus
// sign.
func canonicalNumber(text string) string {
	if !terms.IsDecimal(text) {
		return text
	}
	negative := text[0] == '-'
	text = strings.TrimLeft(text, "+-0")
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	switch {
	case text == "":
		return "0"
	case text[0] == '.':
		text = "0" + text
	}
	if negative {
		text = "-" + text
	}
	return text
}
