package wire_test

import (
	"errors"
	"fmt"
	"io"
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

	assert.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(errors.Join(io.EOF, wrapped)))
	var null *wire.Error
	for _, none := range []error{nil, io.EOF, null, fmt.Errorf("reading: %w", null)} {
		assert.Empty(t, wire.CodeOf(none))
	}
}

func TestTable(t *testing.T) {
	table := wire.Table{Name: "orders", Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}, {Name: "note", Type: wire.TypeString}}}
	assert.Same(t, &table.Fields[1], table.Field("note"))
	assert.Nil(t, table.Field("Note"), "names are exact")
	assert.Equal(t, []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "note", Type: wire.TypeString}}, table.Columns())
}
