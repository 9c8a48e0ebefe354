package oracle

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Match reports whether a cell of a column of type t passes one filter (A2 to
// A9). The filter's field is not looked at.
func Match(cell wire.Value, f wire.Filter, t wire.Type) bool {
	return Reading{}.match(cell, f, t)
}

func (r Reading) match(cell wire.Value, f wire.Filter, t wire.Type) bool {
	switch f.Op {
	case wire.OpIsNull:
		return cell.IsNull()
	case wire.OpNotNull:
		return !cell.IsNull()
	case wire.OpIn:
		return r.isIn(cell, f.Values, t) // a null cell equals nothing (A3)
	case wire.OpNin:
		return !r.isIn(cell, f.Values, t) // so a null cell is kept (A3)
	}
	if cell.IsNull() || f.Value.IsNull() {
		return false // A2
	}
	switch f.Op {
	case wire.OpContains:
		return hasElement(cell.String(), f.Value)
	case wire.OpIncludes:
		return strings.Contains(cell.String(), f.Value.String())
	case wire.OpStartsWith:
		return strings.HasPrefix(cell.String(), f.Value.String())
	}
	by := r.rule(t)
	order, comparable := compare(keyOf(cell, by), keyOf(f.Value, by), by)
	if !comparable {
		return false // not even neq (A6)
	}
	switch f.Op {
	case wire.OpEq:
		return order == 0
	case wire.OpNeq:
		return order != 0
	case wire.OpGt:
		return order > 0
	case wire.OpGte:
		return order >= 0
	case wire.OpLt:
		return order < 0
	case wire.OpLte:
		return order <= 0
	}
	return false
}

// isIn reports whether the cell equals one of the values. Null members equal
// nothing, so they are ignored (A3).
func (r Reading) isIn(cell wire.Value, values []wire.Value, t wire.Type) bool {
	by := r.rule(t)
	k := keyOf(cell, by)
	for _, v := range values {
		if order, comparable := compare(k, keyOf(v, by), by); comparable && order == 0 {
			return true
		}
	}
	return false
}

// Filter keeps the rows that pass every filter of and, and all filters of at
// least one group of or where there is a group (A1). types are the request's
// fieldTypes (A10). It fails with *UnknownField for a field the table lacks,
// whatever the rows (A11), and with *Malformed for a filter that is none (A13).
func Filter(t *Table, and []wire.Filter, or [][]wire.Filter, types map[string]wire.Type) (*Table, error) {
	return Reading{}.filter(t, and, or, types)
}

func (r Reading) filter(t *Table, and []wire.Filter, or [][]wire.Filter, types map[string]wire.Type) (*Table, error) {
	for _, group := range append([][]wire.Filter{and}, or...) {
		for _, f := range group {
			if err := wellFormed(f); err != nil {
				return nil, err
			}
			if t.baseIndex(f.Field) < 0 {
				return nil, &UnknownField{Table: t.Name, Field: f.Field, Where: "filter"}
			}
		}
	}
	var kept [][]wire.Value
	for _, row := range t.Rows {
		if r.passes(t, row, and, or, types) {
			kept = append(kept, row)
		}
	}
	return t.with(kept), nil
}

// passes takes a filter on a column the table lacks as one that may hold.
func (r Reading) passes(t *Table, row []wire.Value, and []wire.Filter, or [][]wire.Filter, types map[string]wire.Type) bool {
	all := func(filters []wire.Filter) bool {
		for _, f := range filters {
			i := t.baseIndex(f.Field)
			if i >= 0 && !r.match(cell(row, i), f, t.typeOf(i, types)) {
				return false
			}
		}
		return true
	}
	if !all(and) {
		return false
	}
	for _, group := range or {
		if all(group) {
			return true
		}
	}
	return len(or) == 0
}

// Unmatched finds the first row that the filters of a request forbid; ok means
// that there is none. Use it for rows that a connector claims to have filtered.
// A filter on a column that the rows lack cannot be judged, and holds.
func Unmatched(t *Table, and []wire.Filter, or [][]wire.Filter, types map[string]wire.Type) (at int, ok bool) {
	for i, row := range t.Rows {
		if !(Reading{}).passes(t, row, and, or, types) {
			return i, false
		}
	}
	return -1, true
}

// wellFormed checks the shape of a filter (A13).
func wellFormed(f wire.Filter) error {
	shape := f.Op.Shape()
	switch {
	case shape == wire.ShapeUnknown:
		return &Malformed{Detail: fmt.Sprintf("%q is no operator", f.Op)}
	case shape != wire.ShapeValue && !f.Value.IsNull():
		return &Malformed{Detail: fmt.Sprintf("%s takes no value", f.Op)}
	case shape != wire.ShapeMember && f.Values != nil:
		return &Malformed{Detail: fmt.Sprintf("%s takes no values", f.Op)}
	}
	return nil
}
