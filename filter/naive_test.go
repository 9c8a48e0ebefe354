package filter_test

import (
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// naiveMatch is what the benchmarks compare with: a first implementation over
// rows as encoding/json decodes them, which interprets the filter again for
// each row. It supports only what the reference filters use.
func naiveMatch(row map[string]any, and []wire.Filter, or [][]wire.Filter, types map[string]wire.Type) bool {
	for _, f := range and {
		if !naiveTest(row[f.Field], f, types[f.Field]) {
			return false
		}
	}
	if len(or) == 0 {
		return true
	}
	for _, group := range or {
		if naiveMatch(row, group, nil, types) {
			return true
		}
	}
	return false
}

func naiveTest(cell any, f wire.Filter, t wire.Type) bool {
	switch f.Op {
	case wire.OpIsNull:
		return cell == nil
	case wire.OpNotNull:
		return cell != nil
	}
	if cell == nil {
		return f.Op == wire.OpNin
	}
	switch f.Op {
	case wire.OpIn, wire.OpNin:
		found := false
		for _, v := range f.Values {
			if !v.IsNull() {
				if c, ok := naiveCompare(cell, v, t); ok && c == 0 {
					found = true
					break
				}
			}
		}
		return found == (f.Op == wire.OpIn)
	case wire.OpIncludes:
		return strings.Contains(naiveText(cell), f.Value.String())
	case wire.OpStartsWith:
		return strings.HasPrefix(naiveText(cell), f.Value.String())
	}
	c, ok := naiveCompare(cell, f.Value, t)
	if !ok {
		return false
	}
	switch f.Op {
	case wire.OpEq:
		return c == 0
	case wire.OpNeq:
		return c != 0
	case wire.OpGt:
		return c > 0
	case wire.OpGte:
		return c >= 0
	case wire.OpLt:
		return c < 0
	}
	return c <= 0
}

func naiveCompare(cell any, value wire.Value, t wire.Type) (int, bool) {
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		a, err := decimal.NewFromString(naiveText(cell))
		if err != nil {
			return 0, false
		}
		b, err := decimal.NewFromString(value.String())
		if err != nil {
			return 0, false
		}
		return a.Cmp(b), true
	case wire.TypeDate, wire.TypeDatetime:
		a, aerr := time.Parse(time.RFC3339, naiveText(cell))
		b, berr := time.Parse(time.RFC3339, value.String())
		if aerr == nil && berr == nil {
			return a.Compare(b), true
		}
	}
	return strings.Compare(naiveText(cell), value.String()), true
}

func naiveText(cell any) string {
	switch v := cell.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
