package dry_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sqlServer is a flavor of SQL Server 2019 and later, for tables of five types.
//
// Untested: all of it. Above all whether the driver binds a NUL in a text, what the
// escaped texts cost, and whether a snapshot (READ COMMITTED moves between statements)
// may be had without a setting of the database. A text of more than 8,000 bytes would be
// cut here: a flavor for use reads such a column as opaque.
type sqlServer struct{}

func (sqlServer) Quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
func (sqlServer) Param(n int) string       { return fmt.Sprintf("@p%d", n) }

func (f sqlServer) Table(schema, name string) string {
	return f.Quote(cmp.Or(schema, "dbo")) + "." + f.Quote(name)
}

// Capabilities: a statement takes 2,100 placeholders.
func (sqlServer) Capabilities() sqlengine.Capabilities {
	return sqlengine.Capabilities{Name: "SQL Server", MaxValues: 2000}
}

func (sqlServer) Catalog(context.Context, sqlengine.Queryer, string, []string) ([]*sqlengine.Table, []string, error) {
	return tables(), nil, nil
}

// Column reads a bit as opaque: a condition is not a value here, and a value no
// condition. Texts are compared by their bytes in UTF-8, which end in a mark because the
// engine compares the shorter of two strings as if it ended in zeros.
func (sqlServer) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := sqlengine.Column{Cell: ref, Raw: ref, Key: ref, FirstYear: 1}
	switch c.DataType {
	case "integer":
		column.Type, column.Class, column.Bind = wire.TypeNumber, sqlengine.ClassInteger, as("bigint")
		column.Text = "CONVERT(varchar(20), " + ref + ")"
	case "decimal":
		column.Type, column.Class = wire.TypeDecimal, sqlengine.ClassDecimal
		column.Precision, column.Scale = c.Precision, c.Scale
		column.Bind = as(fmt.Sprintf("decimal(%d, %d)", c.Precision, c.Scale))
	case "datetime":
		column.Type, column.Class, column.Precision = wire.TypeDatetime, sqlengine.ClassDatetime, 3
		column.Bind = as("datetime2(3)")
	case "boolean":
		column.Type, column.Class = wire.TypeBoolean, sqlengine.ClassOpaque
	default:
		column.Type, column.Class = wire.TypeString, sqlengine.ClassText
		column.Text, column.MaxOperand = utf8Text(ref), 2000
		column.Raw = escapedText(ref)
		column.Key, column.Bind = column.Raw, escapedText
		column.Read = func(expr string) string {
			return "REPLACE(CONVERT(varchar(8000), SUBSTRING(" + expr + ", 1, DATALENGTH(" + expr + ") - 2))" + binary +
				", CHAR(0) + CHAR(2), CHAR(0))"
		}
	}
	return column
}

// as returns a Bind that casts a placeholder.
func as(to string) func(string) string {
	return func(param string) string { return "CAST(" + param + " AS " + to + ")" }
}

const binary = " COLLATE Latin1_General_100_BIN2_UTF8"

func utf8Text(expr string) string { return "CONVERT(varchar(8000), " + expr + binary + ")" }

func escapedText(expr string) string {
	return "(CONVERT(varbinary(8000), REPLACE(" + utf8Text(expr) + ", CHAR(0), CHAR(0) + CHAR(2))) + 0x0001)"
}

// Order: nulls are lowest.
func (sqlServer) Order(expr string, desc, nullable bool) string {
	switch {
	case desc:
		return expr + " DESC"
	case nullable:
		return "CASE WHEN " + expr + " IS NULL THEN 1 ELSE 0 END, " + expr
	}
	return expr
}

// Window: OFFSET and FETCH are parts of ORDER BY.
func (sqlServer) Window(limit, offset string, ordered bool) string {
	clause := " OFFSET " + cmp.Or(offset, "0") + " ROWS"
	if !ordered {
		clause = " ORDER BY (SELECT NULL)" + clause
	}
	if limit != "" {
		clause += " FETCH NEXT " + limit + " ROWS ONLY"
	}
	return clause
}

func (sqlServer) Includes(text, param string) string {
	return "CHARINDEX(" + utf8Text(param) + ", " + text + ") > 0"
}

// HasPrefix compares bytes, of which there must be as many: the engine would add zeros.
func (sqlServer) HasPrefix(text, param string, size int) string {
	return fmt.Sprintf("(DATALENGTH(%s) >= %d AND SUBSTRING(CONVERT(varbinary(8000), %s), 1, %d) = CONVERT(varbinary(8000), %s))",
		text, size, text, size, utf8Text(param))
}

func (sqlServer) Bucket(_ *sqlengine.Column, key string, g wire.Grain) string {
	switch g {
	case wire.GrainYear:
		return "DATEFROMPARTS(YEAR(" + key + "), 1, 1)"
	case wire.GrainQuarter:
		return "DATEFROMPARTS(YEAR(" + key + "), DATEPART(quarter, " + key + ") * 3 - 2, 1)"
	case wire.GrainMonth:
		return "DATEFROMPARTS(YEAR(" + key + "), MONTH(" + key + "), 1)"
	}
	return "CAST(" + key + " AS date)"
}

// Sum adds in the widest type, whose overflow State knows.
func (sqlServer) Sum(c *sqlengine.Column, key string) sqlengine.Sum {
	if c.Class != sqlengine.ClassInteger && c.Class != sqlengine.ClassDecimal {
		return sqlengine.Sum{}
	}
	return sqlengine.Sum{Exprs: []string{fmt.Sprintf("CONVERT(varchar(50), SUM(CAST(%s AS decimal(38, %d))))", key, c.Scale)}}
}

// State reads the number of the driver's error: 8115 is an overflow of a sum.
func (sqlServer) State(err error) string {
	var own interface{ SQLErrorNumber() int32 }
	if !errors.As(err, &own) {
		return ""
	}
	return map[int32]string{
		18456: "28000", 4060: "3D000", 208: "42P01", 207: "42P01", 229: "42501", 1205: "40001", 1222: "55P03", 8115: "0A000",
		8134: "22012",
	}[own.SQLErrorNumber()]
}

// The statements of ten requests on SQL Server. No server has run them.
func Example_sqlServer() {
	print(sqlServer{})
	// Output:
	// -- some rows
	// SELECT t0.[id], t0.[note] FROM [dbo].[orders] t0 WHERE t0.[amount] >= CAST(@p1 AS decimal(10, 2))
	//   AND (CONVERT(varbinary(8000), REPLACE(CONVERT(varchar(8000), t0.[note] COLLATE
	//   Latin1_General_100_BIN2_UTF8), CHAR(0), CHAR(0) + CHAR(2))) + 0x0001) <> (CONVERT(varbinary(8000),
	//   REPLACE(CONVERT(varchar(8000), @p2 COLLATE Latin1_General_100_BIN2_UTF8), CHAR(0), CHAR(0) +
	//   CHAR(2))) + 0x0001) <- 10.5, x
	// -- a page of a sort
	// SELECT t0.[id] FROM [dbo].[orders] t0 ORDER BY (CONVERT(varbinary(8000),
	//   REPLACE(CONVERT(varchar(8000), t0.[note] COLLATE Latin1_General_100_BIN2_UTF8), CHAR(0), CHAR(0) +
	//   CHAR(2))) + 0x0001) DESC, t0.[id] OFFSET @p2 ROWS FETCH NEXT @p1 ROWS ONLY <- 10, 20
	// -- a page without a sort
	// SELECT t0.[id] FROM [dbo].[orders] t0 ORDER BY t0.[id] OFFSET 0 ROWS FETCH NEXT @p1 ROWS ONLY <- 10
	// -- a list, and one of two
	// SELECT t0.[id] FROM [dbo].[orders] t0 WHERE (t0.[customer] IS NULL OR NOT (t0.[customer] IN
	//   (CAST(@p1 AS bigint), CAST(@p2 AS bigint)))) AND ((t0.[placed] < CAST(@p3 AS datetime2(3))) OR
	//   (t0.[placed] IS NULL)) <- 1, 2, 2024-01-01 00:00:00.000
	// -- a search
	// SELECT t0.[id] FROM [dbo].[orders] t0 WHERE CHARINDEX(CONVERT(varchar(8000), @p1 COLLATE
	//   Latin1_General_100_BIN2_UTF8), CONVERT(varchar(8000), t0.[note] COLLATE
	//   Latin1_General_100_BIN2_UTF8)) > 0 AND (DATALENGTH(CONVERT(varchar(8000), t0.[note] COLLATE
	//   Latin1_General_100_BIN2_UTF8)) >= 1 AND SUBSTRING(CONVERT(varbinary(8000), CONVERT(varchar(8000),
	//   t0.[note] COLLATE Latin1_General_100_BIN2_UTF8)), 1, 1) = CONVERT(varbinary(8000),
	//   CONVERT(varchar(8000), @p2 COLLATE Latin1_General_100_BIN2_UTF8))) <- a, b
	// -- a boolean
	// SELECT t0.[paid] FROM [dbo].[orders] t0
	// -- a join
	// SELECT t0.[id], t1.[name] FROM [dbo].[orders] t0 LEFT JOIN [dbo].[customers] t1 ON t0.[customer] =
	//   t1.[id]
	// -- groups by month
	// SELECT g.c0, COUNT(*), CONVERT(varchar(50), SUM(CAST(g.c1 AS decimal(38, 2)))) FROM (SELECT
	//   DATEFROMPARTS(YEAR(t0.[placed]), MONTH(t0.[placed]), 1) AS c0, t0.[amount] AS c1 FROM
	//   [dbo].[orders] t0) g GROUP BY g.c0 ORDER BY (SELECT NULL) OFFSET 0 ROWS FETCH NEXT @p1 ROWS ONLY
	//   <- 100
	// -- measures of all rows
	// SELECT REPLACE(CONVERT(varchar(8000), SUBSTRING(MIN(g.c0), 1, DATALENGTH(MIN(g.c0)) - 2)) COLLATE
	//   Latin1_General_100_BIN2_UTF8, CHAR(0) + CHAR(2), CHAR(0)), COUNT(DISTINCT g.c1),
	//   CONVERT(varchar(50), SUM(CAST(g.c2 AS decimal(38, 0)))) FROM (SELECT (CONVERT(varbinary(8000),
	//   REPLACE(CONVERT(varchar(8000), t0.[note] COLLATE Latin1_General_100_BIN2_UTF8), CHAR(0), CHAR(0) +
	//   CHAR(2))) + 0x0001) AS c0, t0.[customer] AS c1, t0.[id] AS c2 FROM [dbo].[orders] t0) g
	// -- a link
	// SELECT (SELECT COUNT(t0.[customer]) FROM [dbo].[orders] t0), (SELECT COUNT(*) FROM [dbo].[orders] t0
	//   LEFT JOIN (SELECT DISTINCT t1.[id] AS k FROM [dbo].[customers] t1 WHERE t1.[id] IS NOT NULL) d ON
	//   d.k = t0.[customer] WHERE t0.[customer] IS NOT NULL AND d.k IS NULL)
}
