package killtest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fixtureFaults returns the broken connectors of phase 2.
func fixtureFaults() []fault {
	return slices.Concat(discoveryFaults(), rowFaults(), operatorFaults(), comparingFaults(), orderFaults(), claimFaults(), joinFaults(),
		aggregateFaults(), measurementFaults(), spellingFaults())
}

// bent returns a fault of the oracle.
func bent(name, why, kills string, w twist) fault {
	return fault{name: name, why: why, kills: strings.Split(kills, ", "), build: func() http.Handler { return twisted(w) }}
}

// about returns a hook on the description of one table.
func about(table string, edit func(t *wire.Table)) twist {
	return twist{discovery: func(tables []wire.Table) {
		edit(&tables[slices.IndexFunc(tables, func(t wire.Table) bool { return t.Name == table })])
	}}
}

func discoveryFaults() []fault {
	return []fault{
		bent("a column is not discovered", "every column is listed", "P2.1: tables and columns", about("wide", func(t *wire.Table) {
			t.Fields = slices.DeleteFunc(t.Fields, func(f wire.Field) bool { return f.Name == "c050" })
		})),
		bent("decimals are declared text", "types are those of the source", "P2.1: types",
			about("types", func(t *wire.Table) { t.Field("v_decimal").Type = wire.TypeString })),
		bent("days are declared datetimes", "types are those of the source", "P2.1: types",
			about("employees", func(t *wire.Table) { t.Field("hired").Type = wire.TypeDatetime })),
		bent("half a primary key", "a composite key has all its columns", "P2.1: primary keys",
			about("order_lines", func(t *wire.Table) { t.PrimaryKey = []string{"order_id"} })).refused("discovery-10"),
		bent("a self-reference is left out", "a foreign key left out is a join never planned", "P2.1: foreign keys",
			about("employees", func(t *wire.Table) { t.ForeignKeys = []wire.ForeignKey{} })),
		bent("an invented foreign key", "no value of it matches", "P2.1: foreign keys", about("orders", func(t *wire.Table) {
			t.ForeignKeys = append(t.ForeignKeys, wire.ForeignKey{Field: "id", TargetTable: "customers", TargetField: "id"})
		})),
		bent("nulls in what is not nullable", "nullable", "P2.1: nullable",
			about("customers", func(t *wire.Table) { t.Field("vip").Nullable = false })).refused("discovery-7"),
		bent("a part of a key is unique", "unique is for real constraints", "P2.1: unique",
			about("order_lines", func(t *wire.Table) { t.Field("order_id").Unique = true })),
		bent("samples of another column", "samples are values of the column", "P2.1: statistics and samples",
			about("customers", func(t *wire.Table) { t.Field("country").Samples = []wire.Value{wire.Text("acme@example.com")} })),
		bent("a rowCount of another table", "rowCount", "P2.1: statistics and samples", about("employees", func(t *wire.Table) {
			n := int64(5200)
			t.RowCount = &n
		})),
		bent("minimum and maximum swapped", "stats", "P2.1: statistics and samples", about("orders", func(t *wire.Table) {
			low, high := wire.Int(1001), wire.Int(1048)
			t.Field("id").Stats = &wire.Stats{DistinctCount: 48, Min: &high, Max: &low}
		})),
	}
}

// of changes the rows of one table.
func of(table string, edit func(t *oracle.Table)) twist {
	return twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
		if req.Table == table {
			edit(t)
		}
	}}
}

func rowFaults() []fault {
	return []fault{
		bent("a row is lost", "every row is answered", "P2.2: a table", of("codes", func(t *oracle.Table) {
			t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool { return row[0].Int64() == 13 })
		})),
		bent("an empty row of an empty table", "a table without rows answers none", "P2.2: the empty table",
			of("empty_table", func(t *oracle.Table) {
				t.Rows = [][]wire.Value{{wire.Int(1), wire.Null(), wire.Null(), wire.Null(), wire.Null(), wire.Null()}}
			})).refused("stream-11"),
		bent("one batch and no more", "rows beyond 5,000 are rows", "P2.2: a table of many rows",
			of("many", func(t *oracle.Table) { t.Rows = t.Rows[:min(len(t.Rows), 5000)] })),
		bent("the wide row twice", "each row once", "P2.2: a wide row",
			of("wide", func(t *oracle.Table) { t.Rows = append(t.Rows, t.Rows...) })).refused("discovery-10"),
		bent("fields in the order of the table", "cells belong to the fields asked for", "P2.8: the fields asked for",
			twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
				last := -1
				for _, name := range req.Fields {
					at := t.Index(name)
					if at < last && len(t.Rows) > 0 {
						for _, row := range t.Rows {
							row[at] = wire.Null()
						}
					}
					last = at
				}
			}}),
		bent("one field is distinct", "rows that look alike are rows", "P2.8: one field alone",
			twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
				if len(req.Fields) == 1 && len(req.Joins) == 0 && req.MaxRows == 0 {
					firstRows(t, func(row []wire.Value) string { return textOfRow(t, row, req.Fields...) })
				}
			}}),
	}
}

// eachCell changes the cells of rows that are not joined, by the type of their column.
func eachCell(change func(t wire.Type, v wire.Value) wire.Value) twist {
	return twist{answer: func(req *connector.Query, t *oracle.Table) {
		for _, row := range t.Rows {
			for i, c := range t.Columns {
				if len(req.Joins) == 0 {
					row[i] = change(c.Type, row[i])
				}
			}
		}
	}}
}

// spelled changes the cells of columns of some types.
func spelled(change func(v wire.Value) wire.Value, types ...wire.Type) twist {
	return eachCell(func(t wire.Type, v wire.Value) wire.Value {
		if slices.Contains(types, t) && !v.IsNull() {
			return change(v)
		}
		return v
	})
}

func spellingFaults() []fault {
	return []fault{
		bent("decimals through floats", "decimals are digit-exact strings", "P2.16: decimals", spelled(double, wire.TypeDecimal)),
		bent("integers through floats", "integers beyond 2^53 are exact", "P2.16: numbers",
			spelled(double, wire.TypeNumber)).accepted("the wrong digits are digits"),
		bent("instants of another zone", "datetimes are UTC", "P2.16", spelled(func(v wire.Value) wire.Value {
			return wire.Text(v.Time().In(time.FixedZone("", 7200)).Format("2006-01-02T15:04:05.999999-07:00"))
		}, wire.TypeDatetime)).accepted("the library, which it is made with, refuses the row").
			behind("P3.1c", "the library refuses the row"),
		bent("instants without fractions", "datetimes keep every digit", "P2.16: dates and datetimes",
			spelled(func(v wire.Value) wire.Value { return wire.Datetime(v.Time().Truncate(time.Second)) }, wire.TypeDatetime)).
			accepted("the wrong instant is an instant"),
		bent("arrays as lists", "arrays are JSON text", "P2.16: arrays and JSON",
			spelled(func(v wire.Value) wire.Value { return wire.Text(strings.Trim(v.String(), "[]")) }, wire.TypeArray)),
		bent("texts are trimmed", "texts are exact", "P2.16: texts",
			spelled(func(v wire.Value) wire.Value { return wire.Text(strings.TrimRight(v.Text(), " ")) }, wire.TypeString)).
			accepted("the wrong text is a text"),
		bent("nulls are empty texts", "missing values are null", "P2.16: missing values",
			eachCell(func(t wire.Type, v wire.Value) wire.Value {
				if v.IsNull() && t == wire.TypeString {
					return wire.Text("")
				}
				return v
			})).accepted("an empty text is a text"),
		bent("booleans are numbers", "booleans are true and false", "P2.16: booleans", spelled(func(v wire.Value) wire.Value {
			if v.IsTrue() {
				return wire.Int(1)
			}
			return wire.Int(0)
		}, wire.TypeBoolean)),
		bent("decimals without their zeros", "decimals keep their scale", "A.6", spelled(func(v wire.Value) wire.Value {
			if !strings.Contains(v.String(), ".") {
				return v
			}
			return wire.Decimal(strings.TrimSuffix(strings.TrimRight(v.String(), "0"), "."))
		}, wire.TypeDecimal)),
	}
}
