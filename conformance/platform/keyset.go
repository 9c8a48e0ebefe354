package platform

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// keyset reads pages by key: each asks for the rows behind the last row of the page before,
// in the same order. A row that is inserted or deleted between two pages moves no other one
// into or out of a page, as it does where pages are counted by an offset.
type keyset struct {
	order []wire.SortKey
	table *wire.Table
	at    []int        // the cells of the sort keys in a row
	last  []wire.Value // of the row that was read last
}

// skips reports whether the connector can begin a page at each offset up to the end of a
// window; 0 is the end of the table, wherever that is.
func (c *Connection) skips(end int64) bool {
	return c.Document.Capabilities.Offset && (c.Document.Capabilities.Limits.OffsetMax == 0 ||
		end > 0 && end <= c.Document.Capabilities.Limits.OffsetMax)
}

// keyed reports whether pages of a table can go on behind a row in this order: the order
// holds a key of the table, its values compare alike in a filter and in a sort, and the
// connector takes all the filters that this needs. Dates are left out, because a connector
// may compare them as text or as instants [rule filter-9].
func (c *Connection) keyed(t *wire.Table, order []wire.SortKey) bool {
	key := keyOf(t)
	if len(key) == 0 {
		return false
	}
	for _, name := range key {
		if !slices.ContainsFunc(order, func(k wire.SortKey) bool { return k.Field == name }) {
			return false
		}
	}
	can := c.pushes(t)
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

// behind returns the operator of the values that come later in an order.
func behind(k wire.SortKey) wire.Op {
	if k.Dir == wire.Desc {
		return wire.OpLt
	}
	return wire.OpGt
}

// newKeyset returns the keyset of a reading in this order, and the columns that its rows
// need: those given, then the sort keys among the fields of the table that are not read yet.
// It is nil if a joined column has the name of one of these.
func newKeyset(t *wire.Table, order []wire.SortKey, columns []wire.Column) (*keyset, []wire.Column) {
	k := &keyset{order: order, table: t, last: make([]wire.Value, len(order))}
	columns = slices.Clip(columns)
	for _, key := range order {
		at := slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == key.Field })
		switch {
		case at < 0:
			at = len(columns)
			columns = append(columns, wire.Column{Name: key.Field, Type: t.Field(key.Field).Type})
		case columns[at].Hop > 0:
			return nil, nil
		}
		k.at = append(k.at, at)
	}
	return k, columns
}

// see notes the row that was read last.
func (k *keyset) see(row []wire.Value) {
	for i, at := range k.at {
		k.last[i] = row[at]
	}
}

// after returns filters with the condition that a row comes behind the last one: it differs
// in one of the sort keys in the order's direction, and equals the last row in all keys
// before that. Nulls come last [rule query-1].
func (k *keyset) after(where wire.Where) wire.Where {
	var groups [][]wire.Filter
	var equal []wire.Filter
	add := func(f wire.Filter) { groups = append(groups, append(slices.Clone(equal), f)) }
	for i, key := range k.order {
		last := k.last[i].Clone()
		null := wire.Filter{Field: key.Field, Op: wire.OpIsNull}
		if last.IsNull() {
			equal = append(equal, null) // nothing comes behind a null
			continue
		}
		add(wire.Filter{Field: key.Field, Op: behind(key), Value: last})
		if k.table.Field(key.Field).Nullable {
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
