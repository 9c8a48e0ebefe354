package enginetest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sqliteQuoted returns a text in SQL. It spells control characters out, because
// drivers end a statement at a NUL.
func sqliteQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch {
		case r == '\'':
			b.WriteString("''")
		case r < ' ':
			b.WriteString("' || char(" + strconv.Itoa(int(r)) + ") || '")
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return "(" + b.String() + ")"
}

// at returns a value in SQL that must be read as a datetime.
func at(sql, moment string) sqlsourcetest.Literal {
	return literal(sql, wire.Datetime(instant(moment)))
}

var (
	sqliteTexts  = sqlsourcetest.Texts(sqliteQuoted, slices.Concat(commonTexts, nulTexts)...)
	sqliteWholes = integers(0, 1, -1, 2, 10, 9, 100, 1<<53-1, 1<<53, 1<<53+1, -(1<<53 + 1), 1<<63-1, -1<<63, 1<<60, 1<<60+1)
)

var sqliteTypes = []sqlsourcetest.Type{
	{Name: "text", Want: wire.TypeString, SQL: "TEXT", Type: wire.TypeString, Literals: append(slices.Clone(sqliteTexts),
		literal("x'61'", wire.Null()), literal("x'ff'", wire.Null()))},
	{Name: "nocase", SQL: "VARCHAR(40) COLLATE NOCASE", Type: wire.TypeString, Literals: sqliteTexts},
	{Name: "uuid", SQL: "UUID", Type: wire.TypeString, Literals: append(sqlsourcetest.Texts(sqliteQuoted,
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-4fff-bfff-ffffffffffff", "x"), text("12", "12"))},
	{Name: "whole", SQL: "BIGINT", Type: wire.TypeNumber, Literals: sqliteWholes},
	{Name: "mixed", Want: wire.TypeNumber, SQL: "INTEGER", Type: wire.TypeNumber, Literals: append([]sqlsourcetest.Literal{
		literal("1.5", wire.Float(1.5)), literal("-0.5", wire.Float(-0.5)), literal("0.1", wire.Float(0.1)),
		literal("1e300", wire.Float(1e300)), literal("9007199254740992.0", wire.Int(1<<53)),
		literal("1152921504606846976.0", wire.Int(1<<60)), literal("9223372036854775808.0", wire.Float(1<<63)),
		literal("9e999", wire.Null()), literal("-9e999", wire.Null()),
		literal("'n/a'", wire.Null()), literal("''", wire.Null()), literal("x'31'", wire.Null()),
	}, sqliteWholes...)},
	{Name: "real", Want: wire.TypeNumber, SQL: "DOUBLE", Type: wire.TypeNumber, Literals: []sqlsourcetest.Literal{
		literal("0", wire.Float(0)), literal("-0.0", wire.Float(0)), literal("0.1", wire.Float(0.1)),
		literal("0.30000000000000004", wire.Float(0.30000000000000004)), literal("0.3", wire.Float(0.3)),
		literal("1.5", wire.Float(1.5)), literal("-1.5", wire.Float(-1.5)), literal("1e-7", wire.Float(1e-7)),
		literal("1e21", wire.Float(1e21)), literal("5e-324", wire.Float(5e-324)),
		literal("1.7976931348623157e308", wire.Float(1.7976931348623157e308)), literal("1e23", wire.Float(1e23)),
		literal("9007199254740993", wire.Float(1<<53)), literal("9e999", wire.Null()), literal("'n/a'", wire.Null()),
	}},
	{Name: "money", SQL: "DECIMAL(10,2)", Type: wire.TypeDecimal, Literals: []sqlsourcetest.Literal{
		literal("'10.25'", wire.Decimal("10.25")), literal("10", wire.Decimal("10")), literal("'10.0'", wire.Decimal("10")),
		literal("-3.5", wire.Decimal("-3.5")), literal("1e-7", wire.Decimal("0.0000001")), literal("0", wire.Decimal("0")),
		literal("9007199254740993", wire.Decimal("9007199254740993")),
	}},
	{Name: "digits", SQL: "DECIMAL_TEXT", Type: wire.TypeDecimal, Literals: decimals(
		"0", "-0.00", "1.5", "1.50", "+1.5", "01.5", "-1.5", "10.250", "0.1", "0.000001",
		"123456789012.345", "99999999999999.9", "100", "-100")},
	{Name: "long digits", Want: wire.TypeDecimal, SQL: "NUMERIC_TEXT", Type: wire.TypeDecimal, Literals: append(decimals(
		"1.5", "1.50", "9007199254740993", "9007199254740992", "0.1000000000000000055511151231257827", "0.1",
		"-12345678901234567890.123456789"), literal("'n/a'", wire.Null()), literal("'+-1'", wire.Null()), literal("'1e3'", wire.Null()))},
	{Name: "boolean", SQL: "BOOLEAN", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{
		literal("0", wire.Bool(false)), literal("1", wire.Bool(true)), literal("2", wire.Bool(true)),
	}},
	{Name: "loose boolean", Want: wire.TypeBoolean, SQL: "BOOL", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{
		literal("0", wire.Bool(false)), literal("1", wire.Bool(true)), literal("'true'", wire.Null()), literal("0.5", wire.Null()),
	}},
	{Name: "day", SQL: "DATE", Type: wire.TypeDate, Literals: days(
		"2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "0001-01-01", "9999-12-31", "0000-01-01", "1969-12-31")},
	{Name: "loose day", Want: wire.TypeDate, SQL: "DATE TEXT", Type: wire.TypeDate, Literals: append(
		days("2024-02-29", "2024-03-01", "2023-12-31"),
		literal("'2024-02-30'", wire.Null()), literal("'soon'", wire.Null()), literal("'2024-03-01T10:00:00Z'", wire.Null()))},
	{Name: "moment", SQL: "DATETIME", Type: wire.TypeDatetime, Literals: []sqlsourcetest.Literal{
		at("'2024-02-29 00:00:00'", "2024-02-29T00:00:00Z"), at("'2024-02-29T00:00:00Z'", "2024-02-29T00:00:00Z"),
		at("'2024-02-29'", "2024-02-29T00:00:00Z"), at("'2024-02-28T23:59:59.999Z'", "2024-02-28T23:59:59.999Z"),
		at("'2024-02-28 23:59:59.999999999'", "2024-02-28T23:59:59.999999999Z"),
		at("'2024-03-31 12:00:00.5'", "2024-03-31T12:00:00.5Z"), at("'2024-04-01T00:00:00.000Z'", "2024-04-01T00:00:00Z"),
		at("'0000-01-01T00:00:00Z'", "0000-01-01T00:00:00Z"), at("'9999-12-31 23:59:59'", "9999-12-31T23:59:59Z"),
	}},
	{Name: "loose moment", Want: wire.TypeDatetime, SQL: "TIMESTAMP", Type: wire.TypeDatetime, Literals: []sqlsourcetest.Literal{
		at("'2024-02-29 00:00:00'", "2024-02-29T00:00:00Z"), at("'2024-02-29T01:00:00+01:00'", "2024-02-29T00:00:00Z"),
		at("1709164800", "2024-02-29T00:00:00Z"), at("2460369.5", "2024-02-29T00:00:00Z"),
		at("'2024-02-29 00:00:00 +0000 UTC'", "2024-02-29T00:00:00Z"),
		literal("'2024-02-30 00:00:00'", wire.Null()), literal("'soon'", wire.Null()), literal("x'00'", wire.Null()),
		at("'2024-02-29T01:00:00.25-00:30'", "2024-02-29T01:30:00.25Z"), literal("'2024-02-29T01:00:00+24:00'", wire.Null()),
	}},
	// Nothing says what a number is here. Few of the values are numbers: a table with more of them than dates has
	// another type, and its rows are chosen at random.
	{Name: "guessed moment", SQL: "DATETIME", Type: wire.TypeDatetime, Literals: slices.Concat([]sqlsourcetest.Literal{
		at("'2024-02-29 00:00:00'", "2024-02-29T00:00:00Z"), at("'2024-02-29T01:00:00+01:00'", "2024-02-29T00:00:00Z"),
		literal("20240101", wire.Null()), literal("1709164800", wire.Null()), literal("2460369.5", wire.Null()),
	}, slices.Repeat([]sqlsourcetest.Literal{
		at("'1970-08-23 06:21:41'", "1970-08-23T06:21:41Z"), at("'2024-03-01'", "2024-03-01T00:00:00Z"),
		at("'2024-02-28 23:59:59'", "2024-02-28T23:59:59Z"),
	}, 6))},
	{Name: "epoch", SQL: "UNIX_TIMESTAMP", Type: wire.TypeDatetime, Literals: []sqlsourcetest.Literal{
		at("1709164800", "2024-02-29T00:00:00Z"), at("0", "1970-01-01T00:00:00Z"), at("-1", "1969-12-31T23:59:59Z"),
		at("2460369.5", "2024-02-29T00:00:00Z"), literal("1709164800000", wire.Null()), at("'2024-02-29'", "2024-02-29T00:00:00Z"),
	}},
	{Name: "json", Want: wire.TypeJSON, SQL: "JSON", Type: wire.TypeJSON, Literals: []sqlsourcetest.Literal{
		text(`'{"b": 1, "a": [1, 2]}'`, `{"b":1,"a":[1,2]}`), text(`'"x"'`, `"x"`), text(`'null'`, "null"), text(`'[]'`, "[]"),
		text("5", "5"), literal("'{'", wire.Null()), literal("x'5b5d'", wire.Null()),
	}},
	{Name: "array", SQL: "ARRAY_TEXT", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		text(`'["a", "b"]'`, `["a","b"]`), text(`'[1, 2.50, "1.5"]'`, `[1,2.50,"1.5"]`), text(`'[]'`, "[]"),
		text(`'[true, null, ["a"]]'`, `[true,null,["a"]]`),
	}},
	{Name: "bytes", Want: wire.TypeString, SQL: "BLOB", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal("x'00ff'", wire.Bytes([]byte{0, 255})), text("x''", ""), text("x'616263'", "YWJj"), text("x'fbff'", "+/8="),
		literal("'text'", wire.Null()),
	}},
	{Name: "anything", Want: wire.TypeString, SQL: "", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		text("'a'", "a"), text("1", "1"), text("1.5", "1.5"), literal("x'00'", wire.Null()), text("'01'", "01"),
	}},
}
