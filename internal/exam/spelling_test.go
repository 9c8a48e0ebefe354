package exam

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestColumns says of which columns a sort or a group is worth asking for first: of those whose values differ
// from most careless orders and keys.
func TestColumns(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/columns.tsv", 6) {
		table := &oracle.Table{Name: "t", Columns: []wire.Column{{Name: "c", Type: wire.Type(c[0])}}}
		for _, v := range cells.Row(t, c[1]) {
			table.Rows = append(table.Rows, []wire.Value{v})
		}
		for i, got := range []any{OrderSettled(table, 0), OrderTells(table, 0), GroupTells(table, 0)} {
			if want := c[2+i]; want != "-" {
				require.Equal(t, want, fmt.Sprint(got), c[5])
			}
		}
	}
}

// TestLaterOrderTells counts the same where the first key ties.
func TestLaterOrderTells(t *testing.T) {
	table := &oracle.Table{Columns: []wire.Column{{Name: "first", Type: wire.TypeString}, {Name: "c", Type: wire.TypeNumber}}}
	add := func(first string, v wire.Value) { table.Rows = append(table.Rows, []wire.Value{wire.Text(first), v}) }
	add("a", wire.Int(9))
	add("b", wire.Int(10))
	require.Zero(t, LaterOrderTells(table, []int{0}, 1), "no two rows tie")
	add("b", wire.Null())
	require.Equal(t, 2, LaterOrderTells(table, []int{0}, 1), "a null ties with a value")
	add("a", wire.Int(10))
	require.Equal(t, 3, LaterOrderTells(table, []int{0}, 1), "and 9 with 10")
}
