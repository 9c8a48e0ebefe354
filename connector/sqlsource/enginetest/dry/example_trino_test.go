package dry_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// trino is a flavor of Trino, for tables of five types. Placeholders have no numbers,
// and the offset stands before the limit.
//
// Untested: all of it. Above all what the connector below Trino keeps of these meanings,
// whether it is asked for filters and sorts at all, and how errors are told apart, so
// that State says nothing.
type trino struct{}

func (trino) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
func (trino) Param(int) string         { return "?" }

func (f trino) Table(schema, name string) string {
	return f.Quote(cmp.Or(schema, "default")) + "." + f.Quote(name)
}

// Capabilities: the Go driver has no transactions.
func (trino) Capabilities() sqlengine.Capabilities {
	return sqlengine.Capabilities{Name: "Trino", NoTx: true, OffsetFirst: true, MaxValues: 1000}
}

func (trino) Catalog(context.Context, sqlengine.Queryer, string, []string) ([]*sqlengine.Table, []string, error) {
	return tables(), nil, nil
}

// Column casts every placeholder: the engine compares two types by no rule of its own.
func (trino) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := sqlengine.Column{Cell: ref, Raw: ref, Key: ref, FirstYear: 1}
	switch c.DataType {
	case "integer":
		column.Type, column.Class, column.Bind = wire.TypeNumber, sqlengine.ClassInteger, as("bigint")
		column.Text = "CAST(" + ref + " AS varchar)"
	case "decimal":
		column.Type, column.Class = wire.TypeDecimal, sqlengine.ClassDecimal
		column.Precision, column.Scale = c.Precision, c.Scale
		column.Bind = as(fmt.Sprintf("decimal(%d, %d)", c.Precision, c.Scale))
		column.Read = as("varchar")
		column.Cell, column.Text = column.Read(ref), column.Read(ref)
	case "datetime":
		column.Type, column.Class, column.Precision = wire.TypeDatetime, sqlengine.ClassDatetime, 3
		column.Bind, column.Read = as("timestamp(3)"), as("varchar")
		column.Cell = column.Read(ref)
	case "boolean":
		column.Type, column.Class = wire.TypeBoolean, sqlengine.ClassBoolean
	default:
		column.Type, column.Class = wire.TypeString, sqlengine.ClassText
		column.Text, column.Raw, column.Key = ref, "to_utf8("+ref+")", "to_utf8("+ref+")"
		column.Bind = func(param string) string { return "to_utf8(CAST(" + param + " AS varchar))" }
		column.Read = func(expr string) string { return "from_utf8(" + expr + ")" }
	}
	return column
}

func (trino) Order(expr string, desc, nullable bool) string {
	return sqlengine.NullsLast(expr, desc, nullable)
}

func (trino) Window(limit, offset string, _ bool) string {
	clause := ""
	if offset != "" {
		clause += " OFFSET " + offset
	}
	if limit != "" {
		clause += " LIMIT " + limit
	}
	return clause
}

func (trino) Includes(text, param string) string {
	return "strpos(" + text + ", CAST(" + param + " AS varchar)) > 0"
}

func (trino) HasPrefix(text, param string, _ int) string {
	return "starts_with(" + text + ", CAST(" + param + " AS varchar))"
}

func (trino) Bucket(_ *sqlengine.Column, key string, g wire.Grain) string {
	return "CAST(date_trunc('" + string(g) + "', " + key + ") AS date)"
}

// Sum adds in the widest type. It fails where that overflows.
func (trino) Sum(c *sqlengine.Column, key string) sqlengine.Sum {
	if c.Class != sqlengine.ClassInteger && c.Class != sqlengine.ClassDecimal {
		return sqlengine.Sum{}
	}
	return sqlengine.Sum{Exprs: []string{fmt.Sprintf("CAST(SUM(CAST(%s AS decimal(38, %d))) AS varchar)", key, c.Scale)}}
}

func (trino) State(error) string { return "" }

// The statements of ten requests on Trino. No server has run them.
func Example_trino() {
	print(trino{})
	// Output:
	// -- some rows
	// SELECT t0."id", t0."note" FROM "default"."orders" t0 WHERE t0."amount" >= CAST(? AS decimal(10, 2))
	//   AND to_utf8(t0."note") <> to_utf8(CAST(? AS varchar)) <- 10.5, x
	// -- a page of a sort
	// SELECT t0."id" FROM "default"."orders" t0 ORDER BY to_utf8(t0."note") DESC NULLS LAST, t0."id"
	//   OFFSET ? LIMIT ? <- 20, 10
	// -- a page without a sort
	// SELECT t0."id" FROM "default"."orders" t0 ORDER BY t0."id" LIMIT ? <- 10
	// -- a list, and one of two
	// SELECT t0."id" FROM "default"."orders" t0 WHERE (t0."customer" IS NULL OR NOT (t0."customer" IN
	//   (CAST(? AS bigint), CAST(? AS bigint)))) AND ((t0."placed" < CAST(? AS timestamp(3))) OR
	//   (t0."placed" IS NULL)) <- 1, 2, 2024-01-01 00:00:00.000
	// -- a search
	// SELECT t0."id" FROM "default"."orders" t0 WHERE strpos(t0."note", CAST(? AS varchar)) > 0 AND
	//   starts_with(t0."note", CAST(? AS varchar)) <- a, b
	// -- a boolean
	// SELECT COUNT(*) FROM "default"."orders" t0 WHERE t0."paid"
	// -- a join
	// SELECT t0."id", t1."name" FROM "default"."orders" t0 LEFT JOIN "default"."customers" t1 ON
	//   t0."customer" = t1."id"
	// -- groups by month
	// SELECT g.c0, COUNT(*), CAST(SUM(CAST(g.c1 AS decimal(38, 2))) AS varchar) FROM (SELECT
	//   CAST(date_trunc('month', t0."placed") AS date) AS c0, t0."amount" AS c1 FROM "default"."orders"
	//   t0) g GROUP BY g.c0 LIMIT ? <- 100
	// -- measures of all rows
	// SELECT from_utf8(MIN(g.c0)), COUNT(DISTINCT g.c1), CAST(SUM(CAST(g.c2 AS decimal(38, 0))) AS
	//   varchar) FROM (SELECT to_utf8(t0."note") AS c0, t0."customer" AS c1, t0."id" AS c2 FROM
	//   "default"."orders" t0) g
	// -- a link
	// SELECT (SELECT COUNT(t0."customer") FROM "default"."orders" t0), (SELECT COUNT(*) FROM
	//   "default"."orders" t0 LEFT JOIN (SELECT DISTINCT t1."id" AS k FROM "default"."customers" t1 WHERE
	//   t1."id" IS NOT NULL) d ON d.k = t0."customer" WHERE t0."customer" IS NOT NULL AND d.k IS NULL)
}
