//go:build unix

package enginetest

import (
	"cmp"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
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
	file := newSQLite(b, script(b, "bench_sqlite"))
	measure("sqlite", reader(b, file))
	server := newPostgres(b)
	server.execute(b, script(b, "bench_postgres"))
	measure("postgres", &server.database)
	measure("pgxrows", server.with(pgxrows.PostgreSQL()))
}

// measureConnector measures scan, an answer with all rows, against the driver's own
// reading of them; and top100, count and groups, answers from all rows against
// answers by the engine.
func measureConnector(b *testing.B, db *database) {
	const every = "SELECT * FROM orders"
	require.Equal(b, 1_000_000, situation.ReadAll(b, db.DB, every))
	envelope := wire.Envelope{Credentials: db.tenant(), TimeoutMS: 600_000}
	whole := &wire.QueryRequest{
		Table: "orders", Envelope: envelope,
		Fields: []string{"id", "uuid", "name", "email", "status", "amount", "qty", "price", "active", "created_at", "note", "region"},
	}
	measure := func(name string, source *sqlsource.Source, path string, request wire.Request, native func()) {
		b.Run(name, func(b *testing.B) { sqlsourcetest.Benchmark(b, source, db.tenant(), path, request, native) })
	}
	measure("scan", db.source(b, nil), wire.PathQuery, whole, func() { situation.ReadAll(b, db.DB, every) })
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
	pushed := db.asked(b, nil)
	pushing := func(path string, message wire.Request) func() {
		return func() { require.Equal(b, http.StatusOK, pushed.Post(b, path, message).Code) }
	}
	unpushed := db.with(noPushdown(db.flavor)).source(b, nil)
	measure("top100", unpushed, wire.PathQuery, &top, pushing(wire.PathQuery, &top))
	measure("count", unpushed, wire.PathCount, count, pushing(wire.PathCount, count))
	measure("groups", unpushed, wire.PathQuery, &some, pushing(wire.PathAggregate, groups))
}

// noPushdown returns a flavor that pushes nothing, so that the library does everything.
func noPushdown(f sqlengine.Flavor) sqlengine.Flavor {
	return withColumn(f, func(_ string, _ sqlengine.CatalogColumn, c *sqlengine.Column) {
		*c = sqlengine.Column{Type: c.Type, Cell: c.Cell, Decode: c.Decoder(), Raw: c.Raw, Valid: c.Valid, Tie: cmp.Or(c.Tie, c.Key)}
	})
}
