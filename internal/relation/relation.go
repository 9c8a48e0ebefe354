package relation

import (
	"iter"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Rows iterates over rows as positional cells. A row, and the text of its cells,
// may be reused for the next one. A non-nil error comes last.
type Rows = iter.Seq2[[]wire.Value, error]

// Relation is rows with their columns, in the order of the cells. Cells that are
// missing at the end of a row are null. A column's Type decides how its values
// compare.
type Relation struct {
	Columns []wire.Column
	Rows    Rows

	// Index, if set, returns an index of the rows by one of the columns, which a
	// join or a link uses instead of reading the rows.
	Index func(column int, numeric bool) *Index
}

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

// cell returns a cell of a row, and null for one that the row lacks.
func cell(row []wire.Value, at int) wire.Value {
	if at < len(row) {
		return row[at]
	}
	return wire.Value{}
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
