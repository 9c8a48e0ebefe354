package enginetest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func mysqlQuoted(s string) string {
	return "'" + strings.NewReplacer("'", "''", "\\", "\\\\", "\x00", "\\0").Replace(s) + "'"
}

// mysqlCommon are texts that every column should hold.
var mysqlCommon = mysqlTexts(slices.Concat(commonTexts, nulTexts)...)

// controls are texts that compare differently where the shorter one is filled with
// blanks.
var controls = mysqlTexts("", " ", "\x00", "\t", "a", "a ", "a  ", "a\t", "a\x00", "a \t",
	"a\tb", "a\x1f", "a!", "ab", "`", "`\x00", "é\t", "é", "\ue000", "\ud7ff")

func mysqlTexts(list ...string) []sqlsourcetest.Literal {
	return sqlsourcetest.Texts(mysqlQuoted, list...)
}

// mysqlMoments returns datetimes with so many digits of fraction, impossible ones
// among them.
func mysqlMoments(digits int, more ...string) []sqlsourcetest.Literal {
	return append(instants("2006-01-02 15:04:05.999999", digits, slices.Concat(more, commonMoments)...),
		nulls("0000-00-00 00:00:00", "2024-05-00 01:00:00", "2024-02-31 01:00:00", "2023-02-29 00:00:00")...)
}

// mysqlInstants returns datetimes that go through the session's time zone, and back.
func mysqlInstants(digits int, list ...string) (literals []sqlsourcetest.Literal) {
	for _, s := range list {
		at := instant(s)
		sql := "FROM_UNIXTIME(" + strconv.FormatInt(at.Unix(), 10) + at.Format(".000000") + ")"
		literals = append(literals, literal(sql, wire.DatetimeWidth(at, digits)))
	}
	return literals
}

var mysqlTypes = []sqlsourcetest.Type{
	{Name: "text", SQL: "TEXT", Type: wire.TypeString, Literals: mysqlCommon},
	{Name: "bin", SQL: "VARCHAR(50) COLLATE utf8mb4_bin", Type: wire.TypeString, Literals: mysqlCommon},
	{Name: "unicode", SQL: "LONGTEXT COLLATE utf8mb4_unicode_ci", Type: wire.TypeString, Literals: slices.Concat(
		mysqlTexts(strings.Repeat("x", 5000)+"a", strings.Repeat("x", 5000)+"b"), mysqlCommon)},
	{Name: "latin", SQL: "VARCHAR(20) CHARACTER SET latin1", Type: wire.TypeString,
		Literals: mysqlTexts("a", "A", "é", "ß", "z", "", "a ")},
	{Name: "chinese", SQL: "VARCHAR(20) CHARACTER SET gbk", Type: wire.TypeString, Literals: append(
		mysqlTexts("a", "中文", "?", "a?", "??", ""), literal("_gbk x'A2A0'", wire.Null()), literal("_gbk x'61A2A03F'", wire.Null()))},
	{Name: "ascii", SQL: "TEXT CHARACTER SET ascii", Type: wire.TypeString, Literals: append(
		mysqlTexts("a", "A", "?", "a ", ""), literal("_ascii x'FF'", wire.Null()), literal("_ascii x'61FE'", wire.Null()))},
	{Name: "nopad", SQL: "VARCHAR(50) COLLATE utf8mb4_nopad_bin", Type: wire.TypeString, Literals: slices.Concat(controls, mysqlCommon)},
	{Name: "padbin", SQL: "VARCHAR(50) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin", Type: wire.TypeString, Literals: controls},
	{Name: "char", SQL: "CHAR(4)", Type: wire.TypeString, Literals: mysqlTexts("a", "ab", "  a", "")},
	{Name: "small", SQL: "SMALLINT", Type: wire.TypeNumber, Literals: integers(0, 1, -1, 2, 10, 9, 100, 32767, -32768)},
	{Name: "big", SQL: "BIGINT", Type: wire.TypeNumber, Literals: integers(
		0, 1, -1, 2, 10, 9, 100, 1<<53-1, 1<<53, 1<<53+1, -(1<<53 + 1), 1<<63-1, -1<<63)},
	{Name: "unsigned", SQL: "BIGINT UNSIGNED", Type: wire.TypeNumber, Literals: append(
		integers(0, 1, 2, 10, 1<<53, 1<<53+1, 1<<63-1),
		literal("18446744073709551615", wire.Uint(1<<64-1)), literal("9223372036854775808", wire.Uint(1<<63)))},
	{Name: "year", SQL: "YEAR", Type: wire.TypeNumber, Literals: integers(1901, 2024, 2155)},
	{Name: "bits", SQL: "BIT(8)", Type: wire.TypeNumber, Literals: []sqlsourcetest.Literal{
		literal("0", wire.Int(0)), literal("1", wire.Int(1)), literal("255", wire.Int(255)),
	}},
	{Name: "money", SQL: "DECIMAL(12,2)", Type: wire.TypeDecimal, Literals: decimals(
		"0.00", "1.50", "-1.50", "10.25", "9999999999.99", "-9999999999.99", "0.01", "100.00")},
	{Name: "wide", SQL: "DECIMAL(65,30)", Type: wire.TypeDecimal, Literals: decimals(
		"0.000000000000000000000000000000", "1.500000000000000000000000000000", "-1.500000000000000000000000000000",
		"99999999999999999999999999999999999.999999999999999999999999999999", "0.000000000000000000000000000001",
		"9007199254740993.000000000000000000000000000000", "0.100000000000000005551115123126")},
	{Name: "double", SQL: "DOUBLE", Type: wire.TypeNumber, Literals: floats(
		0, 0.1, 0.3, 0.30000000000000004, 1.5, -1.5, 1e-7, 1e21, 1.7976931348623157e308, 1e23, 1<<53, 1<<63)},
	{Name: "float", SQL: "FLOAT", Type: wire.TypeNumber, Literals: singles(
		0, 0.5, -1.5, 1e10, 0.1, 999.99, 16777217, 1<<53, 3.4028235e38, 1e-40, 0.3, 0.30000004)},
	{Name: "fixed", SQL: "FLOAT(7,2)", Type: wire.TypeNumber, Literals: singles(0, 999.99, -999.99, 0.01, 99999.99, 1.5, 2)},
	{Name: "boolean", SQL: "BOOLEAN CHECK (%s IN (0, 1))", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{
		literal("TRUE", wire.Bool(true)), literal("FALSE", wire.Bool(false)),
	}},
	{Name: "truth", SQL: "BOOLEAN", Type: wire.TypeBoolean, Want: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{
		literal("TRUE", wire.Bool(true)), literal("FALSE", wire.Bool(false)), literal("2", wire.Bool(true)),
	}},
	{Name: "tiny", SQL: "TINYINT(1)", Type: wire.TypeNumber, Literals: integers(0, 1, 2, 10, -1, 127, -128)},
	{Name: "padded", SQL: "DECIMAL(12,2) ZEROFILL", Type: wire.TypeDecimal, Literals: decimals("0.00", "1.50", "10.25", "9999999999.99")},
	{Name: "filled", SQL: "INT(8) ZEROFILL", Type: wire.TypeNumber, Literals: integers(0, 1, 15, 2, 100, 4294967295)},
	{Name: "bit", SQL: "BIT(1)", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{
		literal("b'1'", wire.Bool(true)), literal("b'0'", wire.Bool(false)),
	}},
	{Name: "day", SQL: "DATE", Type: wire.TypeDate, Literals: append(
		days("2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "0001-01-01", "9999-12-31", "1969-12-31"),
		nulls("0000-00-00", "2024-00-01", "2024-05-00", "2024-02-31", "2024-02-30", "2023-02-29", "2024-04-31")...)},
	{Name: "micro", SQL: "DATETIME(6)", Type: wire.TypeDatetime, Literals: mysqlMoments(6,
		"2024-02-28T23:59:59.999999Z", "2024-06-30T23:59:59.5Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")},
	{Name: "tenth", SQL: "DATETIME(1)", Type: wire.TypeDatetime, Literals: mysqlMoments(3, "2024-02-28T23:59:59.9Z")},
	{Name: "second", SQL: "DATETIME", Type: wire.TypeDatetime, Literals: mysqlMoments(0)},
	{Name: "stamp", SQL: "TIMESTAMP(3) NULL", Type: wire.TypeDatetime,
		Literals: mysqlInstants(3, append([]string{"2024-02-28T23:59:59.999Z"}, commonMoments...)...)},
	{Name: "mood", SQL: "ENUM('sad','ok','happy','Zany')", Type: wire.TypeString, Literals: mysqlTexts("sad", "ok", "happy", "Zany")},
	{Name: "flags", SQL: "SET('a','b','c')", Type: wire.TypeString, Literals: mysqlTexts("", "a", "a,b", "c")},
	{Name: "bytes", SQL: "BLOB", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		text("x'00ff'", "AP8="), text("''", ""), text("x'616263'", "YWJj"), text("x'fbff'", "+/8="),
		literal("REPEAT('a', 100)", wire.Bytes([]byte(strings.Repeat("a", 100)))),
	}},
	{Name: "json", SQL: "JSON", Type: wire.TypeJSON, Literals: []sqlsourcetest.Literal{
		text(`'{"a": [1, 2]}'`, `{"a":[1,2]}`), text(`'"x"'`, `"x"`), text(`'null'`, "null"), text(`'["a", "b", 1]'`, `["a","b",1]`),
	}},
	{Name: "array", SQL: "LONGTEXT CHECK (json_valid(%s))", Type: wire.TypeArray, Want: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		text(`'["a", "b", 1]'`, `["a","b",1]`), text(`'[]'`, `[]`), text(`'[true, ["a"]]'`, `[true,["a"]]`),
	}},
	{Name: "time", SQL: "TIME", Type: wire.TypeString, Literals: mysqlTexts("10:00:00", "-01:00:00")},
	{Name: "uuid", SQL: "UUID", Type: wire.TypeString, Literals: mysqlTexts("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
		"ffffffff-ffff-4fff-bfff-ffffffffffff", "00000000-0000-4000-8000-000000000000")},
	{Name: "address", SQL: "INET6", Type: wire.TypeString, Literals: mysqlTexts("::1", "::ffff:1.2.3.4", "2001:db8::1")},
	{Name: "code", SQL: "VARCHAR(10)", Type: wire.TypeReference, Want: wire.TypeReference, Literals: mysqlTexts("a", "b", "1", "01")},
	{Name: "amount", SQL: "VARCHAR(20)", Type: wire.TypeDecimal, Want: wire.TypeDecimal,
		Literals: mysqlTexts("1.5", "1.50", "n/a", "01.5", "-0")},
	{Name: "hos`tile; DROP", SQL: "TEXT", Type: wire.TypeString, Literals: mysqlTexts("a", "?", "`;--")},
}
