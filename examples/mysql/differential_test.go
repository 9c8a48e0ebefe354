package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestDifferential asks MariaDB and memory the same. SQLSOURCE_QUERIES makes
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
	return sqlsourcetest.Engine{Flavor: sqlsource.MySQL(), DB: db, Key: "BIGINT", Types: types}
}

func quoted(s string) string {
	return "'" + strings.NewReplacer("'", "''", "\\", "\\\\", "\x00", "\\0").Replace(s) + "'"
}

var texts = []string{"", " ", "a", "A", "a ", "ab", "abc", "é", "e\u0301", "ß", "z", "Z", "%", "a%b", "a_b", "\\", "'", `"`, "1", "1.0", "01", "true", "null",
	"2024-02-29", "😀", "\uffff", "a\nb", "[1]", `["a","b"]`, `["a",1]`, "a\x00b", "\x00"}

func literal(sql string, cell wire.Value) sqlsourcetest.Literal {
	return sqlsourcetest.Literal{SQL: sql, Cell: cell}
}

func integers(list ...int64) (literals []sqlsourcetest.Literal) {
	for _, n := range list {
		literals = append(literals, literal(strconv.FormatInt(n, 10), wire.Int(n)))
	}
	return literals
}

func decimals(list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		literals = append(literals, literal(s, wire.Decimal(s)))
	}
	return literals
}

func floats(list ...float64) (literals []sqlsourcetest.Literal) {
	for _, f := range list {
		literals = append(literals, literal(strconv.FormatFloat(f, 'e', -1, 64), wire.Float(f)))
	}
	return literals
}

func days(list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			panic(err)
		}
		literals = append(literals, literal("'"+s+"'", wire.Date(d)))
	}
	return append(literals, literal("'0000-00-00'", wire.Null()), literal("'2024-00-01'", wire.Null()), literal("'2024-05-00'", wire.Null()))
}

func moments(width int, list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			panic(err)
		}
		literals = append(literals, literal(at.Format("'2006-01-02 15:04:05.999999'"), wire.DatetimeWidth(at, width)))
	}
	return append(literals, literal("'0000-00-00 00:00:00'", wire.Null()), literal("'2024-05-00 01:00:00'", wire.Null()))
}

// instants go through the session's time zone, and back.
func instants(width int, list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			panic(err)
		}
		literals = append(literals, literal("FROM_UNIXTIME("+strconv.FormatInt(at.Unix(), 10)+at.Format(".000000")+")", wire.DatetimeWidth(at, width)))
	}
	return literals
}

var someMoments = []string{"2024-02-29T00:00:00Z", "2024-02-28T23:59:59Z", "2023-12-31T23:30:00Z", "2024-01-01T01:00:00Z", "2024-03-31T00:59:59Z", "2024-07-01T02:00:00Z"}

var types = []sqlsourcetest.Type{
	{Name: "text", SQL: "TEXT", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, texts...)},
	{Name: "bin", SQL: "VARCHAR(50) COLLATE utf8mb4_bin", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, texts...)},
	{Name: "unicode", SQL: "LONGTEXT COLLATE utf8mb4_unicode_ci", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, append([]string{strings.Repeat("x", 5000) + "a", strings.Repeat("x", 5000) + "b"}, texts...)...)},
	{Name: "latin", SQL: "VARCHAR(20) CHARACTER SET latin1", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "a", "A", "é", "ß", "z", "", "a ")},
	{Name: "char", SQL: "CHAR(4)", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{literal("'a'", wire.Text("a")), literal("'ab'", wire.Text("ab")), literal("'  a'", wire.Text("  a")), literal("''", wire.Text(""))}},
	{Name: "small", SQL: "SMALLINT", Type: wire.TypeNumber, Literals: integers(0, 1, -1, 2, 10, 9, 100, 32767, -32768)},
	{Name: "big", SQL: "BIGINT", Type: wire.TypeNumber, Literals: integers(0, 1, -1, 2, 10, 9, 100, 1<<53-1, 1<<53, 1<<53+1, -(1<<53 + 1), 1<<63-1, -1<<63)},
	{Name: "unsigned", SQL: "BIGINT UNSIGNED", Type: wire.TypeNumber, Literals: append(integers(0, 1, 2, 10, 1<<53, 1<<53+1, 1<<63-1), literal("18446744073709551615", wire.Uint(1<<64-1)), literal("9223372036854775808", wire.Uint(1<<63)))},
	{Name: "year", SQL: "YEAR", Type: wire.TypeNumber, Literals: integers(1901, 2024, 2155)},
	{Name: "bits", SQL: "BIT(8)", Type: wire.TypeNumber, Literals: integers(0, 1, 255)},
	{Name: "money", SQL: "DECIMAL(12,2)", Type: wire.TypeDecimal, Literals: decimals("0.00", "1.50", "-1.50", "10.25", "9999999999.99", "-9999999999.99", "0.01", "100.00")},
	{Name: "wide", SQL: "DECIMAL(65,30)", Type: wire.TypeDecimal, Literals: decimals("0.000000000000000000000000000000", "1.500000000000000000000000000000", "-1.500000000000000000000000000000", "99999999999999999999999999999999999.999999999999999999999999999999", "0.000000000000000000000000000001", "9007199254740993.000000000000000000000000000000", "0.100000000000000005551115123126")},
	{Name: "double", SQL: "DOUBLE", Type: wire.TypeNumber, Literals: floats(0, 0.1, 0.3, 0.30000000000000004, 1.5, -1.5, 1e-7, 1e21, 1.7976931348623157e308, 1e23, 1<<53, 1<<63)},
	{Name: "float", SQL: "FLOAT", Type: wire.TypeNumber, Literals: floats(0, 0.5, -1.5, 1e10, float64(float32(0.1)))},
	{Name: "boolean", SQL: "BOOLEAN", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{literal("TRUE", wire.Bool(true)), literal("FALSE", wire.Bool(false)), literal("2", wire.Bool(true))}},
	{Name: "bit", SQL: "BIT(1)", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{literal("b'1'", wire.Bool(true)), literal("b'0'", wire.Bool(false))}},
	{Name: "day", SQL: "DATE", Type: wire.TypeDate, Literals: days("2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "0001-01-01", "9999-12-31", "1969-12-31")},
	{Name: "micro", SQL: "DATETIME(6)", Type: wire.TypeDatetime, Literals: moments(6, append([]string{"2024-02-28T23:59:59.999999Z", "2024-06-30T23:59:59.5Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"}, someMoments...)...)},
	{Name: "tenth", SQL: "DATETIME(1)", Type: wire.TypeDatetime, Literals: moments(3, append([]string{"2024-02-28T23:59:59.9Z"}, someMoments...)...)},
	{Name: "second", SQL: "DATETIME", Type: wire.TypeDatetime, Literals: moments(0, someMoments...)},
	{Name: "stamp", SQL: "TIMESTAMP(3) NULL", Type: wire.TypeDatetime, Literals: instants(3, append([]string{"2024-02-28T23:59:59.999Z"}, someMoments...)...)},
	{Name: "mood", SQL: "ENUM('sad','ok','happy','Zany')", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "sad", "ok", "happy", "Zany")},
	{Name: "flags", SQL: "SET('a','b','c')", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "", "a", "a,b", "c")},
	{Name: "bytes", SQL: "BLOB", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{literal("x'00ff'", wire.Text("AP8=")), literal("''", wire.Text("")), literal("x'616263'", wire.Text("YWJj")), literal("x'fbff'", wire.Text("+/8=")), literal("REPEAT('a', 100)", wire.Bytes([]byte(strings.Repeat("a", 100))))}},
	{Name: "json", SQL: "JSON", Type: wire.TypeJSON, Literals: []sqlsourcetest.Literal{literal(`'{"a": [1, 2]}'`, wire.Text(`{"a":[1,2]}`)), literal(`'"x"'`, wire.Text(`"x"`)), literal(`'null'`, wire.Text("null")), literal(`'["a", "b", 1]'`, wire.Text(`["a","b",1]`))}},
	{Name: "array", SQL: "LONGTEXT CHECK (json_valid(%s))", Type: wire.TypeArray, Want: wire.TypeArray, Literals: []sqlsourcetest.Literal{literal(`'["a", "b", 1]'`, wire.Text(`["a","b",1]`)), literal(`'[]'`, wire.Text(`[]`)), literal(`'[true, ["a"]]'`, wire.Text(`[true,["a"]]`))}},
	{Name: "time", SQL: "TIME", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "10:00:00", "-01:00:00")},
	{Name: "uuid", SQL: "UUID", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-4fff-bfff-ffffffffffff", "00000000-0000-4000-8000-000000000000")},
	{Name: "code", SQL: "VARCHAR(10)", Type: wire.TypeReference, Want: wire.TypeReference, Literals: sqlsourcetest.Texts(quoted, "a", "b", "1", "01")},
	{Name: "amount", SQL: "VARCHAR(20)", Type: wire.TypeDecimal, Want: wire.TypeDecimal, Literals: sqlsourcetest.Texts(quoted, "1.5", "1.50", "n/a", "01.5", "-0")},
	{Name: "hos`tile; DROP", SQL: "TEXT", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "a", "?", "`;--")},
}
