package platform

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lastKey is the place of a reading whose pages go on behind their last row.
type lastKey struct {
	at   []int        // the cells of the sort keys in a row
	last []wire.Value // of the row that was read last
}

// newLastKey returns the place of a reading in this order, and the columns that its rows
// need: those given, then the sort keys among the fields of the table that are not read yet.
// It is nil if a joined column has the name of one of these.
func newLastKey(t *wire.Table, order []wire.SortKey, columns []wire.Column) (*lastKey, []wire.Column) {
	k := &lastKey{last: make([]wire.Value, len(order))}
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
func (k *lastKey) see(row []wire.Value) {
	for i, at := range k.at {
		k.last[i] = row[at]
	}
}
