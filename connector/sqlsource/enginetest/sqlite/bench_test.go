//go:build unix

package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The table has the twelve columns of examples/bench, and about as many bytes in
// a row.
const (
	benchRows  = 1_000_000
	benchTable = `
CREATE TABLE orders (id INTEGER PRIMARY KEY, uuid UUID, name TEXT, email TEXT, status TEXT, amount DECIMAL_TEXT, qty INTEGER, price REAL,
  active BOOLEAN, created_at DATETIME, note TEXT, region TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
INSERT INTO orders SELECT i, printf('%08x-%04x-4%03x-8%03x-%012x', i * 2654435761 % 4294967296, i % 65536, i % 4096, i % 4096, i * 7919),
  'Ada Lovelace ' || i % 64, 'lovelace.' || i * 7919 % 100000 || '@mail.example.com',
  rtrim(substr('open    paid    shippedreturned', 1 + 8 * (i % 4), 8)),
  printf('%d.%02d', i * 7919 % 100000, i % 100), i * 31 % 200, (i * 7907 % 10000000) / 100.0, i % 4 <> 0,
  strftime('%Y-%m-%dT%H:%M:%SZ', 1704067200 + i * 43, 'unixepoch'), 'Please leave the parcel with the neighbour, number ' || i % 8,
  CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN 'north' WHEN 2 THEN 'south' WHEN 3 THEN 'east' ELSE 'west' END FROM n`
)

// BenchmarkConnector measures a whole answer of a million rows against the
// driver's bare scan of the same rows, and push-down against answering from all
// rows.
//
//	go test -run '^$' -bench Connector -benchtime 1x .
func BenchmarkConnector(b *testing.B) {
	file := filepath.Join(b.TempDir(), "bench.sqlite")
	open(b, file, benchTable)
	db := open(b, "file:"+file+"?mode=ro&_pragma=query_only(1)", "")
	source := func(f sqlsource.Flavor) (*sqlsource.Source, error) { return sqlsource.New(db, f, nil) }
	sqlsourcetest.Benchmark(b, source, sqlsource.SQLite(), wire.Credentials{}, func() { scan(b, db) })
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
