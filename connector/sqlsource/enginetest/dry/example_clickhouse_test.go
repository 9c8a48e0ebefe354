package dry_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// clickHouse is a flavor of ClickHouse, for tables of five types.
//
// Untested: all of it. Above all the driver, which puts the values into the statement
// itself: package sqlsourcetest's Hostile must pass before anybody uses this. A
// MergeTree's primary key is not unique, so a real Catalog declares no keys. How errors
// are told apart is unknown, so State says nothing.
type clickHouse struct{}

func (clickHouse) Quote(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

func (clickHouse) Param(n int) string { return fmt.Sprintf("$%d", n) }

func (f clickHouse) Table(schema, name string) string {
	return f.Quote(cmp.Or(schema, "default")) + "." + f.Quote(name)
}

// Capabilities: there are no transactions. Unless told otherwise, a join fills rows
// without a match with zeros, and the minimum of no rows is zero.
func (clickHouse) Capabilities() sqlengine.Capabilities {
	return sqlengine.Capabilities{Name: "ClickHouse", NoTx: true, MaxValues: 1000,
		Session: func(ctx context.Context, q sqlengine.Queryer) error {
			_, err := q.ExecContext(ctx, "SET join_use_nulls = 1, aggregate_functions_null_for_empty = 1")
			return err
		}}
}

func (clickHouse) Catalog(context.Context, sqlengine.Queryer, string, []string) ([]*sqlengine.Table, []string, error) {
	return tables(), nil, nil
}

// Column compares instants by their text, which has one width: an operand outside of
// the years 1900 to 2299 would be moved to the nearest of them.
func (clickHouse) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := sqlengine.Column{Cell: ref, Raw: ref, Key: ref, FirstYear: 1900}
	switch c.DataType {
	case "integer":
		column.Type, column.Class = wire.TypeNumber, sqlengine.ClassInteger
		column.Bind = func(param string) string { return "toInt64(" + param + ")" }
		column.Text = "toString(" + ref + ")"
	case "decimal":
		column.Type, column.Class = wire.TypeDecimal, sqlengine.ClassDecimal
		column.Precision, column.Scale = c.Precision, c.Scale
		column.Bind = func(param string) string { return fmt.Sprintf("toDecimal64(%s, %d)", param, c.Scale) }
		column.Read = func(expr string) string { return fmt.Sprintf("toDecimalString(%s, %d)", expr, c.Scale) }
		column.Cell, column.Text = column.Read(ref), column.Read(ref)
	case "datetime":
		column.Type, column.Class, column.Precision = wire.TypeDatetime, sqlengine.ClassDatetime, 3
		column.Read = func(expr string) string { return "toString(" + expr + ", 'UTC')" }
		column.Cell = column.Read(ref)
		column.Raw = column.Cell
	case "boolean":
		column.Type, column.Class = wire.TypeBoolean, sqlengine.ClassBoolean
	default:
		column.Type, column.Class = wire.TypeString, sqlengine.ClassText // a String is bytes, and compared as such
		column.Text = ref
	}
	return column
}

// Order says where nulls are, although that is the default.
func (clickHouse) Order(expr string, desc, nullable bool) string {
	return sqlengine.NullsLast(expr, desc, nullable)
}

func (clickHouse) Window(limit, offset string, _ bool) string {
	clause := ""
	if limit != "" {
		clause += " LIMIT " + limit
	}
	if offset != "" {
		clause += " OFFSET " + offset
	}
	return clause
}

func (clickHouse) Includes(text, param string) string {
	return "position(" + text + ", " + param + ") > 0"
}

func (clickHouse) HasPrefix(text, param string, _ int) string {
	return "startsWith(" + text + ", " + param + ")"
}

// Bucket makes the first day of its parts: toStartOfMonth returns a Date, whose years
// are 1970 to 2149.
func (clickHouse) Bucket(_ *sqlengine.Column, key string, g wire.Grain) string {
	part := func(name string) string { return name + "(" + key + ", 'UTC')" }
	month, day := part("toMonth"), "1"
	switch g {
	case wire.GrainYear:
		month = "1"
	case wire.GrainQuarter:
		month = part("toQuarter") + " * 3 - 2"
	case wire.GrainDay:
		day = part("toDayOfMonth")
	}
	return "makeDate32(" + part("toYear") + ", " + month + ", " + day + ")"
}

// Sum adds in 256 bits: SUM itself wraps around in 64.
func (clickHouse) Sum(c *sqlengine.Column, key string) sqlengine.Sum {
	switch c.Class {
	case sqlengine.ClassInteger:
		return sqlengine.Sum{Exprs: []string{"toString(SUM(toInt256(" + key + ")))"}}
	case sqlengine.ClassDecimal:
		return sqlengine.Sum{Exprs: []string{fmt.Sprintf("toDecimalString(SUM(toDecimal256(%s, %d)), %d)", key, c.Scale, c.Scale)}}
	}
	return sqlengine.Sum{}
}

func (clickHouse) State(error) string { return "" }

// The statements of ten requests on ClickHouse. No server has run them.
func Example_clickHouse() {
	print(clickHouse{})
	// Output:
	// -- some rows
	// SET join_use_nulls = 1, aggregate_functions_null_for_empty = 1
	// SELECT t0.`id`, t0.`note` FROM `default`.`orders` t0 WHERE t0.`amount` >= toDecimal64($1, 2) AND
	//   t0.`note` <> $2 <- 10.5, x
	// -- a page of a sort
	// SELECT t0.`id` FROM `default`.`orders` t0 ORDER BY t0.`note` DESC NULLS LAST, t0.`id` LIMIT $1
	//   OFFSET $2 <- 10, 20
	// -- a page without a sort
	// SELECT t0.`id` FROM `default`.`orders` t0 ORDER BY t0.`id` LIMIT $1 <- 10
	// -- a list, and one of two
	// SELECT t0.`id` FROM `default`.`orders` t0 WHERE (t0.`customer` IS NULL OR NOT (t0.`customer` IN
	//   (toInt64($1), toInt64($2)))) AND ((toString(t0.`placed`, 'UTC') < $3) OR (toString(t0.`placed`,
	//   'UTC') IS NULL)) <- 1, 2, 2024-01-01 00:00:00.000
	// -- a search
	// SELECT t0.`id` FROM `default`.`orders` t0 WHERE position(t0.`note`, $1) > 0 AND
	//   startsWith(t0.`note`, $2) <- a, b
	// -- a boolean
	// SELECT COUNT(*) FROM `default`.`orders` t0 WHERE t0.`paid`
	// -- a join
	// SELECT t0.`id`, t1.`name` FROM `default`.`orders` t0 LEFT JOIN `default`.`customers` t1 ON
	//   t0.`customer` = t1.`id`
	// -- groups by month
	// SELECT g.c0, COUNT(*), toDecimalString(SUM(toDecimal256(g.c1, 2)), 2) FROM (SELECT
	//   makeDate32(toYear(t0.`placed`, 'UTC'), toMonth(t0.`placed`, 'UTC'), 1) AS c0, t0.`amount` AS c1
	//   FROM `default`.`orders` t0) g GROUP BY g.c0 LIMIT $1 <- 100
	// -- measures of all rows
	// SELECT MIN(g.c0), COUNT(DISTINCT g.c1), toString(SUM(toInt256(g.c2))) FROM (SELECT t0.`note` AS c0,
	//   t0.`customer` AS c1, t0.`id` AS c2 FROM `default`.`orders` t0) g
	// -- a link
	// SELECT (SELECT COUNT(t0.`customer`) FROM `default`.`orders` t0), (SELECT COUNT(*) FROM
	//   `default`.`orders` t0 LEFT JOIN (SELECT DISTINCT t1.`id` AS k FROM `default`.`customers` t1 WHERE
	//   t1.`id` IS NOT NULL) d ON d.k = t0.`customer` WHERE t0.`customer` IS NOT NULL AND d.k IS NULL)
}
