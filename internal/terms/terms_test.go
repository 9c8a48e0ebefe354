package terms_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestQuoteName(t *testing.T) {
	for _, c := range []struct{ why, name, want string }{
		{"a name", "orders", `"orders"`},
		{"the empty name", "", `""`},
		{"what a terminal or a log would take for its own is escaped", "a\"b\n\x1b", `"a\"b\n\x1b"`},
		{"64 characters stand whole, however many bytes they are", strings.Repeat("ä", 64), `"` + strings.Repeat("ä", 64) + `"`},
		{"the 65th is cut", strings.Repeat("ä", 64) + "x", `"` + strings.Repeat("ä", 64) + `"...`},
		{"a body is not", strings.Repeat("x", 8<<20), `"` + strings.Repeat("x", 64) + `"...`},
		{"bytes that are no UTF-8 are escaped", "a\xff", `"a\xff"`},
	} {
		assert.Equal(t, c.want, terms.QuoteName(c.name), c.why)
	}
}

func TestWords(t *testing.T) {
	for shape, ops := range map[terms.Shape][]wire.Op{
		terms.ShapeValue: {wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpContains,
			wire.OpIncludes, wire.OpStartsWith},
		terms.ShapeMember:  {wire.OpIn, wire.OpNin},
		terms.ShapeNullary: {wire.OpIsNull, wire.OpNotNull},
		terms.ShapeUnknown: {"", "EQ", "like", "startsWith"},
	} {
		for _, op := range ops {
			assert.Equal(t, shape, terms.ShapeOf(op), "%s", op)
		}
	}
	for _, known := range []wire.Type{"string", "number", "decimal", "boolean", "date", "datetime", "json", "array", "reference"} {
		assert.True(t, terms.IsType(known), "%s", known)
		assert.Equal(t, known == "number" || known == "decimal", known.Numeric(), "%s", known)
	}
	assert.False(t, terms.IsType(""))
	assert.False(t, terms.IsType("Number"))
	for _, known := range []wire.AggFunc{"count", "sum", "min", "max", "count_distinct"} {
		assert.True(t, terms.IsAggFunc(known), "%s", known)
	}
	assert.False(t, terms.IsAggFunc("avg"), "an average is never pushed (aggregate-7)")
	for _, known := range []wire.Grain{"year", "quarter", "month", "day"} {
		assert.True(t, terms.IsGrain(known), "%s", known)
	}
	assert.False(t, terms.IsGrain("week"))
	assert.False(t, terms.IsGrain(""))
	for slug, legal := range map[string]bool{
		"abc": true, "a-1": true, "a--": true, "ab": false, "": false, "1ab": false, "-ab": false, "Abc": false,
		"a_b": false, "abc\n": false, "äbc": false, "a234567890123456789012345678901234567890": true,
		"a2345678901234567890123456789012345678901": false,
	} {
		assert.Equal(t, legal, terms.IsSlug(slug), "%q", slug)
	}
}
