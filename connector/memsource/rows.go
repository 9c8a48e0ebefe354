package memsource

import (
	"fmt"
	"iter"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Rows iterates over rows as positional cells, as connector.RowWriter.All takes
// them and [Pages] returns them. The slice, and the text of its cells, may be
// reused between two iterations: everything in this package copies what it
// keeps. A non-nil error comes last. The measures and [Join] read cells missing
// at the end of a row as null; connector.RowWriter needs them all.
type Rows = iter.Seq2[[]wire.Value, error]

// RowsOf iterates over the given rows, without copying them.
func RowsOf(rows ...[]wire.Value) Rows {
	return func(yield func([]wire.Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Relation is rows with their columns, in the order of the cells: the input of
// every measure in this package. A column's Type decides how its values compare.
// If it is empty, the request's fieldTypes decide, and else each value by itself
// [rule filter-8].
type Relation struct {
	Columns []wire.Column
	Rows    Rows
}

// cell returns the i-th cell of a row; null if the row is too short.
func cell(row []wire.Value, i int) wire.Value {
	if i < len(row) {
		return row[i]
	}
	return wire.Null()
}

// names are the columns by name: where the first one is, and how many there are.
// The lists of a request are looked up in it, because list and table may be long.
type names map[string]struct{ at, matches int }

func namesOf(columns []wire.Column) names {
	n := make(names, len(columns))
	for i, c := range columns {
		known, ok := n[c.Name]
		if !ok {
			known.at = i
		}
		known.matches++
		n[c.Name] = known
	}
	return n
}

// find returns the position of the first column of this name, and how many columns
// have it.
func (n names) find(name string) (at, matches int) {
	known := n[name]
	return known.at, known.matches
}

// typeOf returns a column's type, or what the request says of its field.
func typeOf(c wire.Column, fieldTypes map[string]wire.Type) wire.Type {
	if c.Type != "" {
		return c.Type
	}
	return fieldTypes[c.Name]
}

// invalidCell returns the internal error for a cell that cannot cross the wire.
func invalidCell(table, column string, err error) error {
	return fmt.Errorf("memsource: table %q, column %q: %w", table, column, err)
}

// noField refuses an unknown field.
func noField(table, field string) error {
	return connector.UnknownEntity("table %s has no field %s", wire.QuoteName(table), wire.QuoteName(field))
}

// decline declines an aggregate (204), with a reason for the host's log.
func decline(format string, args ...any) error {
	return fmt.Errorf("memsource: %w: %s", connector.ErrDecline, fmt.Sprintf(format, args...))
}
