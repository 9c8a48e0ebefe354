package rowmap_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
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
		connectors.Source
		connectors.Describer
	}
	return source{
		connectors.Source{OnQuery: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
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
	server := connectortest.Start(t, connector.Definition{Slug: "rows"}, src, connectors.Logging(&log))
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

// decoded returns the documents of JSON text.
func decoded(text string) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		for d.More() {
			var document map[string]any
			if err := d.Decode(&document); !yield(document, err) || err != nil {
				return
			}
		}
	}
}

// TestInfer checks the type that the values of a member give its column, and that the cells of Offer fit it.
func TestInfer(t *testing.T) {
	for _, c := range append(testkit.Table(t, "testdata/infer.txt", 4), [][]string{
		{`"` + strings.Repeat("long", 26) + `"|"a"|"b"|"c"|"d"|"e"`, "string", "false", `["a","b","c","d","e"]`},
		{`"` + strings.Repeat("long", 25) + `"`, "string", "false", `["` + strings.Repeat("long", 25) + `"]`},
		{`1|` + strings.Repeat("1", 101), "number", "false", `[1]`},
	}...) {
		values := c[0]
		text := ""
		for value := range strings.SplitSeq(values, "|") {
			text += `{"m":` + value + `}`
		}
		table := testkit.Must(rowmap.Infer("t", decoded(text)))(t)
		require.Len(t, table.Fields, 1)
		f := table.Fields[0]
		assert.Equal(t, wire.Type(c[1]), f.Type, values)
		assert.Equal(t, c[2], fmt.Sprint(f.Nullable), values)
		assert.Equal(t, c[3], string(testkit.Must(json.Marshal(f.Samples))(t)), values)
	}
}

func TestInferMembers(t *testing.T) {
	table := testkit.Must(rowmap.Infer("t", decoded(`{"b":1}{"a":"x","b":2}{"a":"y","b":3,"c":null}`)))(t)
	var fields []string
	for _, f := range table.Fields {
		fields = append(fields, fmt.Sprintf("%s %s %t", f.Name, f.Type, f.Nullable))
	}
	assert.Equal(t, []string{"a string true", "b number false", "c string true"}, fields)
	assert.Equal(t, int64(3), *table.RowCount)
	assert.True(t, table.StoresRows)

	_, err := rowmap.Infer("t", decoded(`{"b":1}{"b":`))
	assert.Error(t, err)

	broken := errors.New("broken")
	_, err = rowmap.Infer("t", func(yield func(map[string]any, error) bool) { yield(nil, broken) })
	assert.Equal(t, broken, err)

	// What a decoder of another format may give.
	table, err = rowmap.Infer("t", func(yield func(map[string]any, error) bool) {
		_ = yield(map[string]any{"bytes": []byte{1}, "float": 1.5, "int": int32(1), "money": decimal.New(125, -1), "none": decimal.NullDecimal{},
			"time": time.Unix(0, 0), "value": wire.Int(1), "null": wire.Null(),
			"bad": wire.Invalid("no"), "float32": float32(1.5), "uint": uint8(1), "sum": decimal.NewNullDecimal(decimal.New(125, -1))}, nil)
	})
	require.NoError(t, err)
	fields = nil
	for _, f := range table.Fields {
		fields = append(fields, fmt.Sprintf("%s %s %t", f.Name, f.Type, f.Nullable))
	}
	assert.Empty(t, table.Field("bad").Samples, "no cell, no sample")
	assert.Equal(t, []string{"bad string false", "bytes string false", "float number false", "float32 number false",
		"int number false", "money decimal false", "none string true", "null string true", "sum decimal false",
		"time datetime false", "uint number false", "value number false"}, fields)
}

func TestDecode(t *testing.T) {
	document := testkit.Must(rowmap.Decode([]byte(` {"a":12.50,"b":[90071992547409931]} `)))(t)
	assert.Equal(t, map[string]any{"a": json.Number("12.50"), "b": []any{json.Number("90071992547409931")}}, document)
	for _, text := range []string{``, `null`, `[]`, `7`, `{"a":1}{"a":2}`, `{"a":1}]`, `{"a":secret}`, `{"a":`} {
		document, err := rowmap.Decode([]byte(text))
		assert.EqualError(t, err, "a document is not one JSON object", text)
		assert.Equal(t, map[string]any{}, document, "a caller can write to it")
	}
	for why, text := range map[string]string{
		"a byte that is not UTF-8, which encoding/json replaces": "{\"a\":[\"secret\xff\"]}",
		"such a byte in a name":                                  "{\"secret\xff\":1}",
		"half of a pair of surrogates":                           `{"a":"secret\ud800"}`,
		"a member twice, of which encoding/json takes the last":  `{"secret":1,"b":2,"secret":1}`,
		"also further down":                                      `{"a":[{"secret":1,"secret":2}]}`,
	} {
		document, err := rowmap.Decode([]byte(text))
		require.Error(t, err, why)
		assert.NotContains(t, err.Error(), "secret", why)
		assert.Equal(t, map[string]any{}, document, why)
	}
	text := strings.Repeat(`{"a":`, 9999) + "1" + strings.Repeat("}", 9999)
	testkit.Must(rowmap.Decode([]byte(text)))(t, "as deep as encoding/json reads")
}

// BenchmarkOffer offers ten thousand documents.
func BenchmarkOffer(b *testing.B) {
	const secret = "a-token-of-at-least-32-characters"
	columns := []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "total", Type: wire.TypeDecimal},
		{Name: "placed", Type: wire.TypeDatetime}, {Name: "status", Type: wire.TypeString}, {Name: "tags", Type: wire.TypeJSON}}
	document := map[string]any{"id": json.Number("4711"), "total": json.Number("12.50"), "placed": "2024-05-01T10:00:00+02:00",
		"status": "open", "tags": []any{"a", "b"}}
	source := connectors.Source{OnQuery: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
		w := out.Begin(columns)
		for range 10_000 {
			if err := rowmap.Offer(w, document); err != nil {
				return err
			}
		}
		return nil
	}}
	handler := connectors.New(secret, connector.Definition{Slug: "documents"}, source, nil)
	const body = `{"table":"t","fields":["id","total","placed","status","tags"],"and":[],"sort":[],"credentials":{},"timeoutMs":60000}`
	for b.Loop() {
		w := testkit.Post(handler, secret, wire.PathQuery, body)
		require.Contains(b, w.Body.String()[w.Body.Len()-20:], `{"end":1}`)
	}
}
