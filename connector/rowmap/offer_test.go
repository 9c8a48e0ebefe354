package rowmap_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	begun    = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"
	end      = `{"end":1}` + "\n"
	internal = `{"error":{"code":"internal","message":"internal error"}}`
)

// offering returns a source that begins with some columns and offers what a test wants. In its description, the column n
// has a type of its own.
func offering(described wire.Type, columns []wire.Column, offer func(w *connector.RowWriter) error) connector.Source {
	type source struct {
		testkit.Source
		testkit.Describer
	}
	return source{
		testkit.Source{OnQuery: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
			return offer(out.Begin(columns))
		}},
		func(context.Context, wire.Credentials, string) (*wire.Table, error) {
			return &wire.Table{Name: "t", Fields: []wire.Field{{Name: "n", Type: described}, {Name: "absent"}}}, nil
		},
	}
}

// answer returns the body of the answer to a query for n and absent, and what the log says.
func answer(t *testing.T, src connector.Source) (answer, said string) {
	var log testkit.Log
	server := connectortest.Start(t, connector.Definition{Slug: "rows"}, src, log.Options())
	body := `{"table":"t","and":[],"sort":[],"fields":["n","absent"],"credentials":{},"timeoutMs":60000}`
	_, answer = server.Post("/query", body)
	return answer, log.String()
}

// columns returns the columns n, of a type, and absent.
func columns(typ wire.Type) []wire.Column {
	return []wire.Column{{Name: "n", Type: typ}, {Name: "absent"}}
}

// TestOffer checks decoded JSON, converted as the columns ask.
func TestOffer(t *testing.T) {
	at := time.Date(2024, 2, 29, 23, 30, 0, 5e6, time.FixedZone("", 3600))
	num := func(s string) json.Number { return json.Number(s) }
	type offered struct {
		typ   wire.Type
		value any
		want  string
	}
	cases := []offered{
		{"string", 7, `"7"`},
		{"string", 7.5, `"7.5"`},
		{"number", 7, `7`},
		{"number", int32(-7), `-7`},
		{"number", int64(1 << 60), `"1152921504606846976"`},
		{"number", uint64(math.MaxUint64), `"18446744073709551615"`},
		{"number", 0.1, `0.1`},
		{"number", float32(0.1), `0.1`},
		{"number", 1e21, `"1000000000000000000000"`},
		{"decimal", 7.5, `"7.5"`},
		{"decimal", 7, `"7"`},
		{"datetime", at, `"2024-02-29T22:30:00.005Z"`},
		{"date", at, `"2024-02-29"`},
		{"json", map[string]any{"b": []any{1.0, nil, "<&>"}, "a": num("1.50")},
			`"{\"a\":1.50,\"b\":[1,null,\"<&>\"]}"`},
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
	}
	for _, row := range testkit.Table(t, "testdata/offer.txt", 3) {
		document := testkit.Must(rowmap.Decode([]byte(`{"n":` + row[1] + `}`)))(t)
		cases = append(cases, offered{wire.Type(strings.TrimPrefix(row[0], "none")), document["n"], row[2]})
	}
	for _, c := range cases {
		offer := func(w *connector.RowWriter) error { return rowmap.Offer(w, map[string]any{"n": c.value, "other": 1}) }
		want := begun + `{"rows":[{"n":` + c.want + `,"absent":null}]}` + "\n" + end
		for described, column := range map[wire.Type]wire.Type{"": c.typ, c.typ: ""} {
			got, _ := answer(t, offering(described, columns(column), offer))
			assert.Equal(t, want, got, "%s %#v; the type of the description is %q", c.typ, c.value, described)
		}
	}
	for _, v := range []any{num("1e999"), num("1e-999999999999"), decimal.New(1, 999), decimal.New(1, math.MinInt32),
		math.NaN(), float32(math.Inf(1)), struct{}{}} {
		for _, typ := range []wire.Type{"number", "decimal"} {
			got, said := answer(t, offering("", columns(typ), func(w *connector.RowWriter) error {
				return rowmap.Offer(w, map[string]any{"n": v})
			}))
			assert.Equal(t, internal, got)
			assert.Contains(t, said, `cause="column \"n\": `)
		}
	}
	for _, v := range []any{[]any{"a\xff"}, map[string]any{"a\xff": 1}, []any{map[string]any{"a": "a\xff"}}} {
		got, said := answer(t, offering("", columns(wire.TypeJSON), func(w *connector.RowWriter) error {
			return rowmap.Offer(w, map[string]any{"n": v})
		}))
		assert.Equal(t, internal, got, "%q: encoding/json would replace the byte", v)
		assert.Contains(t, said, "not valid UTF-8")
	}
}

// TestOfferAll checks that the rows end at the first error.
func TestOfferAll(t *testing.T) {
	broken := errors.New("broken")
	var last error
	got, _ := answer(t, offering("", columns(wire.TypeNumber), func(w *connector.RowWriter) error {
		last = rowmap.OfferAll(w, func(yield func(map[string]any, error) bool) {
			_ = yield(map[string]any{"n": 1}, nil) && yield(map[string]any{"n": 2}, nil) && yield(nil, broken) && yield(nil, nil)
		})
		return nil
	}))
	assert.Equal(t, begun+`{"rows":[{"n":1,"absent":null},{"n":2,"absent":null}]}`+"\n"+end, got)
	assert.Equal(t, broken, last)

	more := 0
	got, _ = answer(t, offering("", columns(wire.TypeNumber), func(w *connector.RowWriter) error {
		return rowmap.OfferAll(w, func(yield func(map[string]any, error) bool) {
			for yield(map[string]any{"n": struct{}{}}, nil) {
				more++
			}
		})
	}))
	assert.Equal(t, internal, got)
	assert.Zero(t, more, "a row that has no cells is the last one")
}
