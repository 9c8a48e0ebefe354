package oracle

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Table is a table in memory: what a judge knows beforehand, or has read.
// Cells are as they crossed the wire, or as a wire constructor makes them.
type Table struct {
	Name string
	// Columns name the cells of a row. An empty Type is undeclared (A8). The
	// columns that a hop of a joined query added carry the hop's number.
	Columns    []wire.Column
	PrimaryKey []string
	// Rows are positional. Cells missing at the end of a row are null (A11).
	Rows [][]wire.Value
}

// Tables are the tables one credential set can see, by name.
type Tables map[string]*Table

// Index is the position of a column, or -1. Columns of the table itself are
// found before those a hop added.
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

// baseIndex finds a column of the table itself, which is all that filters and
// sort keys can name (B6).
func (t *Table) baseIndex(column string) int {
	for i, c := range t.Columns {
		if c.Name == column && c.Hop == 0 {
			return i
		}
	}
	return -1
}

// typeOf is the type that decides how values of a column compare (A10).
func (t *Table) typeOf(column int, types map[string]wire.Type) wire.Type {
	c := t.Columns[column]
	if c.Type == "" && c.Hop == 0 {
		return types[c.Name]
	}
	return c.Type
}

// with is the same table with other rows.
func (t *Table) with(rows [][]wire.Value) *Table {
	return &Table{Name: t.Name, Columns: t.Columns, PrimaryKey: t.PrimaryKey, Rows: rows}
}

func (ts Tables) table(name string) (*Table, error) {
	if t := ts[name]; t != nil {
		return t, nil
	}
	return nil, &UnknownTable{Table: name}
}

// cell is a cell of a row; missing ones are null (A11).
func cell(row []wire.Value, column int) wire.Value {
	if column < len(row) {
		return row[column]
	}
	return wire.Null()
}

// UnknownTable says that a request names a table that is none of the tables:
// a connector must answer 404 (F3).
type UnknownTable struct{ Table string }

// Error names the table.
func (e *UnknownTable) Error() string { return fmt.Sprintf("there is no table %q", e.Table) }

// UnknownField says that a request names a field the table lacks: a connector
// must refuse it before any row (A11).
type UnknownField struct {
	Table, Field string
	Where        string // filter, sort, fields, groupBy, measure, join, column
}

// Error names the field, the table and the place.
func (e *UnknownField) Error() string {
	return fmt.Sprintf("%s: table %q has no field %q", e.Where, e.Table, e.Field)
}

// Malformed says that a request breaks a rule of its shape: a connector must
// refuse it (A13, B6, E7).
type Malformed struct{ Detail string }

// Error is the detail.
func (e *Malformed) Error() string { return e.Detail }

// Undefined says that a request has no exact answer, such as a sum over text:
// a connector can only decline or refuse it (E1, E6).
type Undefined struct{ Detail string }

// Error is the detail.
func (e *Undefined) Error() string { return e.Detail }
