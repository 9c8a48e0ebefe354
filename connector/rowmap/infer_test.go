package rowmap_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// decoded returns the documents of JSON text.
func decoded(text string) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		for d.More() {
			var document map[string]any
			err := d.Decode(&document)
			if !yield(document, err) || err != nil {
				return
			}
		}
	}
}

// TestInfer checks the type that the values of a member give its column, and
// that the cells of Offer fit it.
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
		samples := testkit.Must(json.Marshal(f.Samples))(t)
		assert.Equal(t, c[3], string(samples), values)
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
