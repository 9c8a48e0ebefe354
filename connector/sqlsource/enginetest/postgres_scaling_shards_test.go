package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	traced := db.as(t, func(c *pgx.ConnConfig) { c.Tracer = asked })
	askShards(t, &traced.database, func(t *testing.T, section string, _ func()) {
		if section != "grouped" {
			return
		}
		plan := explain(t, db.DB, asked)
		assert.Contains(t, plan, "Relations: Aggregate on ", plan)
		assert.Regexp(t, `Remote SQL: SELECT .*count\(\*\).* GROUP BY `, plan)
		const aggregate = `(?m)^ *(Group|Hash|Mixed|Partial|Finalize)? ?(Hash|Group)?Aggregate`
		assert.NotRegexp(t, aggregate, plan, "the server in front aggregates nothing")
	})
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
