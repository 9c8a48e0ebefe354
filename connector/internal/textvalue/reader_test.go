package textvalue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestReader(t *testing.T) {
	for text, want := range map[string]textvalue.Raw{
		` "a\u00e9" `:        {Text: "aé", Kind: textvalue.Text},
		`1.50e3`:             {Text: "1.50e3", Kind: textvalue.Number},
		`true`:               {Text: "true", Kind: textvalue.Bool},
		`false`:              {Text: "false", Kind: textvalue.Bool},
		`null`:               {Kind: textvalue.Null},
		` [1, {"a": []} ] `:  {Text: `[1, {"a": []} ]`, Kind: textvalue.Array},
		`{"a": {"b": null}}`: {Text: `{"a": {"b": null}}`, Kind: textvalue.Object},
		`[]`:                 {Text: `[]`, Kind: textvalue.Array},
	} {
		assert.Equal(t, want, read(t, text)[0], text)
		assert.Equal(t, want.Kind == textvalue.Null, want.None())
	}
}

// TestReaderFails reads what is not strict JSON.
func TestReaderFails(t *testing.T) {
	many := func(n int) (members string) {
		for i := range n {
			members += fmt.Sprintf(`"m%d": {}, `, i)
		}
		return members
	}
	spelled := strings.NewReplacer("MANY15", many(15), "MANY16", many(16), "MANY20", many(20), `\xff`, "\xff")
	for _, c := range testkit.Table(t, "testdata/strict.tsv", 3) {
		text, want := spelled.Replace(c[1]), strings.TrimPrefix(c[2], "-")
		r := textvalue.Reader{MaxDepth: 4}
		for range 2 { // a reader that is used again remembers nothing
			r.Reset(text)
			v := r.Value(1)
			r.End()
			if want == "" {
				require.NoError(t, r.Err(), text)
				continue
			}
			require.ErrorContains(t, r.Err(), want, text)
			if want == "duplicate member" {
				assert.Contains(t, []string{"a", "b", "m7"}, r.Duplicate)
				assert.True(t, v.None())
			}
		}
		r.Reset("{}")
		assert.Empty(t, r.Duplicate)
		trusted := textvalue.Reader{MaxDepth: 4, Checked: true}
		trusted.Reset(text)
		trusted.Value(1)
		assert.Empty(t, trusted.Duplicate)
	}
}

// TestSamples keeps a few values that differ by type.
func TestSamples(t *testing.T) {
	var s textvalue.Samples
	assert.Equal(t, []wire.Value{}, s.Values())
	long := strings.Repeat("x", textvalue.MaxSampleText)
	for _, v := range []wire.Value{
		wire.Null(), wire.Invalid("no"), wire.Decimal("1.0"), wire.Int(1), wire.Text(long + "x"), wire.Text(long), wire.Int(2), wire.Int(3),
	} {
		assert.False(t, s.Full())
		s.Add(v, filter.AppendKey(nil, v, wire.TypeNumber))
	}
	s.Add(wire.Int(4), []byte("4"))
	assert.True(t, s.Full())
	s.Add(wire.Int(5), []byte("5"))
	assert.Equal(t, []wire.Value{wire.Decimal("1.0"), wire.Text(long), wire.Int(2), wire.Int(3), wire.Int(4)}, s.Values())
}
