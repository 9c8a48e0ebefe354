package platform_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testToken = "platform-0123456789abcdef-0123456789"

// orders is a small table.
func orders() memsource.Table {
	return memsource.Table{
		Table: wire.Table{Name: "orders", StoresRows: true, PrimaryKey: []string{"id"}, Fields: []wire.Field{
			{Name: "id", Type: wire.TypeNumber, Unique: true},
			{Name: "amount", Type: wire.TypeDecimal, Nullable: true},
			{Name: "placed", Type: wire.TypeDatetime, Nullable: true},
		}},
		Rows: [][]wire.Value{
			{wire.Int(1), wire.Decimal("10.50"), wire.Null()},
			{wire.Int(2), wire.Null(), wire.Null()},
			{wire.Int(3), wire.Decimal("7.25"), wire.Null()},
		},
	}
}

// shop returns a connector of tables.
func shop(t *testing.T, tables ...memsource.Table) http.Handler {
	t.Helper()
	src, err := memsource.New(tables, nil)
	require.NoError(t, err)
	token, err := wire.NewToken(testToken)
	require.NoError(t, err)
	h, err := connector.New(connector.Definition{Slug: "shop"}, src, token,
		&connector.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return h
}

// connect returns a client of a handler.
func connect(t *testing.T, h http.Handler, opts platform.Options) *platform.Client {
	t.Helper()
	opts.HTTP = httpOf(t, h)
	c, err := platform.NewClient("https://connector.test", wire.NewBearer(testToken), &opts)
	require.NoError(t, err)
	return c
}

// TestRoutes asks every route of a good connector.
func TestRoutes(t *testing.T) {
	c := connect(t, shop(t, orders()), platform.Options{})
	ctx, none := t.Context(), wire.Credentials{}

	document, err := c.Document(ctx)
	require.NoError(t, err)
	require.Equal(t, "shop", document.Slug)
	require.NoError(t, c.Check(ctx, none))
	discovery, err := c.Discover(ctx, none)
	require.NoError(t, err)
	table := discovery.Tables[0]

	rows, err := c.Query(ctx, none, &wire.QueryRequest{Table: "orders", Fields: []string{"id", "amount", "placed"},
		Sort: []wire.SortKey{{Field: "amount", Dir: wire.Asc}}, Limit: 2}, table.Columns())
	require.NoError(t, err)
	require.Equal(t, wire.Served{Filters: true, Sort: true, Window: true}, rows.Served())
	var got []string
	for row, err := range rows.All() {
		require.NoError(t, err)
		got = append(got, row[0].String()+" "+row[1].String())
	}
	require.Equal(t, []string{"3 7.25", "1 10.50"}, got)

	n, err := c.Count(ctx, none, &wire.CountRequest{Table: "orders", Where: wire.Where{
		And: []wire.Filter{{Field: "amount", Op: wire.OpNotNull}}}})
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
	size, err := c.Size(ctx, none, "orders")
	require.NoError(t, err)
	require.Equal(t, &wire.Size{Rows: 3, Exact: true}, size)
	counts, err := c.Cardinality(ctx, none, "orders", []string{"id", "amount"})
	require.NoError(t, err)
	require.Equal(t, map[string]*wire.Cardinality{"id": {NonNull: 3, Distinct: 3}, "amount": {NonNull: 2, Distinct: 2}}, counts)
	rate, err := c.LinkHitRate(ctx, none, &wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "id", ToTable: "orders", ToColumn: "id"})
	require.NoError(t, err)
	require.Equal(t, int64(3), rate.FromNonNull)
	groups, declined, err := c.Aggregate(ctx, none, &wire.AggregateRequest{Table: "orders", Limit: wire.AggregateLimit,
		Measures: []wire.Measure{{Fn: wire.AggSum, Field: "amount", As: "total"}, {Fn: wire.AggCount, As: "n"}}},
		[]wire.Column{{Name: "n"}, {Name: "total"}})
	require.NoError(t, err)
	require.False(t, declined)
	require.Equal(t, "3", groups[0][0].String())
	require.Equal(t, "17.75", groups[0][1].String())
}
