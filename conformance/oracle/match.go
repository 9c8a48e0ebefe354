package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Match reports whether a cell of a column of type t passes one filter. It
// ignores the field that the filter names.
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
		return r.isIn(cell, f.Values, t) // false for a null cell [rule filter-3]
	case wire.OpNin:
		return !r.isIn(cell, f.Values, t) // true for a null cell [rule filter-3a]
	}
	if cell.IsNull() || f.Value.IsNull() {
		return false // [rule filter-2]
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
		return false // not even neq matches [rule filter-6b]
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

// isIn reports whether the cell equals one of the values. Null equals nothing.
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

// Filter returns the table with the rows that pass every filter of and and, if
// or has groups, all filters of at least one group. types are the fieldTypes of
// the request. Filter returns an *UnknownField for a field that the table lacks,
// even if there are no rows, and a *Malformed for a filter of the wrong shape.
func Filter(t *Table, and []wire.Filter, or [][]wire.Filter, types map[string]wire.Type) (*Table, error) {
	return Reading{}.filter(t, wire.Where{And: and, Or: or, FieldTypes: types})
}

func (r Reading) filter(t *Table, where wire.Where) (*Table, error) {
	for f := range where.Filters() {
		if err := wellFormed(f); err != nil {
			return nil, err
		}
		if t.baseIndex(f.Field) < 0 {
			return nil, &UnknownField{Table: t.Name, Field: f.Field, Where: "filter"}
		}
	}
	var kept [][]wire.Value
	for _, row := range t.Rows {
		if r.passes(t, row, where) {
			kept = append(kept, row)
		}
	}
	return t.with(kept), nil
}

// passes reports whether a row passes the filters. A filter on a column that the
// table lacks passes.
func (r Reading) passes(t *Table, row []wire.Value, where wire.Where) bool {
	all := func(filters []wire.Filter) bool {
		for _, f := range filters {
			i := t.baseIndex(f.Field)
			if i >= 0 && !r.match(cell(row, i), f, t.typeOf(i, where.FieldTypes)) {
				return false
			}
		}
		return true
	}
	return all(where.And) && (len(where.Or) == 0 || slices.ContainsFunc(where.Or, all))
}

// Unmatched returns the index of the first row that does not pass the filters,
// or -1 and true if all rows pass. Use it for rows that a connector claims to
// have filtered. A filter on a column that the rows lack cannot be judged, so
// it passes.
func Unmatched(t *Table, and []wire.Filter, or [][]wire.Filter, types map[string]wire.Type) (at int, ok bool) {
	where := wire.Where{And: and, Or: or, FieldTypes: types}
	at = slices.IndexFunc(t.Rows, func(row []wire.Value) bool { return !Reading{}.passes(t, row, where) })
	return at, at < 0
}

// wellFormed returns a *Malformed if a filter has the wrong shape.
func wellFormed(f wire.Filter) error {
	shape := f.Op.Shape()
	switch {
	case shape == wire.ShapeUnknown:
		return &Malformed{Detail: fmt.Sprintf("%q is not an operator", f.Op)}
	case shape != wire.ShapeValue && !f.Value.IsNull():
		return &Malformed{Detail: fmt.Sprintf("%s takes no value", f.Op)}
	case shape != wire.ShapeMember && f.Values != nil:
		return &Malformed{Detail: fmt.Sprintf("%s takes no values", f.Op)}
	}
	return nil
}
