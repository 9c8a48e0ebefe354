package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Match reports whether a cell of a column of type t passes one filter. It
// ignores the field that the filter names.
func Match(cell wire.Value, f wire.Filter, t wire.Type) bool {
	return Reading{}.Matcher(f, t)(cell)
}

// Matcher returns the function that reports whether a cell of a column of type t
// passes one filter. It parses the operands once for all cells.
func (r Reading) Matcher(f wire.Filter, t wire.Type) func(cell wire.Value) bool {
	switch f.Op {
	case wire.OpIsNull:
		return wire.Value.IsNull
	case wire.OpNotNull:
		return func(cell wire.Value) bool { return !cell.IsNull() }
	case wire.OpIn:
		return r.isIn(f.Values, t) // false for a null cell [rule filter-3]
	case wire.OpNin:
		isIn := r.isIn(f.Values, t)
		return func(cell wire.Value) bool { return !isIn(cell) } // true for a null cell [rule filter-3a]
	}
	if f.Value.IsNull() {
		return func(wire.Value) bool { return false } // [rule filter-2]
	}
	text := f.Value.String()
	switch f.Op {
	case wire.OpContains:
		return func(cell wire.Value) bool { return !cell.IsNull() && hasElement(cell.String(), f.Value) }
	case wire.OpIncludes:
		return func(cell wire.Value) bool { return !cell.IsNull() && strings.Contains(cell.String(), text) }
	case wire.OpStartsWith:
		return func(cell wire.Value) bool { return !cell.IsNull() && strings.HasPrefix(cell.String(), text) }
	}
	by := r.rule(t)
	operand := keyOf(f.Value, by)
	return func(cell wire.Value) bool {
		order, comparable := compare(keyOf(cell, by), operand, by)
		return comparable && holds(f.Op, order) // not even neq matches what cannot be compared [rule filter-6b]
	}
}

// holds reports whether an order of cell and operand satisfies an operator.
func holds(op wire.Op, order int) bool {
	switch op {
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

// isIn returns the function that reports whether a cell equals one of the values.
// Null equals nothing.
func (r Reading) isIn(values []wire.Value, t wire.Type) func(cell wire.Value) bool {
	by := r.rule(t)
	members := make(map[identity]bool, len(values))
	for _, v := range values {
		if k := keyOf(v, by); k.equals(by) {
			members[k.identity()] = true
		}
	}
	return func(cell wire.Value) bool {
		k := keyOf(cell, by)
		return k.equals(by) && members[k.identity()]
	}
}

// Cells are cells of a column that were parsed once, for many filters.
type Cells struct {
	values []wire.Value
	keys   []key
	by     rule
	of     wire.Type
	at     map[identity][]int // the indices of the cells that equal a member, once a list asks
}

// NewCells returns the cells of a column of type t.
func NewCells(values []wire.Value, t wire.Type) *Cells {
	c := &Cells{values: values, keys: make([]key, len(values)), by: Reading{}.rule(t), of: t}
	for i, v := range values {
		c.keys[i] = keyOf(v, c.by)
	}
	return c
}

// Matcher returns the function that reports whether the cell at an index passes a filter,
// as [Reading.Matcher] does.
func (c *Cells) Matcher(f wire.Filter) func(i int) bool {
	switch f.Op {
	case wire.OpIn, wire.OpNin:
		equal := c.equal(f.Values)
		return func(i int) bool { return equal[i] == (f.Op == wire.OpIn) }
	case wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte:
		operand := keyOf(f.Value, c.by)
		return func(i int) bool {
			order, comparable := compare(c.keys[i], operand, c.by)
			return comparable && holds(f.Op, order)
		}
	}
	matches := Reading{}.Matcher(f, c.of)
	return func(i int) bool { return matches(c.values[i]) }
}

// equal reports of each cell whether it equals one of the values.
func (c *Cells) equal(values []wire.Value) []bool {
	if c.at == nil {
		c.at = make(map[identity][]int, len(c.keys))
		for i, k := range c.keys {
			if k.equals(c.by) {
				c.at[k.identity()] = append(c.at[k.identity()], i)
			}
		}
	}
	equal := make([]bool, len(c.keys))
	for _, v := range values {
		if k := keyOf(v, c.by); k.equals(c.by) {
			for _, i := range c.at[k.identity()] {
				equal[i] = true
			}
		}
	}
	return equal
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
	if len(where.And)+len(where.Or) == 0 {
		return t, nil
	}
	passes := r.passes(t, where)
	var kept [][]wire.Value
	for _, row := range t.Rows {
		if passes(row) {
			kept = append(kept, row)
		}
	}
	return t.with(kept), nil
}

// passes returns the function that reports whether a row passes the filters. A
// filter on a column that the table lacks passes.
func (r Reading) passes(t *Table, where wire.Where) func(row []wire.Value) bool {
	all := func(filters []wire.Filter) func(row []wire.Value) bool {
		columns, matchers := make([]int, len(filters)), make([]func(wire.Value) bool, len(filters))
		for n, f := range filters {
			if columns[n] = t.baseIndex(f.Field); columns[n] >= 0 {
				matchers[n] = r.Matcher(f, t.typeOf(columns[n], where.FieldTypes))
			}
		}
		return func(row []wire.Value) bool {
			for n, matches := range matchers {
				if matches != nil && !matches(cell(row, columns[n])) {
					return false
				}
			}
			return true
		}
	}
	and := all(where.And)
	groups := make([]func([]wire.Value) bool, len(where.Or))
	for i, group := range where.Or {
		groups[i] = all(group)
	}
	return func(row []wire.Value) bool {
		one := func(group func([]wire.Value) bool) bool { return group(row) }
		return and(row) && (len(groups) == 0 || slices.ContainsFunc(groups, one))
	}
}

// Unmatched returns the index of the first row that does not pass the filters,
// or -1 and true if all rows pass. Use it for rows that a connector claims to
// have filtered. A filter on a column that the rows lack cannot be judged, so
// it passes.
func Unmatched(t *Table, and []wire.Filter, or [][]wire.Filter, types map[string]wire.Type) (at int, ok bool) {
	return Reading{}.Unmatched(t, wire.Where{And: and, Or: or, FieldTypes: types})
}

// Unmatched does what the function of that name does, under a reading of the protocol.
func (r Reading) Unmatched(t *Table, where wire.Where) (at int, ok bool) {
	passes := r.passes(t, where)
	at = slices.IndexFunc(t.Rows, func(row []wire.Value) bool { return !passes(row) })
	return at, at < 0
}

// wellFormed returns a *Malformed if a filter has the wrong shape.
func wellFormed(f wire.Filter) error {
	shape := terms.ShapeOf(f.Op)
	switch {
	case shape == terms.ShapeUnknown:
		return &Malformed{Detail: fmt.Sprintf("%q is not an operator", f.Op)}
	case shape != terms.ShapeValue && !f.Value.IsNull():
		return &Malformed{Detail: fmt.Sprintf("%s takes no value", f.Op)}
	case shape != terms.ShapeMember && f.Values != nil:
		return &Malformed{Detail: fmt.Sprintf("%s takes no values", f.Op)}
	}
	return nil
}
