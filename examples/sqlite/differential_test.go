package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestDifferential asks SQLite and memory the same. SQLSOURCE_QUERIES makes it
// longer, SQLSOURCE_SEED repeats it.
func TestDifferential(t *testing.T) {
	queries, _ := strconv.Atoi(os.Getenv("SQLSOURCE_QUERIES"))
	seed, _ := strconv.ParseUint(os.Getenv("SQLSOURCE_SEED"), 10, 64)
	sqlsourcetest.Run(t, engine(t), sqlsourcetest.Config{Queries: queries, Seed: seed})
}

// engine is an empty database, and columns with everything that SQLite lets in.
func engine(t testing.TB) sqlsourcetest.Engine {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "test.sqlite"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return sqlsourcetest.Engine{Flavor: sqlsource.SQLite(), DB: db, Key: "INTEGER", Types: types}
}

// quoted is a text in SQL. Control characters are spelled out, because drivers
// end a statement at a NUL.
func quoted(s string) string {
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

var texts = []string{"", " ", "a", "A", "a ", "ab", "abc", "é", "e\u0301", "ß", "z", "Z", "%", "a%b", "a_b", "\\", "'", `"`, "1", "1.0", "01", "true", "null",
	"2024-02-29", "😀", "\uffff", "a\nb", "[1]", `["a","b"]`, `["a",1]`, "a\x00b", "\x00"}

func at(s string) wire.Value {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return wire.Datetime(t)
}

func day(s string) wire.Value {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return wire.Date(t)
}

func integers(list ...int64) (literals []sqlsourcetest.Literal) {
	for _, n := range list {
		s := strconv.FormatInt(n, 10)
		if n == -1<<63 {
			s = "(-9223372036854775807 - 1)"
		}
		literals = append(literals, sqlsourcetest.Literal{SQL: s, Cell: wire.Int(n)})
	}
	return literals
}

var wholes = integers(0, 1, -1, 2, 10, 9, 100, 1<<53-1, 1<<53, 1<<53+1, -(1<<53 + 1), 1<<63-1, -1<<63, 1<<60, 1<<60+1)

var types = []sqlsourcetest.Type{
	{Name: "text", SQL: "TEXT", Type: wire.TypeString, Literals: append(sqlsourcetest.Texts(quoted, texts...),
		sqlsourcetest.Literal{SQL: "x'61'", Cell: wire.Text("a")}, sqlsourcetest.Literal{SQL: "x'c3a9'", Cell: wire.Text("é")})},
	{Name: "nocase", SQL: "VARCHAR(40) COLLATE NOCASE", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, texts...)},
	{Name: "uuid", SQL: "UUID", Type: wire.TypeString, Literals: append(sqlsourcetest.Texts(quoted, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-4fff-bfff-ffffffffffff", "x"),
		sqlsourcetest.Literal{SQL: "12", Cell: wire.Text("12")})},
	{Name: "whole", SQL: "BIGINT", Type: wire.TypeNumber, Literals: wholes},
	{Name: "mixed", SQL: "INTEGER", Type: wire.TypeNumber, Literals: append([]sqlsourcetest.Literal{
		{SQL: "1.5", Cell: wire.Float(1.5)}, {SQL: "-0.5", Cell: wire.Float(-0.5)}, {SQL: "0.1", Cell: wire.Float(0.1)}, {SQL: "1e300", Cell: wire.Float(1e300)},
		{SQL: "9007199254740992.0", Cell: wire.Int(1 << 53)}, {SQL: "1152921504606846976.0", Cell: wire.Int(1 << 60)},
		{SQL: "9223372036854775808.0", Cell: wire.Float(1 << 63)}, {SQL: "9e999", Cell: wire.Null()}, {SQL: "-9e999", Cell: wire.Null()},
		{SQL: "'n/a'", Cell: wire.Text("n/a")}, {SQL: "''", Cell: wire.Text("")}, {SQL: "'1x'", Cell: wire.Text("1x")},
	}, wholes...)},
	{Name: "real", SQL: "DOUBLE", Type: wire.TypeNumber, Literals: []sqlsourcetest.Literal{
		{SQL: "0", Cell: wire.Float(0)}, {SQL: "-0.0", Cell: wire.Float(0)}, {SQL: "0.1", Cell: wire.Float(0.1)}, {SQL: "0.30000000000000004", Cell: wire.Float(0.30000000000000004)},
		{SQL: "0.3", Cell: wire.Float(0.3)}, {SQL: "1.5", Cell: wire.Float(1.5)}, {SQL: "-1.5", Cell: wire.Float(-1.5)}, {SQL: "1e-7", Cell: wire.Float(1e-7)}, {SQL: "1e21", Cell: wire.Float(1e21)},
		{SQL: "5e-324", Cell: wire.Float(5e-324)}, {SQL: "1.7976931348623157e308", Cell: wire.Float(1.7976931348623157e308)}, {SQL: "1e23", Cell: wire.Float(1e23)},
		{SQL: "9007199254740993", Cell: wire.Float(1 << 53)}, {SQL: "9e999", Cell: wire.Null()}, {SQL: "'n/a'", Cell: wire.Text("n/a")},
	}},
	{Name: "money", SQL: "DECIMAL(10,2)", Type: wire.TypeDecimal, Literals: []sqlsourcetest.Literal{
		{SQL: "'10.25'", Cell: wire.Decimal("10.25")}, {SQL: "10", Cell: wire.Decimal("10")}, {SQL: "'10.0'", Cell: wire.Decimal("10")}, {SQL: "-3.5", Cell: wire.Decimal("-3.5")},
		{SQL: "1e-7", Cell: wire.Decimal("0.0000001")}, {SQL: "0", Cell: wire.Decimal("0")}, {SQL: "9007199254740993", Cell: wire.Decimal("9007199254740993")},
	}},
	{Name: "digits", SQL: "DECIMAL_TEXT", Type: wire.TypeDecimal, Literals: decimals("0", "-0.00", "1.5", "1.50", "+1.5", "01.5", "-1.5", "10.250", "0.1", "0.000001", "123456789012.345", "99999999999999.9", "100", "-100")},
	{Name: "long digits", SQL: "NUMERIC_TEXT", Type: wire.TypeDecimal, Literals: append(decimals("1.5", "1.50", "9007199254740993", "9007199254740992", "0.1000000000000000055511151231257827", "0.1", "-12345678901234567890.123456789"),
		sqlsourcetest.Literal{SQL: "'n/a'", Cell: wire.Text("n/a")})},
	{Name: "boolean", SQL: "BOOLEAN", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{{SQL: "0", Cell: wire.Bool(false)}, {SQL: "1", Cell: wire.Bool(true)}, {SQL: "2", Cell: wire.Bool(true)}}},
	{Name: "loose boolean", SQL: "BOOL", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{{SQL: "0", Cell: wire.Bool(false)}, {SQL: "1", Cell: wire.Bool(true)}, {SQL: "'true'", Cell: wire.Text("true")}}},
	{Name: "day", SQL: "DATE", Type: wire.TypeDate, Literals: days("2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "0001-01-01", "9999-12-31", "0000-01-01", "1969-12-31")},
	{Name: "loose day", SQL: "DATE TEXT", Type: wire.TypeDate, Literals: append(days("2024-02-29", "2024-03-01", "2023-12-31"),
		sqlsourcetest.Literal{SQL: "'2024-02-30'", Cell: wire.Text("2024-02-30")}, sqlsourcetest.Literal{SQL: "'soon'", Cell: wire.Text("soon")},
		sqlsourcetest.Literal{SQL: "'2024-03-01T10:00:00Z'", Cell: wire.Text("2024-03-01T10:00:00Z")})},
	{Name: "moment", SQL: "DATETIME", Type: wire.TypeDatetime, Literals: []sqlsourcetest.Literal{
		{SQL: "'2024-02-29 00:00:00'", Cell: at("2024-02-29T00:00:00Z")}, {SQL: "'2024-02-29T00:00:00Z'", Cell: at("2024-02-29T00:00:00Z")}, {SQL: "'2024-02-29'", Cell: at("2024-02-29T00:00:00Z")},
		{SQL: "'2024-02-28T23:59:59.999Z'", Cell: at("2024-02-28T23:59:59.999Z")}, {SQL: "'2024-02-28 23:59:59.999999999'", Cell: at("2024-02-28T23:59:59.999999999Z")},
		{SQL: "'2024-03-31 12:00:00.5'", Cell: at("2024-03-31T12:00:00.5Z")}, {SQL: "'2024-04-01T00:00:00.000Z'", Cell: at("2024-04-01T00:00:00Z")},
		{SQL: "'0000-01-01T00:00:00Z'", Cell: at("0000-01-01T00:00:00Z")}, {SQL: "'9999-12-31 23:59:59'", Cell: at("9999-12-31T23:59:59Z")},
	}},
	{Name: "loose moment", SQL: "TIMESTAMP", Type: wire.TypeDatetime, Literals: []sqlsourcetest.Literal{
		{SQL: "'2024-02-29 00:00:00'", Cell: at("2024-02-29T00:00:00Z")}, {SQL: "'2024-02-29T01:00:00+01:00'", Cell: at("2024-02-29T00:00:00Z")},
		{SQL: "1709164800", Cell: at("2024-02-29T00:00:00Z")}, {SQL: "2460369.5", Cell: at("2024-02-29T00:00:00Z")},
		{SQL: "'2024-02-29 00:00:00 +0000 UTC'", Cell: at("2024-02-29T00:00:00Z")}, {SQL: "'2024-02-30 00:00:00'", Cell: wire.Text("2024-02-30 00:00:00")}, {SQL: "'soon'", Cell: wire.Text("soon")},
	}},
	{Name: "json", SQL: "JSON", Type: wire.TypeJSON, Literals: []sqlsourcetest.Literal{
		{SQL: `'{"b": 1, "a": [1, 2]}'`, Cell: wire.Text(`{"b":1,"a":[1,2]}`)}, {SQL: `'"x"'`, Cell: wire.Text(`"x"`)}, {SQL: `'null'`, Cell: wire.Text("null")}, {SQL: `'[]'`, Cell: wire.Text("[]")},
	}},
	{Name: "array", SQL: "ARRAY_TEXT", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		{SQL: `'["a", "b"]'`, Cell: wire.Text(`["a","b"]`)}, {SQL: `'[1, 2.50, "1.5"]'`, Cell: wire.Text(`[1,2.50,"1.5"]`)}, {SQL: `'[]'`, Cell: wire.Text("[]")}, {SQL: `'[true, null, ["a"]]'`, Cell: wire.Text(`[true,null,["a"]]`)},
	}},
	{Name: "bytes", SQL: "BLOB", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		{SQL: "x'00ff'", Cell: wire.Bytes([]byte{0, 255})}, {SQL: "x''", Cell: wire.Text("")}, {SQL: "x'616263'", Cell: wire.Text("YWJj")}, {SQL: "x'fbff'", Cell: wire.Text("+/8=")},
	}},
	{Name: "anything", SQL: "", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		{SQL: "'a'", Cell: wire.Text("a")}, {SQL: "1", Cell: wire.Text("1")}, {SQL: "1.5", Cell: wire.Text("1.5")}, {SQL: "x'00'", Cell: wire.Text("AA==")},
	}},
}

func decimals(list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		literals = append(literals, sqlsourcetest.Literal{SQL: "'" + s + "'", Cell: wire.Decimal(s)})
	}
	return literals
}

func days(list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		literals = append(literals, sqlsourcetest.Literal{SQL: "'" + s + "'", Cell: day(s)})
	}
	return literals
}
