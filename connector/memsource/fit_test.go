package memsource_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestCellsFitTheirColumns gives New cells that are no values of the type which the author
// stated. The fault names table, row and field, and never quotes the cell.
func TestCellsFitTheirColumns(t *testing.T) {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		typ  wire.Type
		cell wire.Value
		want string // "" fits
	}{
		{wire.TypeNumber, wire.Text("1,50"), "is no number"},
		{wire.TypeNumber, wire.Text("1e3"), "is no number"},
		{wire.TypeNumber, wire.Bool(true), "is no number"},
		{wire.TypeNumber, wire.Text("1.50"), ""},
		{wire.TypeNumber, wire.Decimal("1.50"), ""},
		{wire.TypeNumber, wire.Null(), ""},
		{wire.TypeDecimal, wire.Text(""), "is no number"},
		{wire.TypeBoolean, wire.Text("yes"), "is no boolean"},
		{wire.TypeBoolean, wire.Int(1), "is no boolean"},
		{wire.TypeBoolean, wire.Text("true"), ""},
		{wire.TypeDate, wire.Text("yesterday"), "is no date"},
		{wire.TypeDate, wire.Text("2024-02-30"), "is no date"},
		{wire.TypeDate, wire.Int(20240229), "is no date"},
		{wire.TypeDate, wire.Text("2024-02-29"), ""},
		{wire.TypeDate, wire.Date(noon), ""},
		{wire.TypeDatetime, wire.Text("yesterday"), "is no instant in UTC"},
		{wire.TypeDatetime, wire.Text("2024-02-29T12:00:00"), "is no instant in UTC"},
		{wire.TypeDatetime, wire.Text("2024-02-29T12:00:00+01:00"), "is no instant in UTC"},
		{wire.TypeDatetime, wire.Text("2024-02-29"), "is no instant in UTC"},
		{wire.TypeDatetime, wire.Text("2024-02-29T12:00:00.Z"), "is no instant in UTC"},
		{wire.TypeDatetime, wire.Text("2024-02-29T12:00:00.125Z"), ""},
		{wire.TypeDatetime, wire.Datetime(noon), ""},
		{wire.TypeJSON, wire.Text("{a:1}"), "is no JSON text"},
		{wire.TypeJSON, wire.Text(`{"a":1}`), ""},
		{wire.TypeArray, wire.Text(`{"a":1}`), "is no JSON text of an array"},
		{wire.TypeArray, wire.Text(`["a"]`), ""},
		{wire.TypeString, wire.Int(1), ""},
		{"", wire.Text("yesterday"), ""},
	} {
		_, err := memsource.New([]memsource.Table{{
			Table: wire.Table{Name: "t", Fields: []wire.Field{{Name: "n"}, {Name: "f", Type: c.typ}}},
			Rows:  [][]wire.Value{{wire.Int(1), wire.Null()}, {wire.Int(2), c.cell}},
		}}, nil)
		if c.want == "" {
			require.NoError(t, err, "%s %v", c.typ, c.cell)
			continue
		}
		require.ErrorContains(t, err, `table "t": rows[1]: field "f" of type `+string(c.typ)+": the cell "+c.want, "%s %v", c.typ, c.cell)
		if text := c.cell.Text(); c.cell.Kind() == wire.KindText && text != "" {
			assert.NotContains(t, err.Error(), text)
		}
	}
}
