package enginetest

import (
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var (
	postgresCommon = postgresTexts(commonTexts...)
	nans           = nulls("NaN", "Infinity", "-Infinity")
)

func postgresTexts(list ...string) []sqlsourcetest.Literal {
	return sqlsourcetest.Texts(quoted, list...)
}

func postgresFloats(list ...float64) []sqlsourcetest.Literal { return append(floats(list...), nans...) }

// postgresMoments returns datetimes with so many digits of fraction, those beyond what
// can be sent among them.
func postgresMoments(digits int, more ...string) []sqlsourcetest.Literal {
	list := slices.Concat(more, commonMoments, []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z"})
	return append(instants(time.RFC3339Nano, digits, list...),
		nulls("infinity", "-infinity", "0001-12-31 23:59:59+00 BC", "10000-01-01 00:00:00Z")...)
}

var postgresTypes = []sqlsourcetest.Type{
	{Name: "text", SQL: "text", Type: wire.TypeString, Literals: postgresCommon},
	{Name: "english", SQL: `varchar(50) COLLATE "en-x-icu"`, Type: wire.TypeString, Literals: postgresCommon},
	{Name: "blind", SQL: `text COLLATE blind`, Type: wire.TypeString, Literals: postgresCommon},
	{Name: "char", SQL: "char(4)", Type: wire.TypeString, Literals: postgresTexts("a", "ab", "  a", "")},
	{Name: "padded", SQL: `char(4) COLLATE "C"`, Type: wire.TypeString, Literals: postgresTexts("a", "ab", "  a", "", "a\tb", "b")},
	{Name: "bytewise", SQL: `text COLLATE "C"`, Type: wire.TypeString, Literals: postgresCommon},
	{Name: "small", SQL: "smallint", Type: wire.TypeNumber, Literals: integers(0, 1, -1, 2, 10, 9, 100, 32767, -32768)},
	{Name: "big", SQL: "bigint", Type: wire.TypeNumber, Literals: integers(
		0, 1, -1, 2, 10, 9, 100, 1<<53-1, 1<<53, 1<<53+1, -(1<<53 + 1), 1<<63-1, -1<<63)},
	{Name: "money", SQL: "numeric(12,2)", Type: wire.TypeDecimal, Literals: append(decimals(
		"0.00", "1.50", "-1.50", "10.25", "9999999999.99", "-9999999999.99", "0.01", "100.00"), nans[0])},
	{Name: "numeric", SQL: "numeric", Type: wire.TypeDecimal, Literals: append(decimals(
		"0", "0.00", "1.5", "1.50", "-1.5", "10.250", "9007199254740993", "9007199254740992", "0.1",
		"0.1000000000000000055511151231257827", "1"+strings.Repeat("0", 70), "0."+strings.Repeat("0", 60)+"1",
		"123456789012345678901234567890.123456789"), nans...)},
	{Name: "cents", SQL: "cents", Type: wire.TypeDecimal, Literals: decimals("0.00", "1.50", "-1.50", "10.25")},
	{Name: "price", SQL: "price", Type: wire.TypeDecimal, Literals: decimals("0.00", "1.50", "-1.50", "10.25")},
	{Name: "cash", SQL: "money", Type: wire.TypeDecimal, Literals: decimals(
		"0.00", "1.50", "-1.50", "10.25", "92233720368547758.07", "-92233720368547758.08")},
	{Name: "oid", SQL: "oid", Type: wire.TypeNumber, Literals: integers(0, 1, 2, 100, 1<<32-1)},
	{Name: "double", SQL: "double precision", Type: wire.TypeNumber, Literals: postgresFloats(
		0, 0.1, 0.3, 0.30000000000000004, 1.5, -1.5, 1e-7, 1e21, 5e-324, 1.7976931348623157e308, 1e23, 1<<53, 1<<63)},
	{Name: "real", SQL: "real", Type: wire.TypeNumber, Literals: append(singles(
		0, 0.5, -1.5, 1e10, 0.1, 999.99, 16777217, 1<<53, 3.4028235e38, 1e-40, 0.3, 0.30000004), nans...)},
	{Name: "boolean", SQL: "boolean", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{
		literal("true", wire.Bool(true)), literal("false", wire.Bool(false)),
	}},
	{Name: "day", SQL: "date", Type: wire.TypeDate, Literals: append(
		days("2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "0001-01-01", "9999-12-31", "1969-12-31"),
		nulls("infinity", "-infinity", "0001-12-31 BC", "10000-01-01")...)},
	{Name: "zoned", SQL: "timestamptz", Type: wire.TypeDatetime,
		Literals: postgresMoments(6, "2024-02-28T23:59:59.999999Z", "2024-06-30T23:59:59.5Z")},
	{Name: "zoneless", SQL: "timestamp", Type: wire.TypeDatetime,
		Literals: postgresMoments(6, "2024-02-28T23:59:59.999999Z", "2024-06-30T23:59:59.5Z")},
	{Name: "milli", SQL: "timestamptz(3)", Type: wire.TypeDatetime, Literals: postgresMoments(3, "2024-02-28T23:59:59.999Z")},
	{Name: "tenth", SQL: "timestamp(1)", Type: wire.TypeDatetime, Literals: postgresMoments(3, "2024-02-28T23:59:59.9Z")},
	{Name: "second", SQL: "timestamptz(0)", Type: wire.TypeDatetime, Literals: postgresMoments(0)},
	{Name: "uuid", SQL: "uuid", Type: wire.TypeString, Literals: append(
		postgresTexts("ffffffff-ffff-4fff-bfff-ffffffffffff", "00000000-0000-4000-8000-000000000000"),
		text("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"))},
	{Name: "mood", SQL: "mood", Type: wire.TypeString, Literals: postgresTexts("sad", "ok", "happy", "Zany")},
	{Name: "bytes", SQL: "bytea", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		text(`'\x00ff'::bytea`, "AP8="), text(`''::bytea`, ""), text(`'\x616263'::bytea`, "YWJj"), text(`'\xfbff'::bytea`, "+/8="),
		literal(`decode(repeat('61', 100), 'hex')`, wire.Bytes([]byte(strings.Repeat("a", 100)))),
	}},
	{Name: "json", SQL: "json", Type: wire.TypeJSON, Literals: append(slices.Clone(documents),
		text(`'["\u0061", "\u0000"]'`, `["\u0061","\u0000"]`))},
	{Name: "jsonb", SQL: "jsonb", Type: wire.TypeJSON, Literals: documents},
	{Name: "texts", SQL: "text[]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		text(`'{a,b}'`, `["a","b"]`), text(`'{1,"1.50",NULL}'`, `["1","1.50",null]`), text(`'{}'`, `[]`),
		text(`'{{a,b},{c,d}}'`, `[["a","b"],["c","d"]]`), text(`'{true,"null","[]"}'`, `["true","null","[]"]`),
	}},
	{Name: "numbers", SQL: "integer[]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		text(`'{1,2}'`, `[1,2]`), text(`'{}'`, `[]`),
	}},
	{Name: "floats", SQL: "float8[]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		text(`'{0.1,0.30000000000000004}'`, `[0.1,0.30000000000000004]`),
	}},
	{Name: "listed", SQL: "jsonb", Type: wire.TypeArray, Want: wire.TypeArray, Literals: []sqlsourcetest.Literal{
		text(`'["a",1]'`, `["a",1]`), text(`'[]'`, `[]`), text(`'["b",["a"]]'`, `["b",["a"]]`),
	}},
	{Name: "interval", SQL: "interval", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		text("'1 day 2 hours'", "1 day 02:00:00"), text("'1 month'", "1 mon"),
	}},
	{Name: "address", SQL: "inet", Type: wire.TypeString, Literals: postgresTexts("10.0.0.1", "10.0.0.1/24", "::1", "::1/64", "::ffff:1.2.3.4")},
	{Name: "network", SQL: "cidr", Type: wire.TypeString, Literals: postgresTexts("10.0.0.0/8", "10.1.0.0/16", "10.0.0.1/32", "::1/128")},
	{Name: "card", SQL: "macaddr", Type: wire.TypeString, Literals: postgresTexts("08:00:2b:01:02:03", "ff:ff:ff:ff:ff:ff")},
	{Name: "amount", SQL: "text", Type: wire.TypeDecimal, Want: wire.TypeDecimal,
		Literals: postgresTexts("1.5", "1.50", "n/a", "01.5", "-0", "9007199254740993")},
	{Name: "whole", SQL: "integer", Type: wire.TypeDecimal, Want: wire.TypeDecimal, Literals: decimals("0", "1", "-1", "100")},
	{Name: "code", SQL: "text", Type: wire.TypeReference, Want: wire.TypeReference, Literals: postgresTexts("a", "b", "1", "01")},
	{Name: `hos"tile; DROP`, SQL: "text", Type: wire.TypeString, Literals: postgresTexts("a", "$1", `";--`)},
}

var documents = []sqlsourcetest.Literal{
	text(`'{"a": [1, 2]}'`, `{"a":[1,2]}`), text(`'"x"'`, `"x"`), text(`'null'`, "null"), text(`'[]'`, "[]"),
	text(`'["a", "b", true]'`, `["a","b",true]`), text(`'["1", 2.50, null]'`, `["1",2.50,null]`),
	text(`'[["a"], {"b": "a"}]'`, `[["a"],{"b":"a"}]`),
}
