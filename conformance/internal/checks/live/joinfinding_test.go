package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// joinedOrders returns a join of orders with their customers, and its right answer.
func joinedOrders() (*wire.Table, *wire.QueryRequest, *oracle.Table) {
	base := &wire.Table{Name: "orders", PrimaryKey: []string{"id"}}
	req := &wire.QueryRequest{Table: "orders", Fields: []string{"state", "id", "amount"}, Joins: []wire.JoinHop{{
		FromTable: "orders", ToTable: "customers", FromField: "customer", ToField: "id",
		Fields: []wire.JoinField{{Field: "name", As: "h1_0"}, {Field: "id", As: "h1_1"}},
	}}}
	right := &oracle.Table{Columns: []wire.Column{
		{Name: "state", Type: wire.TypeString}, {Name: "id", Type: wire.TypeNumber}, {Name: "amount", Type: wire.TypeDecimal},
		{Name: "h1_0", Type: wire.TypeString, Hop: 1}, {Name: "h1_1", Type: wire.TypeNumber, Hop: 1},
	}, Rows: [][]wire.Value{
		{wire.Text("open"), wire.Int(1), wire.Decimal("1.50"), wire.Text("Ada"), wire.Int(7)},
		{wire.Text("open"), wire.Int(2), wire.Decimal("2.50"), wire.Null(), wire.Null()},
	}}
	return base, req, right
}

// TestDifferingColumns requires that the columns that differ are named, row by row of the
// key, in whatever order the rows came.
func TestDifferingColumns(t *testing.T) {
	tests := []struct {
		why    string
		change func(rows [][]wire.Value)
		want   []int
	}{
		{"no difference", func([][]wire.Value) {}, nil},
		{"rows in another order", func(rows [][]wire.Value) { rows[0], rows[1] = rows[1], rows[0] }, nil},
		{"a column of the base table", func(rows [][]wire.Value) { rows[1][2] = wire.Decimal("3") }, []int{2}},
		{"the match of another row", func(rows [][]wire.Value) { rows[1][3], rows[1][4] = wire.Text("Ada"), wire.Int(7) }, []int{3, 4}},
		{"a column of the hop has the name of the key, and is none", func(rows [][]wire.Value) { rows[0][4] = wire.Int(8) }, []int{4}},
		{"two rows with each other's values", func(rows [][]wire.Value) { rows[0][3], rows[1][3] = rows[1][3], rows[0][3] }, []int{3}},
	}
	for _, test := range tests {
		base, _, right := joinedOrders()
		_, _, got := joinedOrders()
		test.change(got.Rows)
		require.Equal(t, test.want, differingColumns(base, right, got), test.why)
	}
	_, _, right := joinedOrders()
	_, _, got := joinedOrders()
	got.Rows[1][4] = wire.Int(7)
	require.Equal(t, []int{4}, differingColumns(&wire.Table{Name: "orders"}, right, got),
		"without a key, all columns of the base tell rows apart")
}

// TestNarrowed requires that a join is asked for again with the key, what its filters and
// sort keys name, and the columns that differ.
func TestNarrowed(t *testing.T) {
	base, req, right := joinedOrders()
	small := narrowed(req, base, right, []int{3})
	require.Equal(t, []string{"id"}, small.Fields)
	require.Equal(t, []wire.JoinField{{Field: "name", As: "h1_0"}}, small.Joins[0].Fields)
	require.Len(t, req.Fields, 3, "the request itself stays")
	require.Len(t, req.Joins[0].Fields, 2)

	require.Equal(t, []string{"id", "amount"}, narrowed(req, base, right, []int{2}).Fields)
	require.Empty(t, narrowed(req, base, right, []int{2}).Joins[0].Fields)

	req.And = []wire.Filter{{Field: "state", Op: wire.OpIsNull}}
	require.Equal(t, []string{"state", "id"}, narrowed(req, base, right, []int{4}).Fields, "the platform may have to filter")
	req.Sort = []wire.SortKey{{Field: "amount", Dir: wire.Desc}}
	require.Equal(t, []string{"state", "id", "amount"}, narrowed(req, base, right, []int{4}).Fields, "and to sort")

	require.Nil(t, narrowed(req, base, right, nil), "nothing is known to differ")
	require.Nil(t, narrowed(req, base, right, []int{3, 4}), "it is no less")
	req.Or = [][]wire.Filter{{{Field: "amount", Op: wire.OpIsNull}}}
	require.Nil(t, narrowed(req, base, right, []int{4}), "groups of or stay as they are")
}

// TestColumnOf requires that a column of a hop is named as its table's.
func TestColumnOf(t *testing.T) {
	_, req, _ := joinedOrders()
	require.Equal(t, `"customers"."name"`, columnOf(req, "h1_0"))
	require.Equal(t, `"state"`, columnOf(req, "state"))
}
