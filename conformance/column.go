package conformance

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// column is what operands for a column are made from.
type column struct {
	wire.Column
	at       int
	cells    []wire.Value // its distinct values that are not null
	nulls    int
	elements []wire.Value // of the arrays among them
	// filterable and its like are what discovery says.
	filterable, groupable, aggregatable bool
	// twins: it has values that are equal and spelled differently, so that
	// neither groups nor distinct values are settled (E2).
	twins bool
	// uniform: its days or instants are all spelled in one way, so that byte
	// order is time order (A9). True for other types.
	uniform bool
	// ordered: a sort by it is settled.
	ordered bool
}

// maxOperand is the length from which on a text is no operand.
const maxOperand = 200

// profile looks through a column of a table.
func profile(t *oracle.Table, at int, f *wire.Field) *column {
	c := &column{Column: t.Columns[at], at: at, uniform: true}
	allowed := func(flag *bool) bool { return flag == nil || *flag }
	c.filterable, c.groupable, c.aggregatable = allowed(f.Filterable), allowed(f.Groupable), allowed(f.Aggregatable)
	seen := map[string]bool{}
	for _, row := range t.Rows {
		v := row[at]
		if v.IsNull() {
			c.nulls++
			continue
		}
		if text := v.String(); !seen[text] {
			seen[text] = true
			c.cells = append(c.cells, v)
		}
	}
	switch c.Type {
	case wire.TypeDate, wire.TypeDatetime:
		for _, v := range c.cells {
			// Not even a day or an instant, or in another shape than the first.
			if outline(v.String()) != outline(c.cells[0].String()) || !isInstant(v) {
				c.uniform = false
			}
		}
		c.twins = !c.uniform
	case wire.TypeNumber, wire.TypeDecimal:
		values := map[string]bool{}
		for _, v := range c.cells {
			digits := plainest(v.String())
			c.twins = c.twins || values[digits]
			values[digits] = true
		}
	case wire.TypeJSON, wire.TypeArray:
		c.twins = len(c.cells) > 100 || alike(c.cells, c.Type)
	}
	c.ordered = c.uniform && oracle.Unsettled(t, []wire.SortKey{{Field: c.Name, Dir: wire.Desc}}, nil) == ""
	for _, v := range c.cells[:min(len(c.cells), 1000)] {
		if len(c.elements) < 100 && strings.HasPrefix(v.String(), "[") {
			c.elements = append(c.elements, elements(v.String())...)
		}
	}
	return c
}

func alike(cells []wire.Value, t wire.Type) bool {
	for i, a := range cells {
		for _, b := range cells[:i] {
			if oracle.Same(a, b, t) {
				return true
			}
		}
	}
	return false
}

// outline is a text with all its digits alike.
func outline(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
}

// isInstant tells what the oracle takes for a day or an instant: it is another
// one, spelled otherwise.
func isInstant(v wire.Value) bool {
	text := v.String()
	if len(text) == len("2006-01-02") {
		return oracle.Same(v, wire.Text(text+"T00:00:00Z"), wire.TypeDatetime)
	}
	zulu, ok := strings.CutSuffix(text, "Z")
	return ok && oracle.Same(v, wire.Text(zulu+"+00:00"), wire.TypeDatetime)
}

// elements are the scalars of an array, but for numbers of so many digits that
// a JSON library may round them.
func elements(text string) (list []wire.Value) {
	tree, err := parse([]byte(text))
	if err != nil {
		return nil
	}
	all, _ := tree.([]any)
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
	return slices.DeleteFunc(list, func(v wire.Value) bool { return len(v.String()) > maxOperand })
}

// asNumber is a plain decimal text as a JSON number that reads as the same
// digits in every JSON library.
func asNumber(text string) (wire.Value, bool) {
	if !wire.IsDecimal(text) || len(text) > 15 {
		return wire.Value{}, false
	}
	f, err := strconv.ParseFloat(text, 64)
	v := wire.Float(f)
	if err != nil || v.String() != text {
		return wire.Value{}, false
	}
	return v, true
}

// plainest is a number without zeros outside and without a needless sign.
func plainest(text string) string {
	if !wire.IsDecimal(text) {
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
