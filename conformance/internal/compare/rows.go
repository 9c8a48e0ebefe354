package compare

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Project returns the rows of a table with some of its columns only, or nil if it lacks one.
func Project(t *oracle.Table, fields []string) [][]wire.Value {
	columns := make([]int, len(fields))
	for i, name := range fields {
		if columns[i] = t.Index(name); columns[i] < 0 {
			return nil
		}
	}
	rows := make([][]wire.Value, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make([]wire.Value, len(columns))
		for c, column := range columns {
			rows[i][c] = row[column]
		}
	}
	return rows
}

// Missing returns the index of a row that is not among others, or -1. Rows that are spelled
// like none of the others are compared with all of them, at most so many.
func Missing(columns []wire.Column, rows, among [][]wire.Value, most int) int {
	known := Tally(among)
	for i, row := range rows {
		if known[RowKey(row)] > 0 {
			continue
		}
		if most--; most < 0 {
			break
		}
		if !slices.ContainsFunc(among, func(other []wire.Value) bool { return SameRow(columns, other, row) }) {
			return i
		}
	}
	return -1
}

// SameRow reports whether two rows agree in every cell.
func SameRow(columns []wire.Column, a, b []wire.Value) bool {
	for i, c := range columns {
		if !oracle.Same(a[i], b[i], c.Type) {
			return false
		}
	}
	return true
}

// RowKey returns a text that is equal for rows whose cells are spelled alike.
func RowKey(row []wire.Value) string {
	var b []byte
	for _, v := range row {
		if v.IsNull() {
			b = append(b, "- "...)
			continue
		}
		text := v.String()
		b = append(strconv.AppendInt(b, int64(len(text)), 10), ':')
		b = append(append(b, text...), ' ')
	}
	return string(b)
}

// SameRows reports whether two readings of the same columns hold the same rows, in any order.
func SameRows(a, b *oracle.Table) bool {
	all := &wire.QueryRequest{Table: a.Name}
	for _, c := range a.Columns {
		all.Fields = append(all.Fields, c.Name)
	}
	return SpelledAlike(a.Rows, b.Rows) || len(a.Rows) == len(b.Rows) && oracle.Verify(oracle.Tables{a.Name: a}, all, b.Rows) == nil
}

// SpelledAlike reports whether two lists hold the same rows, spelled alike, in any order.
func SpelledAlike(a, b [][]wire.Value) bool {
	return len(a) == len(b) && maps.Equal(Tally(a), Tally(b))
}

// Tally counts rows by their [RowKey].
func Tally(rows [][]wire.Value) map[string]int {
	n := make(map[string]int, len(rows))
	for _, row := range rows {
		n[RowKey(row)]++
	}
	return n
}

// WindowTooEarly reports whether a window is claimed without the claims it needs, in a way that loses rows. A limit
// over rows that nothing else changes can be cut twice.
func WindowTooEarly(req *wire.QueryRequest, served wire.Served) bool {
	filters := req.HasFilters() || req.Offset > 0
	return served.Window && req.Limit+req.Offset > 0 && (!served.Filters && filters || !served.Sort && len(req.Sort) > 0)
}

// Members returns the row members that a request asks for.
func Members(req *wire.QueryRequest) []string {
	names := append([]string(nil), req.Fields...)
	for _, j := range req.Joins {
		for _, f := range j.Fields {
			names = append(names, cmp.Or(f.As, f.Field))
		}
	}
	return names
}

// Typed returns the rows of an answer as they came, under the types that typeOf returns for
// the fields of a table. Those of the base table have no As.
func Typed(
	req *wire.QueryRequest, rows [][]wire.Value, typeOf func(table string, f wire.JoinField) wire.Type,
) *oracle.Table {
	t := &oracle.Table{Name: req.Table, Rows: rows}
	for _, name := range req.Fields {
		t.Columns = append(t.Columns, wire.Column{Name: name, Type: typeOf(req.Table, wire.JoinField{Field: name})})
	}
	for n, hop := range req.Joins {
		for _, f := range hop.Fields {
			t.Columns = append(t.Columns, wire.Column{Name: cmp.Or(f.As, f.Field), Type: typeOf(hop.ToTable, f), Hop: n + 1})
		}
	}
	return t
}
