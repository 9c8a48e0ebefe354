package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestDifferential asks PostgreSQL and memory the same. SQLSOURCE_QUERIES makes
// it longer, SQLSOURCE_SEED repeats it.
func TestDifferential(t *testing.T) {
	queries, _ := strconv.Atoi(os.Getenv("SQLSOURCE_QUERIES"))
	seed, _ := strconv.ParseUint(os.Getenv("SQLSOURCE_SEED"), 10, 64)
	sqlsourcetest.Run(t, engine(t), sqlsourcetest.Config{Queries: queries, Seed: seed})
}

// engine is an empty database, and columns of every type that is read in a way
// of its own.
func engine(t testing.TB) sqlsourcetest.Engine {
	db, _ := database(t)
	for _, statement := range []string{
		`CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
		`CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'Zany')`,
		`CREATE DOMAIN cents AS numeric(8,2)`,
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
	return sqlsourcetest.Engine{Flavor: sqlsource.PostgreSQL(), DB: db, Key: "bigint", Types: types}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

var texts = []string{"", " ", "a", "A", "a ", "ab", "abc", "é", "e\u0301", "ß", "z", "Z", "%", "a%b", "a_b", "\\", "'", `"`, "1", "1.0", "01", "true", "null",
	"2024-02-29", "😀", "\uffff", "a\nb", "[1]", `["a","b"]`, `["a",1]`}

func literal(sql string, cell wire.Value) sqlsourcetest.Literal {
	return sqlsourcetest.Literal{SQL: sql, Cell: cell}
}

func integers(list ...int64) (literals []sqlsourcetest.Literal) {
	for _, n := range list {
		literals = append(literals, literal("'"+strconv.FormatInt(n, 10)+"'", wire.Int(n)))
	}
	return literals
}

func decimals(list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		literals = append(literals, literal("'"+s+"'", wire.Decimal(s)))
	}
	return literals
}

func floats(list ...float64) (literals []sqlsourcetest.Literal) {
	for _, f := range list {
		literals = append(literals, literal("'"+strconv.FormatFloat(f, 'g', -1, 64)+"'", wire.Float(f)))
	}
	return append(literals, literal("'NaN'", wire.Null()), literal("'Infinity'", wire.Null()), literal("'-Infinity'", wire.Null()))
}

func days(list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			panic(err)
		}
		literals = append(literals, literal("'"+s+"'", wire.Date(d)))
	}
	return append(literals, literal("'infinity'", wire.Null()), literal("'-infinity'", wire.Null()), literal("'0001-12-31 BC'", wire.Null()), literal("'10000-01-01'", wire.Null()))
}

func moments(width int, list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			panic(err)
		}
		literals = append(literals, literal("'"+s+"'", wire.DatetimeWidth(at, width)))
	}
	return append(literals, literal("'infinity'", wire.Null()), literal("'-infinity'", wire.Null()), literal("'0001-12-31 23:59:59+00 BC'", wire.Null()), literal("'10000-01-01 00:00:00Z'", wire.Null()))
}

var someMoments = []string{"2024-02-29T00:00:00Z", "2024-02-28T23:59:59Z", "2023-12-31T23:30:00Z", "2024-01-01T01:00:00Z", "2024-03-31T00:59:59Z", "2024-07-01T02:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z"}

var types = []sqlsourcetest.Type{
	{Name: "text", SQL: "text", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, texts...)},
	{Name: "english", SQL: `varchar(50) COLLATE "en-x-icu"`, Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, texts...)},
	{Name: "blind", SQL: `text COLLATE blind`, Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, texts...)},
	{Name: "char", SQL: "char(4)", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{literal("'a'", wire.Text("a")), literal("'ab'", wire.Text("ab")), literal("'  a'", wire.Text("  a")), literal("''", wire.Text(""))}},
	{Name: "small", SQL: "smallint", Type: wire.TypeNumber, Literals: integers(0, 1, -1, 2, 10, 9, 100, 32767, -32768)},
	{Name: "big", SQL: "bigint", Type: wire.TypeNumber, Literals: integers(0, 1, -1, 2, 10, 9, 100, 1<<53-1, 1<<53, 1<<53+1, -(1<<53 + 1), 1<<63-1, -1<<63)},
	{Name: "money", SQL: "numeric(12,2)", Type: wire.TypeDecimal, Literals: append(decimals("0.00", "1.50", "-1.50", "10.25", "9999999999.99", "-9999999999.99", "0.01", "100.00"), literal("'NaN'", wire.Null()))},
	{Name: "numeric", SQL: "numeric", Type: wire.TypeDecimal, Literals: append(decimals("0", "0.00", "1.5", "1.50", "-1.5", "10.250", "9007199254740993", "9007199254740992", "0.1", "0.1000000000000000055511151231257827",
		"1"+strings.Repeat("0", 70), "0."+strings.Repeat("0", 60)+"1", "123456789012345678901234567890.123456789"), literal("'NaN'", wire.Null()), literal("'Infinity'", wire.Null()), literal("'-Infinity'", wire.Null()))},
	{Name: "cents", SQL: "cents", Type: wire.TypeDecimal, Literals: decimals("0.00", "1.50", "-1.50", "10.25")},
	{Name: "double", SQL: "double precision", Type: wire.TypeNumber, Literals: floats(0, 0.1, 0.3, 0.30000000000000004, 1.5, -1.5, 1e-7, 1e21, 5e-324, 1.7976931348623157e308, 1e23, 1<<53, 1<<63)},
	{Name: "real", SQL: "real", Type: wire.TypeNumber, Literals: floats(0, 0.5, -1.5, 1e10, float64(float32(0.1)))},
	{Name: "boolean", SQL: "boolean", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{literal("true", wire.Bool(true)), literal("false", wire.Bool(false))}},
	{Name: "day", SQL: "date", Type: wire.TypeDate, Literals: days("2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "0001-01-01", "9999-12-31", "1969-12-31")},
	{Name: "zoned", SQL: "timestamptz", Type: wire.TypeDatetime, Literals: moments(6, append([]string{"2024-02-28T23:59:59.999999Z", "2024-06-30T23:59:59.5Z"}, someMoments...)...)},
	{Name: "zoneless", SQL: "timestamp", Type: wire.TypeDatetime, Literals: moments(6, append([]string{"2024-02-28T23:59:59.999999Z", "2024-06-30T23:59:59.5Z"}, someMoments...)...)},
	{Name: "milli", SQL: "timestamptz(3)", Type: wire.TypeDatetime, Literals: moments(3, append([]string{"2024-02-28T23:59:59.999Z"}, someMoments...)...)},
	{Name: "tenth", SQL: "timestamp(1)", Type: wire.TypeDatetime, Literals: moments(3, append([]string{"2024-02-28T23:59:59.9Z"}, someMoments...)...)},
	{Name: "second", SQL: "timestamptz(0)", Type: wire.TypeDatetime, Literals: moments(0, someMoments...)},
	{Name: "uuid", SQL: "uuid", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", wire.Text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")), literal("'ffffffff-ffff-4fff-bfff-ffffffffffff'", wire.Text("ffffffff-ffff-4fff-bfff-ffffffffffff")),
		literal("'00000000-0000-4000-8000-000000000000'", wire.Text("00000000-0000-4000-8000-000000000000"))}},
	{Name: "mood", SQL: "mood", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "sad", "ok", "happy", "Zany")},
	{Name: "bytes", SQL: "bytea", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal(`'\x00ff'::bytea`, wire.Text("AP8=")), literal(`''::bytea`, wire.Text("")), literal(`'\x616263'::bytea`, wire.Text("YWJj")), literal(`'\xfbff'::bytea`, wire.Text("+/8=")),
		literal(`decode(repeat('61', 100), 'hex')`, wire.Bytes([]byte(strings.Repeat("a", 100))))}},
	{Name: "json", SQL: "json", Type: wire.TypeJSON, Literals: documents("json")},
	{Name: "jsonb", SQL: "jsonb", Type: wire.TypeJSON, Literals: documents("jsonb")},
	{Name: "texts", SQL: "text[]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		literal(`'{a,b}'`, wire.Text(`["a","b"]`)), literal(`'{1,"1.50",NULL}'`, wire.Text(`["1","1.50",null]`)), literal(`'{}'`, wire.Text(`[]`)), literal(`'{{a,b},{c,d}}'`, wire.Text(`[["a","b"],["c","d"]]`)), literal(`'{true,"null","[]"}'`, wire.Text(`["true","null","[]"]`))}},
	{Name: "numbers", SQL: "integer[]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{literal(`'{1,2}'`, wire.Text(`[1,2]`)), literal(`'{}'`, wire.Text(`[]`))}},
	{Name: "listed", SQL: "jsonb", Type: wire.TypeArray, Want: wire.TypeArray, Literals: []sqlsourcetest.Literal{literal(`'["a",1]'`, wire.Text(`["a",1]`)), literal(`'[]'`, wire.Text(`[]`)), literal(`'["b",["a"]]'`, wire.Text(`["b",["a"]]`))}},
	{Name: "interval", SQL: "interval", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{literal("'1 day 2 hours'", wire.Text("1 day 02:00:00")), literal("'1 month'", wire.Text("1 mon"))}},
	{Name: "address", SQL: "inet", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{literal("'10.0.0.1'", wire.Text("10.0.0.1/32")), literal("'::1/64'", wire.Text("::1/64"))}},
	{Name: "amount", SQL: "text", Type: wire.TypeDecimal, Want: wire.TypeDecimal, Literals: sqlsourcetest.Texts(quoted, "1.5", "1.50", "n/a", "01.5", "-0", "9007199254740993")},
	{Name: "whole", SQL: "integer", Type: wire.TypeDecimal, Want: wire.TypeDecimal, Literals: decimalsOf(0, 1, -1, 100)},
	{Name: "code", SQL: "text", Type: wire.TypeReference, Want: wire.TypeReference, Literals: sqlsourcetest.Texts(quoted, "a", "b", "1", "01")},
	{Name: `hos"tile; DROP`, SQL: "text", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "a", "$1", `";--`)},
}

func decimalsOf(list ...int64) (literals []sqlsourcetest.Literal) {
	for _, n := range list {
		s := strconv.FormatInt(n, 10)
		literals = append(literals, literal("'"+s+"'", wire.Decimal(s)))
	}
	return literals
}

func documents(kind string) []sqlsourcetest.Literal {
	list := []sqlsourcetest.Literal{
		literal(`'{"a": [1, 2]}'`, wire.Text(`{"a":[1,2]}`)), literal(`'"x"'`, wire.Text(`"x"`)), literal(`'null'`, wire.Text("null")), literal(`'[]'`, wire.Text("[]")),
		literal(`'["a", "b", true]'`, wire.Text(`["a","b",true]`)), literal(`'["1", 2.50, null]'`, wire.Text(`["1",2.50,null]`)), literal(`'[["a"], {"b": "a"}]'`, wire.Text(`[["a"],{"b":"a"}]`)),
	}
	if kind == "json" {
		list = append(list, literal(`'["\u0061", "\u0000"]'`, wire.Text(`["\u0061","\u0000"]`)))
	}
	return list
}
