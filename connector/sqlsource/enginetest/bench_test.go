//go:build unix

package enginetest

import (
	"cmp"
	"net/http"
	"os"
	"strings"
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
	asked := func(line string) (string, wire.Request) {
		r := request(line)
		return r.Path(), r.As(b, db.credentials)
	}
	const all = `"table": "orders", "fields": ["id", "uuid", "name", "email", "status", "amount", "qty", "price", "active", "created_at",
		"note", "region"], "timeoutMs": 600000`
	measure := func(name string, source *sqlsource.Source, line string, native func()) {
		path, message := asked(line)
		b.Run(name, func(b *testing.B) { sqlsourcetest.Benchmark(b, source, db.tenant(), path, message, native) })
	}
	measure("scan", db.source(b, nil), "query {"+all+"}", func() { situation.ReadAll(b, db.DB, every) })
	pushed, unpushed := db.asked(b, nil), db.with(withColumn(db.flavor, func(_ string, _ sqlengine.CatalogColumn, c *sqlengine.Column) {
		*c = sqlengine.Column{Type: c.Type, Cell: c.Cell, Decode: c.Decoder(), Raw: c.Raw, Valid: c.Valid, Tie: cmp.Or(c.Tie, c.Key)}
	})).source(b, nil) // the library does everything
	pushing := func(line string) func() {
		path, message := asked(line)
		return func() { require.Equal(b, http.StatusOK, pushed.Post(b, path, message).Code) }
	}
	top := "query {" + all + `, "sort": [{"field": "qty", "dir": "desc"}], "limit": 100}`
	measure("top100", unpushed, top, pushing(top))
	const count = `count {"table": "orders", "and": [{"field": "status", "op": "eq", "value": "paid"},
		{"field": "qty", "op": "gt", "value": 100}], "timeoutMs": 600000}`
	measure("count", unpushed, count, pushing(count))
	// The platform folds groups that are declined from the rows. Reading these is
	// the least it has to do.
	measure("groups", unpushed, `query {"table": "orders", "fields": ["region", "qty"], "timeoutMs": 600000}`,
		pushing(`aggregate {"table": "orders", "groupBy": [{"field": "region", "as": "region"}], "timeoutMs": 600000,
			"measures": [{"fn": "count", "as": "n"}, {"fn": "sum", "field": "qty", "as": "sum"}]}`))
}

// BenchmarkSpeed measures the requests of testdata/speed.txtar, which an index serves, joins, links and
// measurements, against the same asked of the driver. The table events has SQLSOURCE_ROWS rows,
// places and visits have 100,000.
//
//	go test -run '^$' -bench Speed/postgres -benchtime 1x .
func BenchmarkSpeed(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			db := e.plain(b)
			size := strings.NewReplacer("ROWS", cmp.Or(os.Getenv("SQLSOURCE_ROWS"), "1000000"), "LINKS", "100000")
			db.execute(b, size.Replace(script(b, "speed_"+e.name)))
			db = reader(b, db)
			situation.Benchmark(b, "testdata/speed.txtar", db.source(b, nil), db.credentials,
				strings.NewReplacer("{month}", e.month), db.DB)
		})
	}
}

// reader returns a database as one who only reads it opens it.
func reader(b *testing.B, db *database) *database {
	b.Helper()
	if file, ok := db.driver.(fileConnector); ok {
		return openSQLite(b, "file:"+file.name+"?mode=ro&_pragma=query_only(1)", "")
	}
	return db
}
