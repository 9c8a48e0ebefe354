//go:build unix

package postgres

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The table has the twelve columns of examples/bench, and about as many bytes in
// a row.
const (
	benchRows  = 1_000_000
	benchTable = `
CREATE TABLE orders (id bigint PRIMARY KEY, uuid uuid, name text, email text, status text, amount numeric(12,2), qty bigint, price float8,
  active boolean, created_at timestamptz(0), note text, region text);
INSERT INTO orders SELECT i, md5(i::text)::uuid, 'Ada Lovelace ' || i % 64, 'lovelace.' || i * 7919 % 100000 || '@mail.example.com',
  (ARRAY['open', 'paid', 'shipped', 'returned'])[1 + i % 4], (i * 7919 % 10000000) / 100.0, i * 31 % 200,
  (i * 7907 % 10000000) / 100.0, i % 4 <> 0,
  to_timestamp(1704067200 + i * 43), 'Please leave the parcel with the neighbour, number ' || i % 8,
  (ARRAY['north', 'south', 'east', 'west'])[i % 5] FROM generate_series(1::bigint, 1000000) AS i;
ANALYZE orders`
)

// BenchmarkConnector measures a whole answer of a million rows against the
// driver's bare scan of the same rows, and push-down against answering from all
// rows; and the former again with the rows of package pgxrows.
//
//	go test -run '^$' -bench Connector -benchtime 1x .
func BenchmarkConnector(b *testing.B) {
	db, own := database(b)
	_, err := db.Exec(benchTable)
	require.NoError(b, err)
	source := func(f sqlsource.Flavor) (*sqlsource.Source, error) {
		return sqlsource.NewPerTenant(opener(own), f, nil)
	}
	for name, flavor := range map[string]sqlsource.Flavor{"sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
		b.Run(name, func(b *testing.B) {
			sqlsourcetest.Benchmark(b, source, flavor, wire.NewCredentials(credentials(own)), func() { scan(b, db) })
		})
	}
}

// scan reads all rows as database/sql returns them.
func scan(b *testing.B, db *sql.DB) {
	rows, err := db.Query("SELECT * FROM orders")
	require.NoError(b, err)
	defer func() { require.NoError(b, rows.Close()) }()
	values := make([]any, len(sqlsourcetest.BenchFields))
	for i := range values {
		values[i] = new(any)
	}
	n := 0
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			b.Fatal(err)
		}
		n++
	}
	require.NoError(b, rows.Err())
	require.Equal(b, benchRows, n)
}
