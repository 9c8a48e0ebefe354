package connector_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMap checks decoded JSON, converted as the columns ask.
func TestMap(t *testing.T) {
	at := time.Date(2024, 2, 29, 23, 30, 0, 5e6, time.FixedZone("", 3600))
	num := func(s string) json.Number { return json.Number(s) }
	for _, c := range []struct {
		typ   wire.Type
		value any
		want  string
	}{
		{"string", "a", `"a"`},
		{"string", num("7.50"), `"7.50"`},
		{"reference", num("12345678901234567890"), `"12345678901234567890"`},
		{"string", 7, `"7"`},
		{"string", 7.5, `"7.5"`},
		{"string", true, `"true"`},
		{"string", nil, `null`},
		{"number", num("7"), `7`},
		{"number", num("7.0"), `7`},
		{"number", num("7.50"), `7.5`},
		{"number", num("-0"), `0`},
		{"number", num("1e3"), `1000`},
		{"number", num("15E-1"), `1.5`},
		{"number", num("1e-7"), `"0.0000001"`},
		{"number", num("9007199254740993"), `"9007199254740993"`},
		{"number", num("123456789012345678901234567890"), `"123456789012345678901234567890"`},
		{"number", num("0.1000000000000000055511151231257827"), `"0.1000000000000000055511151231257827"`},
		{"number", 7, `7`},
		{"number", int32(-7), `-7`},
		{"number", int64(1 << 60), `"1152921504606846976"`},
		{"number", uint64(math.MaxUint64), `"18446744073709551615"`},
		{"number", 0.1, `0.1`},
		{"number", float32(0.1), `0.1`},
		{"number", 1e21, `"1000000000000000000000"`},
		{"", num("7.5"), `7.5`},
		{"", "7.5", `"7.5"`},
		{"decimal", num("7"), `"7"`},
		{"decimal", num("7.50"), `"7.50"`},
		{"decimal", num("-7.50e-3"), `"-0.00750"`},
		{"decimal", num("12345678901234567890e-2"), `"123456789012345678.90"`},
		{"decimal", num("7.5e2"), `"750"`},
		{"decimal", num("0e5"), `"0"`},
		{"decimal", 7.5, `"7.5"`},
		{"decimal", 7, `"7"`},
		{"boolean", true, `true`},
		{"boolean", "true", `"true"`},
		{"datetime", "2024-02-29T23:30:00+01:00", `"2024-02-29T22:30:00Z"`},
		{"datetime", "yesterday", `"yesterday"`},
		{"datetime", at, `"2024-02-29T22:30:00.005Z"`},
		{"date", at, `"2024-02-29"`},
		{"date", "2024-02-29", `"2024-02-29"`},
		{"date", "2024-02-29T23:30:00Z", `"2024-02-29"`},
		{"date", "2024-02-29T23:30:00-05:00", `"2024-02-29"`},
		{"datetime", "2024-02-29T22:30:00.1234567890123Z", `"2024-02-29T22:30:00.1234567890123Z"`},
		{"array", "abc", `"\"abc\""`},
		{"json", map[string]any{"b": []any{1.0, nil, "<&>"}, "a": num("1.50")},
			`"{\"a\":1.50,\"b\":[1,null,\"<&>\"]}"`},
		{"json", ` { "a" : 1 } `, `"{\"a\":1}"`},
		{"json", "abc", `"\"abc\""`},
		{"json", num("7"), `"7"`},
		{"json", false, `"false"`},
		{"json", nil, `null`},
		{"array", []any{"red", 1.5}, `"[\"red\",1.5]"`},
		{"string", []byte{0xff, 0}, `"/wA="`},
		{"number", wire.Decimal("1.0"), `"1.0"`},
		{"number", int8(-8), `-8`},
		{"number", uint16(16), `16`},
		{"string", uint8(8), `"8"`},
		{"decimal", uint32(32), `"32"`},
		{"decimal", decimal.New(1250, -2), `"12.50"`},
		{"", decimal.New(1250, -2), `"12.50"`},
		{"string", decimal.New(1250, -2), `"12.50"`},
		{"number", decimal.New(1250, -2), `12.5`},
		{"number", decimal.RequireFromString("9007199254740993.5"), `"9007199254740993.5"`},
		{"decimal", decimal.NullDecimal{Decimal: decimal.New(-5, -3), Valid: true}, `"-0.005"`},
		{"decimal", decimal.NullDecimal{}, `null`},
	} {
		s := serve(t, core{query: func(_ context.Context, _ *connector.QueryRequest, out *connector.Rows) error {
			return out.Begin([]wire.Column{{Name: "n", Type: c.typ},
				{Name: "absent"}}).Map(map[string]any{"n": c.value, "other": 1})
		}}, nil)
		a := s.post("/query", query(`"and":[],"sort":[],"fields":["n","absent"]`))
		assert.Equal(t, all+"\n"+`{"rows":[{"n":`+c.want+`,"absent":null}]}`+"\n"+end+"\n", a.body, "%s %#v", c.typ,
			c.value)
	}
	for _, v := range []any{num("1e999"), num("1e-999999999999"), decimal.New(1, 999), decimal.New(1, math.MinInt32),
		math.NaN(), float32(math.Inf(1)), struct{}{}} {
		for _, typ := range []wire.Type{"number", "decimal"} {
			s := serve(t, core{query: func(_ context.Context, _ *connector.QueryRequest, out *connector.Rows) error {
				return out.Begin([]wire.Column{{Name: "n", Type: typ}}).Map(map[string]any{"n": v})
			}}, nil)
			s.post("/query", query(plain)).refuses(t, 500, wire.CodeInternal, "internal error")
			assert.Contains(t, s.log.String(), `cause=column "n": `)
		}
	}
}

// TestDecimal checks that a cell keeps the digits and the scale of a
// decimal.Decimal, and does not obey the package's global settings.
func TestDecimal(t *testing.T) {
	trailing := decimal.TrimTrailingZeros
	decimal.TrimTrailingZeros = true
	defer func() { decimal.TrimTrailingZeros = trailing }()
	long := "-123456789012345678901234567890.123456789012345678901234567890"
	for _, c := range []struct {
		d    decimal.Decimal
		want string
	}{
		{decimal.Decimal{}, "0"},
		{decimal.New(1250, -2), "12.50"},
		{decimal.New(-1250, -2), "-12.50"},
		{decimal.New(5, -3), "0.005"},
		{decimal.New(-5, -1), "-0.5"},
		{decimal.New(0, -2), "0.00"},
		{decimal.New(0, 3), "0"},
		{decimal.New(12, 3), "12000"},
		{decimal.New(7, 0), "7"},
		{decimal.RequireFromString(long), long},
		{decimal.RequireFromString("1.10").Add(decimal.RequireFromString("1.9")), "3.00"},
		{decimal.New(1, 400), "1" + strings.Repeat("0", 400)},
		{decimal.New(1, -401), "0." + strings.Repeat("0", 400) + "1"},
	} {
		v := connector.Decimal(c.d)
		assert.NoError(t, v.Err(), c.want)
		assert.Equal(t, c.want, v.String())
		assert.Equal(t, wire.KindDecimal, v.Kind())
		assert.Equal(t, v, connector.NullDecimal(decimal.NullDecimal{Decimal: c.d, Valid: true}))
	}
	assert.True(t, connector.NullDecimal(decimal.NullDecimal{}).IsNull())
	for _, exponent := range []int32{401, 1 << 30, math.MaxInt32, -402, math.MinInt32} {
		assert.Error(t, connector.Decimal(decimal.New(1, exponent)).Err(), "1e%d", exponent)
	}
}
