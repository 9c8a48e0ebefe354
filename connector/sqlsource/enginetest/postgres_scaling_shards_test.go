package enginetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// recorder records the last statement that a connector has sent to a server.
type recorder struct {
	mu   sync.Mutex
	sql  string
	args []any
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "orders") {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sql, r.args = data.SQL, data.Args
	}
	return ctx
}

func (*recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// sharded creates, as the example's SCALING.md says, a table orders that is partitioned by shop
// over two further databases, and a table whole with the same rows.
func sharded(t *testing.T) *postgresDatabase {
	t.Helper()
	db := newPostgres(t)
	const columns = `(shop bigint NOT NULL, id bigint NOT NULL, amount numeric(10,2), day date, note text COLLATE "C",
		placed_at timestamptz NOT NULL)`
	var without bool
	require.NoError(t, db.QueryRow(`SELECT NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw')`).Scan(&without))
	if without {
		missing(t, "the server has no postgres_fdw; install its contrib package to enable this test")
	}
	db.execute(t, `CREATE EXTENSION postgres_fdw; CREATE TABLE orders `+columns+` PARTITION BY LIST (shop)`)
	for i, shops := range []string{"1, 2, 3", "4, 5"} {
		shard := newPostgres(t)
		at := shard.config
		shard.execute(t, `CREATE TABLE orders `+columns)
		db.execute(t, fmt.Sprintf(`
			CREATE SERVER shard%[1]d FOREIGN DATA WRAPPER postgres_fdw
				OPTIONS (host '%[2]s', port '%[3]d', dbname '%[4]s', fetch_size '5000', async_capable 'true');
			CREATE USER MAPPING FOR CURRENT_USER SERVER shard%[1]d OPTIONS (user '%[5]s', password '%[6]s');
			CREATE FOREIGN TABLE orders_%[1]d PARTITION OF orders FOR VALUES IN (%[7]s) SERVER shard%[1]d OPTIONS (table_name 'orders')`,
			i, at.Host, at.Port, at.Database, at.User, strings.ReplaceAll(at.Password, "'", "''"), shops))
	}
	db.execute(t, `CREATE TABLE whole `+columns)
	db.execute(t, `INSERT INTO whole SELECT 1 + n % 5, n, CASE WHEN n % 11 > 0 THEN n * 37 % 100000 / 100.0 END,
		date '2024-01-01' + n % 100, CASE n % 3 WHEN 0 THEN 'Ä' WHEN 1 THEN 'a' END,
		timestamptz '2024-01-01 00:00:00Z' + n * interval '1 hour' FROM generate_series(1, 5000) AS n`)
	db.execute(t, `INSERT INTO orders SELECT * FROM whole; ANALYZE orders`)
	db.execute(t, `ALTER DATABASE `+db.config.Database+` SET enable_partitionwise_aggregate = on`)
	return db
}

// TestPostgresShards has aggregates computed by the shards, and compares every answer
// with that of the table in one piece.
func TestPostgresShards(t *testing.T) {
	t.Parallel()
	db := sharded(t)
	asked := &recorder{}
	c := db.as(t, func(c *pgx.ConnConfig) { c.Tracer = asked }).client(t)
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
	for _, ask := range []struct {
		why    string
		path   string
		on     func(table string) wire.Request
		pushed bool // to the shards, as aggregates
	}{
		{"groups by the key of the partitions", wire.PathAggregate, groups(byShop, wire.Where{}), true},
		{"groups by the key of the partitions, of some rows", wire.PathAggregate,
			groups(byShop, wire.Where{And: []wire.Filter{expensive}}), true},
		{"groups of one shard", wire.PathAggregate, groups(byShop, someShops), true},
		{"groups by another key", wire.PathAggregate, groups(byMonth, wire.Where{}), false},
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
	} {
		t.Run(ask.why, func(t *testing.T) {
			answer := func(table string) string {
				got, err := c.post(t.Context(), ask.path, ask.on(table))
				require.NoError(t, err)
				defer func() { require.NoError(t, got.Body.Close()) }()
				body, err := io.ReadAll(got.Body)
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, got.StatusCode, "%s", body)
				return string(body)
			}
			want, got := answer("whole"), answer("orders")
			if ask.path == wire.PathAggregate { // groups come in any order
				var a, b struct{ Rows []map[string]any }
				require.NoError(t, json.Unmarshal([]byte(want), &a))
				require.NoError(t, json.Unmarshal([]byte(got), &b))
				require.NotEmpty(t, a.Rows)
				assert.ElementsMatch(t, a.Rows, b.Rows)
			} else {
				assert.Equal(t, want, got)
			}
			if !ask.pushed {
				return
			}
			plan := explain(t, db.DB, asked)
			assert.Contains(t, plan, "Relations: Aggregate on ", plan)
			assert.Regexp(t, `Remote SQL: SELECT .*count\(\*\).* GROUP BY `, plan)
			const aggregate = `(?m)^ *(Group|Hash|Mixed|Partial|Finalize)? ?(Hash|Group)?Aggregate`
			assert.NotRegexp(t, aggregate, plan, "the server in front aggregates nothing")
		})
	}
}

// explain returns the plan of the last statement, in a session of its own.
func explain(t *testing.T, db *sql.DB, asked *recorder) string {
	t.Helper()
	asked.mu.Lock()
	defer asked.mu.Unlock()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	_, err = conn.ExecContext(t.Context(), `SET enable_partitionwise_aggregate = on`)
	require.NoError(t, err)
	return strings.Join(linesOf(t, conn, "", `EXPLAIN (VERBOSE, COSTS OFF) `+asked.sql, asked.args...), "\n")
}
