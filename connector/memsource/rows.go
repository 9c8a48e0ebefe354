package memsource

import (
	"fmt"
	"iter"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Rows are rows as positional cells, as connector.RowWriter.All takes them and
// [Pages] makes them. The slice, and the text its cells share, may be reused
// between two iterations: everything in this package copies what it keeps. A
// non-nil error is the last thing yielded. The measures, and [Join], read cells
// missing at the end of a row as null; connector.RowWriter wants them all.
type Rows = iter.Seq2[[]wire.Value, error]

// RowsOf are the rows of a slice. The slice is not copied.
func RowsOf(rows ...[]wire.Value) Rows {
	return func(yield func([]wire.Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// keepRow is a copy of a row. Its text goes into one string, so that what is
// kept is two allocations and no cell holds the producer's buffer.
func keepRow(row []wire.Value) []wire.Value {
	kept := make([]wire.Value, len(row))
	size := 0
	for i := range row {
		size += len(row[i].Text())
	}
	var text strings.Builder
	text.Grow(size)
	for i := range row {
		text.WriteString(row[i].Text())
	}
	all, at := text.String(), 0
	for i, v := range row {
		if n := len(v.Text()); n > 0 {
			v = v.WithText(all[at : at+n])
			at += n
		}
		kept[i] = v
	}
	return kept
}

// Relation is rows together with what their cells are: the input of every
// measure in this package. Columns are in the order of the cells. A column's
// Type decides how its values compare; where it is empty the request's
// fieldTypes do, then A8 (A10).
type Relation struct {
	Columns []wire.Column
	Rows    Rows
}

// cell is the i-th cell of a row; null when the row is too short.
func cell(row []wire.Value, i int) wire.Value {
	if i < len(row) {
		return row[i]
	}
	return wire.Null()
}

// find is the position of the column of that name, and how many there are: a
// joined relation may have the name in its base table and under a hop's "as".
func find(columns []wire.Column, name string) (at, matches int) {
	for i, c := range columns {
		if c.Name == name {
			if matches++; matches == 1 {
				at = i
			}
		}
	}
	return at, matches
}

// typeOf resolves a column's type (A10).
func typeOf(c wire.Column, fieldTypes map[string]wire.Type) wire.Type {
	if c.Type != "" {
		return c.Type
	}
	return fieldTypes[c.Name]
}

// isNumber reports whether v is a number as A6 reads it.
func isNumber(v wire.Value) bool {
	switch v.Kind() {
	case wire.KindInt, wire.KindFloat, wire.KindDecimal:
		return true
	case wire.KindText:
		return wire.IsDecimal(v.Text())
	}
	return false
}

// invalidCell is the internal error for a cell that cannot cross the wire.
func invalidCell(table, column string, err error) error {
	return fmt.Errorf("memsource: table %q, column %q: %w", table, column, err)
}

// noField refuses a column the source does not have (A11, F3).
func noField(table, field string) error {
	return connector.UnknownEntity("table %s has no field %s", wire.QuoteName(table), wire.QuoteName(field))
}

// decline answers 204 to an aggregate, with the reason for the host (E6).
func decline(format string, args ...any) error {
	return fmt.Errorf("memsource: %w: %s", connector.ErrDecline, fmt.Sprintf(format, args...))
}
