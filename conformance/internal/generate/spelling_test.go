package generate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestOrderSettled(t *testing.T) {
	tests := []struct {
		kind  wire.Type
		cells []string
		want  bool
		why   string
	}{
		{wire.TypeDate, []string{"2024-02-29", "1999-12-31"}, true, "one spelling, so that bytes are time"},
		{wire.TypeDatetime, []string{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.5Z"}, false, "a dot sorts before Z"},
		{wire.TypeDatetime, []string{"2024-02-29T00:00:00+02:00", "2024-02-29T00:00:00+01:00"}, false, "offsets"},
		{wire.TypeDate, []string{"29.02.2024"}, false, "no instant"},
		{wire.TypeString, []string{"a", "2024"}, true, "texts are bytes in any reading"},
	}
	for _, test := range tests {
		table := &oracle.Table{Name: "t", Columns: []wire.Column{{Name: "c", Type: test.kind}}, Rows: [][]wire.Value{{wire.Null()}}}
		for _, cell := range test.cells {
			table.Rows = append(table.Rows, []wire.Value{wire.Text(cell)})
		}
		require.Equal(t, test.want, OrderSettled(table, 0), "%s %q: %s", test.kind, test.cells, test.why)
	}
}
