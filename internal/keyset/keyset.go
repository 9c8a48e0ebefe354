// Package keyset reads a table in parts by its key: each part asks for the rows behind the
// last row of the part before, in the same order. A row that is inserted or deleted in
// between moves no other one into or out of a part, as it does where parts are counted by an
// offset. The platform's client reads pages so, and an export goes on so after a cut. Its
// tests are theirs.
package keyset

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Key returns the fields that tell the rows of a table apart, or nil. A field that may be
// null does not: nulls repeat.
func Key(t *wire.Table) []string {
	if len(t.PrimaryKey) > 0 && !slices.ContainsFunc(t.PrimaryKey, func(name string) bool { return t.Field(name).Nullable }) {
		return t.PrimaryKey
	}
	for _, f := range t.Fields {
		if f.Unique && !f.Nullable {
			return []string{f.Name}
		}
	}
	return nil
}

// Order returns the sort keys in whose order parts of a table fit together behind a row, or
// nil if the connector does not do what that needs.
func Order(doc *wire.Document, t *wire.Table) (order []wire.SortKey) {
	for _, name := range Key(t) {
		order = append(order, wire.SortKey{Field: name, Dir: wire.Asc})
	}
	if !Sorts(doc, len(order)) || !Fits(doc, t, order) {
		return nil
	}
	return order
}

// Fits reports whether parts of a table fit together behind a row in this order: the order
// holds a key of the table, its values compare alike in a filter and in a sort, and the
// connector takes all the filters that this needs. Dates are left out, because a connector
// may compare them as text or as instants [rule filter-9].
func Fits(doc *wire.Document, t *wire.Table, order []wire.SortKey) bool {
	key := Key(t)
	if len(key) == 0 {
		return false
	}
	for _, name := range key {
		if !slices.ContainsFunc(order, func(k wire.SortKey) bool { return k.Field == name }) {
			return false
		}
	}
	can := Pushes(doc, t)
	for i, k := range order {
		f := t.Field(k.Field)
		switch f.Type {
		case wire.TypeString, wire.TypeReference, wire.TypeNumber, wire.TypeDecimal:
		default:
			return false
		}
		if !can(wire.Filter{Field: k.Field, Op: behind(k)}) ||
			i < len(order)-1 && !can(wire.Filter{Field: k.Field, Op: wire.OpEq}) ||
			f.Nullable && !can(wire.Filter{Field: k.Field, Op: wire.OpIsNull}) {
			return false
		}
	}
	return true
}

// Sorts reports whether a document declares so many sort keys.
func Sorts(doc *wire.Document, keys int) bool {
	switch doc.Capabilities.Sort {
	case wire.SortMulti:
		return true
	case wire.SortSingle:
		return keys <= 1
	}
	return keys == 0
}

// Pushes reports whether a connector evaluates a filter on a table: the document declares its
// operator, and discovery does not rule the field out.
func Pushes(doc *wire.Document, t *wire.Table) func(wire.Filter) bool {
	return func(f wire.Filter) bool {
		field := t.Field(f.Field)
		return slices.Contains(doc.Capabilities.Operators, f.Op) && field != nil && terms.Allowed(field.Filterable)
	}
}

// behind returns the operator of the values that come later in an order.
func behind(k wire.SortKey) wire.Op {
	if k.Dir == wire.Desc {
		return wire.OpLt
	}
	return wire.OpGt
}

// After returns filters with the condition that a row comes behind the last one, of which the
// values of the sort keys are given: it differs in one of the sort keys in the order's
// direction, and equals the last row in all keys before that. Nulls come last [rule query-1].
func After(t *wire.Table, order []wire.SortKey, values []wire.Value, where wire.Where) wire.Where {
	var groups [][]wire.Filter
	var equal []wire.Filter
	add := func(f wire.Filter) { groups = append(groups, append(slices.Clone(equal), f)) }
	for i, key := range order {
		last := values[i].Clone()
		null := wire.Filter{Field: key.Field, Op: wire.OpIsNull}
		if last.IsNull() {
			equal = append(equal, null) // nothing comes behind a null
			continue
		}
		add(wire.Filter{Field: key.Field, Op: behind(key), Value: last})
		if t.Field(key.Field).Nullable {
			add(null)
		}
		equal = append(equal, wire.Filter{Field: key.Field, Op: wire.OpEq, Value: last})
	}
	where.And, where.Or = slices.Clip(where.And), slices.Clone(where.Or)
	switch {
	case len(groups) == 1:
		where.And = append(where.And, groups[0]...)
	case len(where.Or) == 0:
		where.Or = groups
	default: // both conditions have to hold: each group of one with each of the other
		both := make([][]wire.Filter, 0, len(where.Or)*len(groups))
		for _, a := range where.Or {
			for _, b := range groups {
				both = append(both, slices.Concat(a, b))
			}
		}
		where.Or = both
	}
	return where
}
