//go:build unix

package enginetest

import (
	"net/http"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
	"github.com/stretchr/testify/require"
)

// BenchmarkConnector measures a whole answer of a million rows against the
// driver's bare scan of the same rows, and push-down against answering from all
// rows; for PostgreSQL also with the rows of package pgxrows. The table has the
// twelve columns of examples/bench, and about as many bytes in a row.
//
//	go test -run '^$' -bench Connector -benchtime 1x .
func BenchmarkConnector(b *testing.B) {
	measure := func(name string, db *database) {
		b.Run(name, func(b *testing.B) { measureConnector(b, db) })
	}
	file := newSQLite(b, `
CREATE TABLE orders (id INTEGER PRIMARY KEY, uuid UUID, name TEXT, email TEXT, status TEXT, amount DECIMAL_TEXT, qty INTEGER, price REAL,
  active BOOLEAN, created_at DATETIME, note TEXT, region TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
INSERT INTO orders SELECT i, printf('%08x-%04x-4%03x-8%03x-%012x', i * 2654435761 % 4294967296, i % 65536, i % 4096, i % 4096, i * 7919),
  'Ada Lovelace ' || i % 64, 'lovelace.' || i * 7919 % 100000 || '@mail.example.com',
  rtrim(substr('open    paid    shippedreturned', 1 + 8 * (i % 4), 8)),
  printf('%d.%02d', i * 7919 % 100000, i % 100), i * 31 % 200, (i * 7907 % 10000000) / 100.0, i % 4 <> 0,
  strftime('%Y-%m-%dT%H:%M:%SZ', 1704067200 + i * 43, 'unixepoch'), 'Please leave the parcel with the neighbour, number ' || i % 8,
  CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN 'north' WHEN 2 THEN 'south' WHEN 3 THEN 'east' ELSE 'west' END FROM n`)
	measure("sqlite", reader(b, file))
	server := newPostgres(b)
	server.execute(b, `
CREATE TABLE orders (id bigint PRIMARY KEY, uuid uuid, name text, email text, status text, amount numeric(12,2), qty bigint, price float8,
  active boolean, created_at timestamptz(0), note text, region text);
INSERT INTO orders SELECT i, md5(i::text)::uuid, 'Ada Lovelace ' || i % 64, 'lovelace.' || i * 7919 % 100000 || '@mail.example.com',
  (ARRAY['open', 'paid', 'shipped', 'returned'])[1 + i % 4], (i * 7919 % 10000000) / 100.0, i * 31 % 200,
  (i * 7907 % 10000000) / 100.0, i % 4 <> 0,
  to_timestamp(1704067200 + i * 43), 'Please leave the parcel with the neighbour, number ' || i % 8,
  (ARRAY['north', 'south', 'east', 'west'])[i % 5] FROM generate_series(1::bigint, 1000000) AS i;
ANALYZE orders`)
	measure("postgres", &server.database)
	measure("pgxrows", server.with(pgxrows.PostgreSQL()))
}

// measureConnector measures scan, an answer with all rows, against the driver's own
// reading of them; and top100, count and groups, answers from all rows against
// answers by the engine.
func measureConnector(b *testing.B, db *database) {
	const every = "SELECT * FROM orders"
	require.Equal(b, 1_000_000, readAll(b, db.DB, every))
	envelope := wire.Envelope{Credentials: db.tenant(), TimeoutMS: 600_000}
	whole := &wire.QueryRequest{
		Table: "orders", Envelope: envelope,
		Fields: []string{"id", "uuid", "name", "email", "status", "amount", "qty", "price", "active", "created_at", "note", "region"},
	}
	measure := func(name string, source *sqlsource.Source, path string, request wire.Request, native func()) {
		b.Run(name, func(b *testing.B) { sqlsourcetest.Benchmark(b, source, db.tenant(), path, request, native) })
	}
	measure("scan", db.source(b, nil), wire.PathQuery, whole, func() { readAll(b, db.DB, every) })
	top := *whole
	top.Sort, top.Limit = []wire.SortKey{{Field: "qty", Dir: wire.Desc}}, 100
	count := &wire.CountRequest{Table: "orders", Envelope: envelope, Where: wire.Where{And: []wire.Filter{
		{Field: "status", Op: wire.OpEq, Value: wire.Text("paid")}, {Field: "qty", Op: wire.OpGt, Value: wire.Int(100)},
	}}}
	// The platform folds groups that are declined from the rows. Reading these is
	// the least it has to do.
	some := *whole
	some.Fields = []string{"region", "qty"}
	groups := &wire.AggregateRequest{
		Table: "orders", GroupBy: []wire.GroupKey{{Field: "region", As: "region"}},
		Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}, {Fn: wire.AggSum, Field: "qty", As: "sum"}},
		Limit:    wire.AggregateLimit, Envelope: envelope,
	}
	pushed := db.handler(b, nil)
	pushing := func(path string, message wire.Request) func() {
		return func() { require.Equal(b, http.StatusOK, serve(b, pushed, path, message).Code) }
	}
	unpushed := db.with(noPushdown{db.flavor}).source(b, nil)
	measure("top100", unpushed, wire.PathQuery, &top, pushing(wire.PathQuery, &top))
	measure("count", unpushed, wire.PathCount, count, pushing(wire.PathCount, count))
	measure("groups", unpushed, wire.PathQuery, &some, pushing(wire.PathAggregate, groups))
}

// noPushdown is a flavor that pushes nothing, so that the library does everything.
type noPushdown struct{ sqlengine.Flavor }

func (f noPushdown) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	all := f.Flavor.Column(ref, c)
	tie := all.Tie
	if tie == "" {
		tie = all.Key
	}
	return sqlengine.Column{Type: all.Type, Cell: all.Cell, Decode: all.Decoder(), Raw: all.Raw, Valid: all.Valid, Tie: tie}
}
