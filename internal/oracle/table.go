package oracle

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Table is a table in memory that a judge knows beforehand or has read. Its
// cells are as they were read from the wire, or as a wire constructor makes them.
type Table struct {
	Name string
	// Columns name the cells of a row. An empty Type is undeclared. Columns that
	// a hop of a joined query added have the number of the hop.
	Columns    []wire.Column
	PrimaryKey []string
	// Rows are positional. Cells missing at the end of a row are null.
	Rows [][]wire.Value
}

// Tables are the tables that one set of credentials can see, by name.
type Tables map[string]*Table

// Index returns the position of a column, or -1. It prefers columns of the
// table itself to those that a hop added.
func (t *Table) Index(column string) int {
	if i := t.baseIndex(column); i >= 0 {
		return i
	}
	for i, c := range t.Columns {
		if c.Name == column {
			return i
		}
	}
	return -1
}

// baseIndex returns the position of a column of the table itself, or -1. Filters
// and sort keys can name only these columns.
func (t *Table) baseIndex(column string) int {
	for i, c := range t.Columns {
		if c.Name == column && c.Hop == 0 {
			return i
		}
	}
	return -1
}

// typeOf returns the type by which values of a column compare: the declared
// type, otherwise that in fieldTypes.
func (t *Table) typeOf(column int, types map[string]wire.Type) wire.Type {
	c := t.Columns[column]
	if c.Type == "" && c.Hop == 0 {
		return types[c.Name]
	}
	return c.Type
}

// with returns the same table with other rows.
func (t *Table) with(rows [][]wire.Value) *Table {
	return &Table{Name: t.Name, Columns: t.Columns, PrimaryKey: t.PrimaryKey, Rows: rows}
}

func (ts Tables) table(name string) (*Table, error) {
	if t := ts[name]; t != nil {
		return t, nil
	}
	return nil, &UnknownTable{Table: name}
}

// cell returns a cell of a row, null if it is missing.
func cell(row []wire.Value, column int) wire.Value {
	if column < len(row) {
		return row[column]
	}
	return wire.Null()
}

// UnknownTable is the error for a request that names a table that does not
// exist. A connector must answer 404.
type UnknownTable struct{ Table string }

// Error names the table.
func (e *UnknownTable) Error() string { return fmt.Sprintf("there is no table %q", e.Table) }

// UnknownField is the error for a request that names a field that the table
// lacks. A connector must refuse it before any row [rule filter-11].
type UnknownField struct {
	Table, Field string
	Where        string // filter, sort, fields, groupBy, measure, join, column
}

// Error names the field, the table and the place.
func (e *UnknownField) Error() string {
	return fmt.Sprintf("%s: table %q has no field %q", e.Where, e.Table, e.Field)
}

// Malformed is the error for a request of the wrong shape. A connector must
// refuse it.
type Malformed struct{ Detail string }

// Error returns the detail.
func (e *Malformed) Error() string { return e.Detail }

// Undefined is the error for a request without an exact answer, such as a sum
// over text. A connector can only decline or refuse it.
type Undefined struct{ Detail string }

// Error returns the detail.
func (e *Undefined) Error() string { return e.Detail }
