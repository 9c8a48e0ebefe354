package wire_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestCodeStatus(t *testing.T) {
	for code, status := range map[wire.Code]int{
		wire.CodeBadRequest:       400,
		wire.CodeCheckFailed:      400,
		wire.CodeUnauthorized:     401,
		wire.CodeUnknownEntity:    404,
		wire.CodeTimeout:          408,
		wire.CodeUnsupported:      422,
		wire.CodeInternal:         500,
		wire.CodeNotFound:         404,
		wire.CodeMethodNotAllowed: 405,
		"":                        500,
		"teapot":                  500,
	} {
		assert.Equal(t, status, code.Status(), "%s", code)
	}
}

func TestError(t *testing.T) {
	err := wire.Errorf(wire.CodeUnknownEntity, "there is no table %s", "orders")
	assert.EqualError(t, err, "unknown_entity: there is no table orders")

	wrapped := fmt.Errorf("reading: %w", err)
	assert.ErrorIs(t, wrapped, &wire.Error{Code: wire.CodeUnknownEntity}, "a code without a message is a sentinel")
	assert.NotErrorIs(t, wrapped, &wire.Error{Code: wire.CodeTimeout})
	assert.NotErrorIs(t, wrapped, &wire.Error{Code: wire.CodeUnknownEntity, Message: "another"})
	assert.NotErrorIs(t, wrapped, errors.New("unknown_entity"))
	var deliberate *wire.Error
	assert.ErrorAs(t, wrapped, &deliberate)
	assert.Same(t, err, deliberate)
}

func TestWords(t *testing.T) {
	shapes := map[wire.Shape][]wire.Op{
		wire.ShapeValue: {wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpContains,
			wire.OpIncludes, wire.OpStartsWith},
		wire.ShapeMember:  {wire.OpIn, wire.OpNin},
		wire.ShapeNullary: {wire.OpIsNull, wire.OpNotNull},
		wire.ShapeUnknown: {"", "EQ", "like", "startsWith"},
	}
	for shape, ops := range shapes {
		for _, op := range ops {
			assert.Equal(t, shape, op.Shape(), "%s", op)
		}
	}
	for _, known := range []wire.Type{"string", "number", "decimal", "boolean", "date", "datetime", "json", "array", "reference"} {
		assert.True(t, known.Known(), "%s", known)
		assert.Equal(t, known == "number" || known == "decimal", known.Numeric(), "%s", known)
	}
	assert.False(t, wire.Type("").Known())
	assert.False(t, wire.Type("Number").Known())
	for _, known := range []wire.AggFunc{"count", "sum", "min", "max", "count_distinct"} {
		assert.True(t, known.Known(), "%s", known)
	}
	assert.False(t, wire.AggFunc("avg").Known(), "an average is never pushed (aggregate-7)")
	for _, known := range []wire.Grain{"year", "quarter", "month", "day"} {
		assert.True(t, known.Known(), "%s", known)
	}
	assert.False(t, wire.Grain("week").Known())
	assert.False(t, wire.Grain("").Known())
	for slug, legal := range map[string]bool{
		"abc": true, "a-1": true, "a--": true, "ab": false, "": false, "1ab": false, "-ab": false, "Abc": false,
		"a_b": false, "abc\n": false, "äbc": false, "a234567890123456789012345678901234567890": true,
		"a2345678901234567890123456789012345678901": false,
	} {
		assert.Equal(t, legal, wire.IsSlug(slug), "%q", slug)
	}
}

func TestTable(t *testing.T) {
	table := wire.Table{Name: "orders", Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}, {Name: "note", Type: wire.TypeString}}}
	assert.Same(t, &table.Fields[1], table.Field("note"))
	assert.Nil(t, table.Field("Note"), "names are exact")
	assert.Equal(t, []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "note", Type: wire.TypeString}}, table.Columns())
}
