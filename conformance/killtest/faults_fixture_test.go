package killtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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

var discoveryFaults = []fault{
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

// of changes the rows of one table.
func of(table string, edit func(t *oracle.Table)) twist {
	return twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
		if req.Table == table {
			edit(t)
		}
	}}
}

var rowFaults = []fault{
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

var spellingFaults = []fault{
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

// operator returns a hook on one operator.
func operator(op wire.Op, wrong func(cell wire.Value, f wire.Filter, right bool) bool) twist {
	return twist{match: func(_ string, cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
		if f.Op == op {
			return wrong(cell, f, right)
		}
		return right
	}}
}

// instead takes one operator for another.
func instead(op, other wire.Op) twist {
	return twist{match: func(_ string, cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
		if f.Op == op {
			f.Op = other
			return oracle.Match(cell, f, t)
		}
		return right
	}}
}

// finding finds more by one operator.
func finding(op wire.Op, more func(cell wire.Value, f wire.Filter) bool) twist {
	return operator(op, func(cell wire.Value, f wire.Filter, right bool) bool { return right || more(cell, f) })
}

func nullCell(cell wire.Value, f wire.Filter) bool { return cell.IsNull() && !f.Value.IsNull() }

var operatorFaults = []fault{
	bent("eq finds nulls by null", "a null value matches no comparator", "P2.3: eq",
		finding(wire.OpEq, func(cell wire.Value, f wire.Filter) bool { return cell.IsNull() && f.Value.IsNull() })),
	bent("neq keeps nulls", "a null cell is not unequal", "P2.3: neq", finding(wire.OpNeq, nullCell)).refused("stream-11"),
	bent("gt finds equals", "greater is not equal", "P2.3: gt", instead(wire.OpGt, wire.OpGte)).refused("stream-11"),
	bent("gte finds none", "greater or equal", "P2.3: gte", instead(wire.OpGte, wire.OpGt)),
	bent("lt takes null for the least", "a null cell matches no range", "P2.3: lt", finding(wire.OpLt, nullCell)),
	bent("lte finds no equals", "less or equal", "P2.3: lte", instead(wire.OpLte, wire.OpLt)),
	bent("a null in the list finds nulls", "null members are ignored", "P2.3: in",
		finding(wire.OpIn, func(cell wire.Value, f wire.Filter) bool {
			return cell.IsNull() && slices.ContainsFunc(f.Values, wire.Value.IsNull)
		})),
	bent("an empty list finds everything", "an empty list matches nothing", "P2.3: in",
		finding(wire.OpIn, func(_ wire.Value, f wire.Filter) bool { return len(f.Values) == 0 })),
	bent("nin drops nulls", "nin keeps a null cell", "P2.3: nin",
		operator(wire.OpNin, func(cell wire.Value, _ wire.Filter, right bool) bool { return right && !cell.IsNull() })),
	bent("contains is a substring", "contains is membership", "P2.3: contains", instead(wire.OpContains, wire.OpIncludes)),
	bent("includes ignores case", "includes keeps case", "P2.3: includes",
		finding(wire.OpIncludes, func(cell wire.Value, f wire.Filter) bool {
			text, part := strings.ToLower(cell.String()), strings.ToLower(f.Value.String())
			return !cell.IsNull() && !f.Value.IsNull() && strings.Contains(text, part)
		})),
	bent("startswith is includes", "a prefix stands at the beginning", "P2.3: startswith",
		instead(wire.OpStartsWith, wire.OpIncludes)),
	bent("an empty text is null", "the empty text is a value", "P2.3: isnull",
		finding(wire.OpIsNull, func(cell wire.Value, _ wire.Filter) bool { return cell.String() == "" })),
	bent("an empty text is no value", "the empty text is a value", "P2.3: notnull",
		operator(wire.OpNotNull, func(cell wire.Value, _ wire.Filter, right bool) bool { return right && cell.String() != "" })),
	bent("the last filter is forgotten", "all filters of and hold", "P2.4: several filters of and",
		combining(func(and []wire.Filter, or [][]wire.Filter) ([]wire.Filter, [][]wire.Filter) {
			if len(or) == 0 && len(and) > 1 {
				and = and[:len(and)-1]
			}
			return and, or
		})).behind("P2.3: notnull", "its cases have a second filter"),
	bent("or is flat", "all filters of a group hold", "P2.4: groups of or",
		combining(func(and []wire.Filter, or [][]wire.Filter) (_ []wire.Filter, flat [][]wire.Filter) {
			for _, group := range or {
				if flat = slices.AppendSeq(flat, slices.Chunk(group, 1)); len(group) == 0 {
					flat = append(flat, nil)
				}
			}
			return and, flat
		})),
	bent("an empty group holds for no row", "an empty group is true", "P2.4: an empty or",
		twist{passes: func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
			some := slices.DeleteFunc(slices.Clone(or), func(group []wire.Filter) bool { return len(group) == 0 })
			return rightly(and, or, holds) && (len(or) == 0 || len(some) > 0 && rightly(nil, some, holds))
		}}),
	bent("or replaces and", "or is one more conjunct", "P2.4: or beside and",
		combining(func(and []wire.Filter, or [][]wire.Filter) ([]wire.Filter, [][]wire.Filter) {
			if slices.ContainsFunc(or, func(group []wire.Filter) bool { return len(group) > 0 }) {
				and = nil
			}
			return and, or
		})),
}

// on returns a hook on the operators over columns of some types.
func on(wrong func(table string, cell wire.Value, f wire.Filter, t wire.Type) bool, types ...wire.Type) twist {
	return twist{match: func(table string, cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
		if slices.Contains(types, t) {
			return wrong(table, cell, f, t)
		}
		return right
	}}
}

// through passes both sides of a comparison through something.
func through(change func(wire.Value) wire.Value) func(string, wire.Value, wire.Filter, wire.Type) bool {
	return func(_ string, cell wire.Value, f wire.Filter, t wire.Type) bool {
		f.Value = change(f.Value)
		f.Values = slices.Clone(f.Values)
		for i := range f.Values {
			f.Values[i] = change(f.Values[i])
		}
		return oracle.Match(change(cell), f, t)
	}
}

func asFloats(table string, cell wire.Value, f wire.Filter, t wire.Type) bool {
	if terms.ShapeOf(f.Op) == terms.ShapeNullary || slices.Contains([]wire.Op{wire.OpIncludes, wire.OpStartsWith, wire.OpContains}, f.Op) {
		return oracle.Match(cell, f, t)
	}
	return through(double)(table, cell, f, t)
}

var comparingFaults = []fault{
	bent("integers compare as floats", "2^53 is not 2^53+1", "P2.5: numbers", on(asFloats, wire.TypeNumber)),
	bent("decimals compare as floats", "every digit counts", "P2.5: decimals",
		on(asFloats, wire.TypeDecimal)).behind("P2.3: gt", "operators are asked on columns of each type"),
	bent("trailing blanks are overlooked", "texts compare by bytes", "P2.5: texts",
		on(func(table string, cell wire.Value, f wire.Filter, t wire.Type) bool {
			if table != "texts" {
				return oracle.Match(cell, f, t)
			}
			return through(func(v wire.Value) wire.Value {
				if v.Kind() != wire.KindText {
					return v
				}
				return wire.Text(strings.TrimRight(v.Text(), " "))
			})(table, cell, f, t)
		}, wire.TypeString)),
	bent("1 is true", "booleans are the texts true and false", "P2.5: booleans", on(through(func(v wire.Value) wire.Value {
		switch v.String() {
		case "1":
			return wire.Bool(true)
		case "0":
			return wire.Bool(false)
		}
		return v
	}), wire.TypeBoolean)).behind("P2.3: neq", "operators are asked on columns of each type"),
	bent("texts with exponents are numbers", "1e3 in a text is no number", "P2.5: an operand of another kind",
		on(through(func(v wire.Value) wire.Value {
			if f, err := strconv.ParseFloat(v.String(), 64); err == nil && strings.Contains(v.Text(), "e") {
				return wire.Float(f)
			}
			return v
		}), wire.TypeNumber)).behind("P2.3: eq", "operators are asked on columns of each type"),
	bent("fieldTypes override", "the source's own type decides", "P2.5: fieldTypes", asking(func(req *connector.Query) {
		for _, group := range append([][]wire.Filter{req.And}, req.Or...) {
			for _, f := range group {
				if req.FieldTypes[f.Field].Numeric() && f.Op == wire.OpEq {
					req.And = append(slices.Clone(req.And), wire.Filter{Field: "id", Op: wire.OpLt, Value: wire.Int(0)})
					return
				}
			}
		}
	})),
	bent("a country of null is an empty text", "a null cell matches no comparator", "P2.5: nulls",
		twist{match: func(table string, cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
			if table == "customers" && f.Field == "country" && cell.IsNull() && terms.ShapeOf(f.Op) == terms.ShapeValue {
				return oracle.Match(wire.Text(""), f, t)
			}
			return right
		}}),
	bent("elements are found without case", "elements are equal by bytes", "P2.5: JSON and arrays",
		on(func(table string, cell wire.Value, f wire.Filter, t wire.Type) bool {
			if table == "documents" && f.Op == wire.OpContains {
				return through(folded)(table, cell, f, t)
			}
			return oracle.Match(cell, f, t)
		}, wire.TypeArray)),
	bent("references are told apart without case", "keys are text", "P2.5: references",
		on(func(table string, cell wire.Value, f wire.Filter, t wire.Type) bool {
			if f.Op == wire.OpNeq {
				return through(folded)(table, cell, f, t)
			}
			return oracle.Match(cell, f, t)
		}, wire.TypeReference)).behind("P2.3: neq", "operators are asked on columns of each type"),
	bent("dates compare by bytes", "comparing instants is our decision", "A.8",
		on(func(_ string, cell wire.Value, f wire.Filter, _ wire.Type) bool {
			return oracle.Match(cell, f, wire.TypeString)
		}, wire.TypeDate, wire.TypeDatetime)),
}
