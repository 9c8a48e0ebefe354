package enginetest

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shardAsk is a question about a table orders, whose rows are on several servers by the
// column shop, and about a table whole with the same rows.
type shardAsk struct {
	why  string
	path string
	on   func(table string) wire.Request
	// byShard says that all rows of a group are on one server.
	byShard bool
}

// shardAsks returns a question of each kind.
func shardAsks(c *client) []shardAsk {
	envelope := c.envelope(60_000)
	byShop := []wire.GroupKey{{Field: "shop", As: "shop"}}
	byMonth := []wire.GroupKey{{Field: "placed_at", As: "month", Grain: wire.GrainMonth}}
	measures := []wire.Measure{
		{Fn: wire.AggCount, As: "n"},
		{Fn: wire.AggCount, Field: "amount", As: "priced"},
		{Fn: wire.AggSum, Field: "amount", As: "total"},
		{Fn: wire.AggMin, Field: "id", As: "first"},
		{Fn: wire.AggMax, Field: "day", As: "day"},
		{Fn: wire.AggMax, Field: "placed_at", As: "last"},
		{Fn: wire.AggMin, Field: "note", As: "note"},
	}
	expensive := wire.Filter{Field: "amount", Op: wire.OpGt, Value: wire.Text("10.5")}
	someShops := wire.Where{And: []wire.Filter{
		{Field: "shop", Op: wire.OpIn, Values: []wire.Value{wire.Int(2), wire.Int(3)}}, expensive,
	}}
	every := []string{"shop", "id", "amount", "day", "note", "placed_at"}
	groups := func(by []wire.GroupKey, where wire.Where) func(string) wire.Request {
		return func(table string) wire.Request {
			return &wire.AggregateRequest{
				Table: table, Where: where, GroupBy: by, Measures: measures, Limit: wire.AggregateLimit, Envelope: envelope,
			}
		}
	}
	return []shardAsk{
		{"groups by the key of the partitions", wire.PathAggregate, groups(byShop, wire.Where{}), true},
		{"groups by the key of the partitions, of some rows", wire.PathAggregate,
			groups(byShop, wire.Where{And: []wire.Filter{expensive}}), true},
		{"groups of one shard", wire.PathAggregate, groups(byShop, someShops), true},
		{"groups by another key", wire.PathAggregate, groups(byMonth, wire.Where{}), false},
		{"groups by a text, with distinct values", wire.PathAggregate, func(table string) wire.Request {
			return &wire.AggregateRequest{
				Table: table, Limit: wire.AggregateLimit, Envelope: envelope, GroupBy: []wire.GroupKey{{Field: "note", As: "note"}},
				Measures: []wire.Measure{{Fn: wire.AggCountDistinct, Field: "day", As: "days"}, {Fn: wire.AggSum, Field: "id", As: "sum"}},
			}
		}, false},
		{"distinct values of all rows", wire.PathAggregate, func(table string) wire.Request {
			return &wire.AggregateRequest{
				Table: table, Limit: 1, Envelope: envelope,
				Measures: []wire.Measure{{Fn: wire.AggCountDistinct, Field: "note", As: "notes"}, {Fn: wire.AggCount, As: "n"}},
			}
		}, false},
		{"measures of all rows", wire.PathAggregate, groups(nil, wire.Where{}), false},
		{"a count", wire.PathCount, func(table string) wire.Request {
			return &wire.CountRequest{Table: table, Where: someShops, Envelope: envelope}
		}, false},
		{"a size", wire.PathSize, func(table string) wire.Request {
			return &wire.SizeRequest{Table: table, Envelope: envelope}
		}, false},
		{"distinct values", wire.PathCardinality, func(table string) wire.Request {
			return &wire.CardinalityRequest{Table: table, Columns: every, Envelope: envelope}
		}, false},
		{"the first rows", wire.PathQuery, func(table string) wire.Request {
			return &wire.QueryRequest{
				Table: table, Where: someShops, Fields: every, Limit: 100, Envelope: envelope,
				Sort: []wire.SortKey{{Field: "note", Dir: wire.Desc}, {Field: "amount", Dir: wire.Asc}},
			}
		}, false},
	}
}

// answer returns the answer about a table.
func (ask shardAsk) answer(t *testing.T, c *client, table string) string {
	t.Helper()
	got, err := c.post(t.Context(), ask.path, ask.on(table))
	require.NoError(t, err)
	defer func() { require.NoError(t, got.Body.Close()) }()
	body, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.StatusCode, "%s", body)
	return string(body)
}

// same requires that the answers about both tables are the same.
func (ask shardAsk) same(t *testing.T, c *client) {
	t.Helper()
	want, got := ask.answer(t, c, "whole"), ask.answer(t, c, "orders")
	if ask.path != wire.PathAggregate {
		assert.Equal(t, want, got)
		return
	}
	var a, b struct{ Rows []map[string]any } // groups come in any order
	require.NoError(t, json.Unmarshal([]byte(want), &a))
	require.NoError(t, json.Unmarshal([]byte(got), &b))
	require.NotEmpty(t, a.Rows)
	assert.ElementsMatch(t, a.Rows, b.Rows)
}
