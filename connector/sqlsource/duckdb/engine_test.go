package duckdb_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// open opens a database in memory, and runs a script.
func open(t testing.TB, script string) *sql.DB {
	t.Helper()
	db := testkit.Must(sql.Open("duckdb", ""))(t)
	t.Cleanup(func() { _ = db.Close() })
	testkit.Must(db.ExecContext(context.Background(), "SELECT 1;"+script))(t)
	return db
}

// quoted returns a text in SQL. It spells a NUL out, because the driver ends a
// statement there.
func quoted(s string) string {
	return "('" + strings.ReplaceAll(strings.ReplaceAll(s, "'", "''"), "\x00", "' || chr(0) || '") + "')"
}

// each returns a literal for each text, quoted in SQL, with the cell that is made of it.
func each(cell func(string) wire.Value, texts ...string) []sqlsourcetest.Literal {
	var list []sqlsourcetest.Literal
	for _, s := range texts {
		list = append(list, sqlsourcetest.Literal{SQL: "'" + s + "'", Cell: cell(s)})
	}
	return list
}

func null(string) wire.Value { return wire.Null() }

// number returns the cell of an integer or a float.
func number(s string) wire.Value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return wire.Int(n)
	}
	if terms.IsDecimal(s) && !strings.Contains(s, ".") {
		return wire.Decimal(s)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return wire.Float(f)
}

func float(s string) wire.Value {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return wire.Float(f)
}

func single(s string) wire.Value {
	f, err := strconv.ParseFloat(s, 32)
	if err != nil {
		panic(err)
	}
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	return wire.Float(f)
}

func day(s string) wire.Value {
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return wire.Date(at)
}

// moment returns a cell with so many digits of fraction.
func moment(digits int) func(string) wire.Value {
	return func(s string) wire.Value {
		at, err := time.Parse("2006-01-02 15:04:05.999999999", s)
		if err != nil {
			panic(err)
		}
		return wire.DatetimeWidth(at, digits)
	}
}

func literal(sql string, cell wire.Value) sqlsourcetest.Literal {
	return sqlsourcetest.Literal{SQL: sql, Cell: cell}
}

var (
	texts = sqlsourcetest.Texts(quoted, "", " ", "a", "A", "a ", "ab", "abc", "é", "e\u0301", "ß", "z", "Z", "%", "a%b", "a_b", `\`,
		"'", `"`,
		"1", "1.0", "01", "true", "null", "2024-02-29", "😀", "\uffff", "a\nb", "[1]", `["a","b"]`, `["a",1]`, "a\x00b", "\x00", "a\x00c",
		"twelve bytes", "thirteen byte", "\\x41")
	moments = []string{
		"2024-02-29 00:00:00", "2024-02-28 23:59:59", "2023-12-31 23:30:00", "2024-01-01 01:00:00", "2024-03-31 00:59:59",
		"2024-07-01 02:00:00", "1969-12-31 23:59:59",
	}
	years = []string{"0001-01-01 00:00:00", "9999-12-31 23:59:59"}
	lost  = []string{"0001-01-01 00:00:00", "infinity", "-infinity", "0044-03-15 (BC)", "12024-01-01"}
)

var types = []sqlsourcetest.Type{
	{Name: "text", SQL: "VARCHAR", Type: wire.TypeString, Literals: texts},
	{Name: "nocase", SQL: "VARCHAR COLLATE NOCASE", Type: wire.TypeString, Literals: texts},
	{Name: "mood", SQL: "ENUM ('low', 'High', 'a', '')", Type: wire.TypeString, Literals: each(wire.Text, "low", "High", "a", "")},
	{Name: "uuid", SQL: "UUID", Type: wire.TypeString, Literals: each(wire.Text,
		"00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "ffffffff-ffff-4fff-bfff-ffffffffffff",
		"7fffffff-ffff-4fff-bfff-ffffffffffff")},
	{Name: "tiny", SQL: "TINYINT", Type: wire.TypeNumber, Literals: each(number, "0", "1", "-1", "10", "9", "-128", "127")},
	{Name: "whole", SQL: "INTEGER", Type: wire.TypeNumber, Literals: each(number, "0", "1", "-1", "2", "10", "9", "-2147483648")},
	{Name: "big", SQL: "BIGINT", Type: wire.TypeNumber, Literals: each(number, "0", "1", "-1", "9007199254740993", "9007199254740992",
		"9223372036854775807", "-9223372036854775808")},
	{Name: "small positive", SQL: "UTINYINT", Type: wire.TypeNumber, Literals: each(number, "0", "1", "255")},
	{Name: "positive", SQL: "UBIGINT", Type: wire.TypeNumber, Literals: each(number, "0", "1", "10", "9223372036854775808",
		"18446744073709551615")},
	{Name: "huge", SQL: "HUGEINT", Type: wire.TypeNumber, Literals: each(number, "0", "1", "-1", "10", "18446744073709551616",
		"170141183460469231731687303715884105727", "-170141183460469231731687303715884105728", "99999999999999999999999999999999999999",
		"100000000000000000000000000000000000000")},
	{Name: "huge positive", SQL: "UHUGEINT", Type: wire.TypeNumber, Literals: each(number, "0", "1",
		"340282366920938463463374607431768211455")},
	{Name: "any size", SQL: "BIGNUM", Type: wire.TypeNumber, Literals: each(number, "0", "1", "-1",
		"9999999999999999999999999999999999999999999999", "-9999999999999999999999999999999999999999999999")},
	{Name: "money", SQL: "DECIMAL(12,2)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0.00", "1.50", "-1.50", "10.25",
		"9999999999.99", "-9999999999.99", "0.05", "-0.05", "100.00")},
	{Name: "cents", SQL: "DECIMAL(4,4)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0.0000", "0.0001", "-0.9999", "0.5000")},
	{Name: "thousands", SQL: "DECIMAL(9,0)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0", "1", "-1", "999999999", "10")},
	{Name: "exact", SQL: "DECIMAL(38,10)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0.0000000000", "1.5000000000",
		"9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999", "0.0000000001", "10.0000000000")},
	{Name: "units", SQL: "DECIMAL(38,0)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0", "1",
		"99999999999999999999999999999999999999", "-99999999999999999999999999999999999999")},
	{Name: "real", SQL: "DOUBLE", Type: wire.TypeNumber, Literals: append(each(float, "0", "0.1", "0.30000000000000004", "0.3", "1.5",
		"-1.5", "1e-7", "1e21", "5e-324", "1.7976931348623157e308", "1e23", "9007199254740992", "10"),
		literal("'-0.0'::DOUBLE", wire.Float(0)), literal("'NaN'", wire.Null()), literal("'inf'", wire.Null()), literal("'-inf'",
			wire.Null()))},
	{Name: "single", SQL: "FLOAT", Type: wire.TypeNumber, Literals: append(each(single, "0", "0.1", "1.5", "-1.5", "3e38", "16777216",
		"999.99", "16777217", "9007199254740992", "3.4028235e38", "1e-40", "0.3", "0.30000004"),
		literal("'NaN'", wire.Null()), literal("'inf'", wire.Null()))},
	{Name: "boolean", SQL: "BOOLEAN", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{
		literal("true", wire.Bool(true)), literal("false", wire.Bool(false)),
	}},
	{Name: "day", SQL: "DATE", Type: wire.TypeDate, Literals: append(each(day,
		"2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "0001-01-01", "9999-12-31", "1969-12-31"), each(null, lost[1:]...)...)},
	{Name: "moment", SQL: "TIMESTAMP", Type: wire.TypeDatetime, Literals: slices.Concat(
		each(moment(6), moments...), each(moment(6), years...), each(moment(6), "2024-02-29 00:00:00.000001", "2024-02-29 00:00:00.5"),
		each(null, lost[1:]...))},
	{Name: "zoned", SQL: "TIMESTAMPTZ", Type: wire.TypeDatetime, Literals: append(each(null, lost[1:]...),
		literal("'2024-02-29 01:00:00+01'", moment(6)("2024-02-29 00:00:00")), literal("'2023-12-31 23:30:00+00'",
			moment(6)("2023-12-31 23:30:00")),
		literal("'2024-02-29 00:00:00.25+00'", moment(6)("2024-02-29 00:00:00.25")), literal("'9999-12-31 23:59:59+00'",
			moment(6)("9999-12-31 23:59:59")))},
	{Name: "second", SQL: "TIMESTAMP_S", Type: wire.TypeDatetime, Literals: slices.Concat(each(moment(0), moments...), each(moment(0),
		years...))},
	{Name: "milli", SQL: "TIMESTAMP_MS", Type: wire.TypeDatetime, Literals: append(each(moment(3), moments...),
		literal("'2024-02-29 00:00:00.125'", moment(3)("2024-02-29 00:00:00.125")), literal("'infinity'", wire.Null()))},
	{Name: "nano", SQL: "TIMESTAMP_NS", Type: wire.TypeDatetime, Literals: slices.Concat(each(moment(9), moments...),
		each(moment(9), "2024-02-29 00:00:00.000000001", "1969-12-31 23:59:59.999999999", "1677-09-22 00:00:00", "2262-04-11 00:00:00"),
		each(null, "infinity", "-infinity"))},
	{Name: "clock", SQL: "TIME", Type: wire.TypeString, Literals: each(wire.Text, "12:00:00", "00:00:00", "23:59:59.5")},
	{Name: "span", SQL: "INTERVAL", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal("INTERVAL 1 MONTH", wire.Text("1 month")), literal("INTERVAL 30 DAY", wire.Text("30 days")),
		literal("INTERVAL 36 HOUR", wire.Text("36:00:00")), literal("INTERVAL 0 DAY", wire.Text("00:00:00")),
	}},
	{Name: "bits", SQL: "BIT", Type: wire.TypeString, Literals: each(wire.Text, "101", "0", "00")},
	{Name: "bytes", SQL: "BLOB", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal(`'\x00\xff'`, wire.Bytes([]byte{0, 255})), literal("''", wire.Text("")), literal("'abc'", wire.Text("YWJj")),
		literal(`'\xfb\xff'`, wire.Text("+/8=")), literal("'twelve bytes or more'", wire.Bytes([]byte("twelve bytes or more"))),
	}},
	{Name: "either", SQL: "UNION(n INTEGER, s VARCHAR)", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal("union_value(n := 1)", wire.Text("1")), literal("union_value(s := 'a')", wire.Text("a")),
	}},
	{Name: "json", SQL: "JSON", Type: wire.TypeJSON, Literals: []sqlsourcetest.Literal{
		literal(`'{"b": 1, "a": [1, 2]}'`, wire.Text(`{"b":1,"a":[1,2]}`)), literal(`'"x"'`, wire.Text(`"x"`)),
		literal("'null'", wire.Text("null")), literal("'[]'", wire.Text("[]")),
		literal(`'{"a":NaN,"NaN":"x\\\\\" :NaN","b":[-Infinity,inf]}'`,
			wire.Text(`{"a":null,"NaN":"x\\\\\" :NaN","b":[null,null]}`)),
	}},
	{Name: "tags", SQL: "VARCHAR[]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		literal("['a', 'b']", wire.Text(`["a","b"]`)), literal("['a, b', NULL]", wire.Text(`["a, b",null]`)), literal("[]", wire.Text("[]")),
		literal("['1', 'true', chr(0)]", wire.Text(`["1","true","\u0000"]`)),
	}},
	{Name: "amounts", SQL: "DECIMAL(5,2)[]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		literal("[1.5, NULL]", wire.Text(`["1.50",null]`)), literal("[]", wire.Text("[]")),
	}},
	{Name: "triple", SQL: "DOUBLE[3]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		literal("[1.5, 'NaN'::DOUBLE, 2]", wire.Text(`[1.5,null,2.0]`)), literal("[1, 2, 3]", wire.Text("[1.0,2.0,3.0]")),
	}},
	{Name: "pair", SQL: "FLOAT[2]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		literal("[999.99, 'NaN'::FLOAT]", wire.Text("[999.99,null]")), literal("[0.1, 16777217]", wire.Text("[0.1,16777216.0]")),
	}},
	{Name: "record", SQL: `STRUCT(a INTEGER, "b ""c" DECIMAL(5,2), d STRUCT(when_ TIMESTAMP, x BLOB)[], e ENUM('x,', 'y)'))`,
		Type: wire.TypeJSON,
		Literals: []sqlsourcetest.Literal{
			literal(`{'a': 1, 'b "c': 1.5, 'd': [{'when_': '2024-02-29 00:00:00', 'x': 'abc'}, NULL], 'e': 'x,'}`,
				wire.Text(`{"a":1,"b \"c":"1.50","d":[{"when_":"2024-02-29T00:00:00.000000Z","x":"YWJj"},null],"e":"x,"}`)),
			literal(`{'a': NULL, 'b "c': NULL, 'd': NULL, 'e': NULL}`, wire.Text(`{"a":null,"b \"c":null,"d":null,"e":null}`)),
		}},
	{Name: "map", SQL: "MAP(VARCHAR, DECIMAL(5,2))", Type: wire.TypeJSON, Literals: []sqlsourcetest.Literal{
		literal("MAP {'k': 1.5, 'l': NULL}", wire.Text(`{"k":"1.50","l":null}`)), literal("MAP {}", wire.Text("{}")),
	}},
}

// kit returns the engine with an empty database. Its nulls are first, unless a statement
// says otherwise.
func kit(t testing.TB) sqlsourcetest.Engine {
	db := open(t, "SET GLOBAL default_null_order = 'nulls_first'")
	return sqlsourcetest.Engine{Flavor: duckdb.Flavor(), DB: db, Key: "BIGINT", Types: types}
}

// TestDifferential asks the engine and memory the same. SQLSOURCE_QUERIES makes it
// longer, SQLSOURCE_SEED repeats it. DuckDB refuses an UPDATE of a table with an index
// while a transaction that began before another UPDATE is open, so no rows change
// between pages.
func TestDifferential(t *testing.T) {
	queries, err := strconv.Atoi(os.Getenv("SQLSOURCE_QUERIES"))
	if err != nil {
		queries = 1000
	}
	seed, _ := strconv.ParseUint(os.Getenv("SQLSOURCE_SEED"), 10, 64)
	sqlsourcetest.Run(t, kit(t), &sqlsourcetest.Options{Queries: queries, Seed: seed, Without: []string{"changing pages"}})
}

// TestHostile sends hostile texts in every place of a request.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the catalog for each of thousands of statements; run without -short")
	}
	c := testkit.Must(driver.NewConnector(filepath.Join(t.TempDir(), "hostile.duckdb"), nil))(t)
	db := sql.OpenDB(c)
	t.Cleanup(func() { _ = db.Close() })
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: duckdb.Flavor(), DB: db, Key: "BIGINT"}, c)
}

// TestPlanted proves that the differential test finds every bug that the command plant
// of enginetest has planted. The bugs name themselves in the environment.
func TestPlanted(t *testing.T) {
	bugs := os.Getenv("SQLSOURCE_BUGS")
	if bugs == "" {
		require.Empty(t, os.Getenv("SQLSOURCE_PLANTED"), "no bug is planted: the overlay of the command plant is missing")
		t.Skip("needs the overlay of the command plant; see the package documentation of enginetest")
	}
	options := &sqlsourcetest.Options{Queries: 3000, Seed: 7, Without: []string{"changing pages"}}
	// A session states where nulls are, so a statement that leaves it out sorts them there too.
	harmless := func(bug string) bool { return bug == "nulls stand where the engine has them" }
	require.True(t, slices.ContainsFunc(strings.Split(bugs, "\n"), harmless))
	sqlsourcetest.Planted(t, kit(t), options, slices.DeleteFunc(strings.Split(bugs, "\n"), harmless), func(bug string) {
		require.NoError(t, os.Setenv("SQLSOURCE_BUG", bug))
	})
}
