package memsource_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Short spellings for tables of cases.
var (
	null = wire.Null()
	num  = wire.Int
	dec  = wire.Decimal
	text = wire.Text
)

func row(cells ...wire.Value) []wire.Value { return cells }

var errUpstream = errors.New("the upstream hung up")

// spelled returns rows as JSON cells, for comparing.
func spelled(t *testing.T, rows [][]wire.Value) []string {
	t.Helper()
	list := []string{}
	for _, r := range rows {
		line := ""
		for i, v := range r {
			if i > 0 {
				line += " "
			}
			cell, err := v.MarshalJSON()
			require.NoError(t, err)
			line += string(cell)
		}
		list = append(list, line)
	}
	return list
}

// refused asserts a deliberate error.
func refused(t *testing.T, err error, code wire.Code, mentions string) {
	t.Helper()
	var e *wire.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code)
	assert.Contains(t, e.Message, mentions)
}

func of(fn wire.AggFunc, field string) []wire.Measure {
	return []wire.Measure{{Fn: fn, Field: field, As: "m"}}
}

// staff returns a table that refers to itself and to places.
func staff() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString},
			{Name: "boss", Type: wire.TypeNumber}, {Name: "home", Type: wire.TypeString}, {Name: "work", Type: wire.TypeString}},
		Rows: relation.RowsOf(
			row(num(1), text("Ada"), null, text("Rome"), text("Oslo")),
			row(num(2), text("Bo"), dec("1.0"), text("Oslo"), text("Oslo")),
			row(num(3), text("Cy"), num(2), text("Atlantis"), null),
			row(num(4), text("Di"), num(9), null, null),
		),
	}
}

// places returns a table with two rows for Oslo, and one without a name.
func places() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "town", Type: wire.TypeString}, {Name: "land", Type: wire.TypeString}},
		Rows: relation.RowsOf(row(text("Oslo"), text("NO")), row(text("Rome"), text("IT")), row(null, text("?")),
			row(text("Oslo"), text("no"))),
	}
}

func lands() relation.Relation {
	return relation.Relation{
		Columns: []wire.Column{{Name: "code", Type: wire.TypeString}, {Name: "full", Type: wire.TypeString}},
		Rows:    relation.RowsOf(row(text("NO"), text("Norway")), row(text("IT"), text("Italy"))),
	}
}
