//go:build unix

package enginetest

import (
	"database/sql"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// linkRows is how many rows each of the tables places and visits has.
const linkRows = 100_000

// BenchmarkSpeed measures requests that an index serves, joins, links and
// measurements against the same asked of the driver.
//
// The table events (id, day, moment, amount, label, rank, a to h) has a million
// rows, or SQLSOURCE_ROWS, and an index on all but a to h; places (code, id, name)
// has unique columns code and id; visits (id, code, place) leads to it; files (id,
// body) has one row of 5 MB.
//
//	go test -run '^$' -bench Speed/postgres -benchtime 1x .
func BenchmarkSpeed(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			db := e.plain(b)
			size := strings.NewReplacer("ROWS", setting("SQLSOURCE_ROWS", "1000000"), "LINKS", strconv.Itoa(linkRows))
			db.execute(b, size.Replace(script(b, "speed_"+e.name)))
			db = reader(b, db)
			measureSpeed(b, db.source(b, nil), db.tenant(), db.DB, e.month)
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

// measureSpeed measures a source of the tables against the driver. month is how the
// engine's own SQL says in which month an event's moment is.
func measureSpeed(b *testing.B, source *sqlsource.Source, credentials wire.Credentials, db *sql.DB, month string) {
	envelope := wire.Envelope{Credentials: credentials, TimeoutMS: 600_000}
	measure := func(name, path string, request wire.Request, native string) {
		b.Run(name, func(b *testing.B) {
			sqlsourcetest.Benchmark(b, source, credentials, path, request, func() { readAll(b, db, native) })
		})
	}
	events := func(fields ...string) *wire.QueryRequest {
		return &wire.QueryRequest{Table: "events", Fields: fields, Envelope: envelope}
	}
	for _, column := range []string{"day", "moment", "amount", "label", "rank"} {
		for dir, words := range map[wire.Direction]string{wire.Asc: "", wire.Desc: " DESC"} {
			q := events("id", column)
			q.Sort, q.Limit = []wire.SortKey{{Field: column, Dir: dir}}, 10
			native := "SELECT id, " + column + " FROM events WHERE " + column + " IS NOT NULL ORDER BY " + column + words + " LIMIT 10"
			measure("top10/"+column+"/"+string(dir), wire.PathQuery, q, native)
		}
	}
	beyond := events("id", "label")
	beyond.And = []wire.Filter{{Field: "label", Op: wire.OpGt, Value: wire.Text("label 999990")}}
	measure("gt/label", wire.PathQuery, beyond, "SELECT id, label FROM events WHERE label > 'label 999990'")
	day := events("id", "moment")
	day.And = []wire.Filter{
		{Field: "moment", Op: wire.OpGte, Value: wire.Text("2024-03-01T00:00:00Z")},
		{Field: "moment", Op: wire.OpLt, Value: wire.Text("2024-03-02T00:00:00Z")},
	}
	measure("day/moment", wire.PathQuery, day,
		"SELECT id, moment FROM events WHERE moment >= '2024-03-01 00:00:00' AND moment < '2024-03-02 00:00:00'")
	for _, begin := range []string{"2024-01-02", "2024-02-06", "2024-07-01", "2024-12-01"} { // of a year
		page := events("id", "moment")
		page.And = []wire.Filter{{Field: "moment", Op: wire.OpGte, Value: wire.Text(begin + "T00:00:00Z")}}
		page.Sort, page.Limit = []wire.SortKey{{Field: "moment", Dir: wire.Asc}}, 1000
		measure("page/"+begin, wire.PathQuery, page,
			"SELECT id, moment FROM events WHERE moment >= '"+begin+" 00:00:00' ORDER BY moment, id LIMIT 1000")
	}
	for _, column := range []string{"moment", "day", "rank", "label"} {
		latest := &wire.AggregateRequest{
			Table: "events", GroupBy: []wire.GroupKey{}, Limit: wire.AggregateLimit, Envelope: envelope,
			Measures: []wire.Measure{{Fn: wire.AggMax, Field: column, As: "latest"}},
		}
		measure("max/"+column, wire.PathAggregate, latest, "SELECT MAX("+column+") FROM events")
	}
	sum := &wire.AggregateRequest{
		Table: "events", GroupBy: []wire.GroupKey{}, Limit: wire.AggregateLimit, Envelope: envelope,
		Measures: []wire.Measure{{Fn: wire.AggSum, Field: "amount", As: "sum"}},
	}
	measure("sum/amount", wire.PathAggregate, sum, "SELECT SUM(amount) FROM events")
	for _, key := range [][2]string{{"code", "code"}, {"place", "id"}} {
		joined := &wire.QueryRequest{
			Table: "visits", Fields: []string{"id"}, Envelope: envelope,
			Joins: []wire.JoinHop{{
				FromTable: "visits", ToTable: "places", FromField: key[0], ToField: key[1],
				Fields: []wire.JoinField{{Field: "name", As: "name"}},
			}},
		}
		native := " FROM visits LEFT JOIN places ON visits." + key[0] + " = places." + key[1]
		measure("join/"+key[0], wire.PathQuery, joined, "SELECT visits.id, places.name"+native)
		link := &wire.LinkHitRateRequest{
			FromTable: "visits", ToTable: "places", FromColumn: key[0], ToColumn: key[1], Envelope: envelope,
		}
		measure("link/"+key[0], wire.PathLinkHitRate, link, "SELECT COUNT(visits."+key[0]+"), COUNT(places."+key[1]+")"+native)
	}
	measure("link/event", wire.PathLinkHitRate, &wire.LinkHitRateRequest{
		FromTable: "visits", ToTable: "events", FromColumn: "id", ToColumn: "id", Envelope: envelope,
	}, "SELECT COUNT(visits.id), COUNT(events.id) FROM visits LEFT JOIN events ON visits.id = events.id")
	eight := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	distinct := make([]string, len(eight))
	for i, column := range eight {
		distinct[i] = "COUNT(" + column + "), COUNT(DISTINCT " + column + ")"
	}
	top := events("id", "e", "label")
	top.Sort, top.Limit = []wire.SortKey{{Field: "e", Dir: wire.Desc}}, 100
	measure("top100/e", wire.PathQuery, top, "SELECT id, e, label FROM events WHERE e IS NOT NULL ORDER BY e DESC, id LIMIT 100")
	measure("count/filtered", wire.PathCount, &wire.CountRequest{Table: "events", Envelope: envelope, Where: wire.Where{And: []wire.Filter{
		{Field: "d", Op: wire.OpEq, Value: wire.Text("text 7")}, {Field: "b", Op: wire.OpLt, Value: wire.Int(500)},
	}}}, "SELECT COUNT(*) FROM events WHERE d = 'text 7' AND b < 500")
	measure("count/month", wire.PathAggregate, &wire.AggregateRequest{
		Table: "events", GroupBy: []wire.GroupKey{{Field: "moment", Grain: wire.GrainMonth, As: "month"}}, Limit: wire.AggregateLimit,
		Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}, Envelope: envelope,
	}, "SELECT "+month+" AS month, COUNT(*) FROM events GROUP BY month")
	measure("stream", wire.PathQuery, events("id", "day", "moment", "amount", "label", "rank"),
		"SELECT id, day, moment, amount, label, rank FROM events")
	first := events("id", "day", "moment", "amount", "label", "rank")
	first.Limit = 1
	measure("first row", wire.PathQuery, first, "SELECT id, day, moment, amount, label, rank FROM events ORDER BY id LIMIT 1")
	measure("cardinality", wire.PathCardinality, &wire.CardinalityRequest{Table: "events", Columns: eight, Envelope: envelope},
		"SELECT "+strings.Join(distinct, ", ")+" FROM events")
	measure("blob", wire.PathQuery, &wire.QueryRequest{Table: "files", Fields: []string{"id", "body"}, Envelope: envelope},
		"SELECT id, body FROM files")
	measure("count", wire.PathCount, &wire.CountRequest{Table: "files", Envelope: envelope}, "SELECT COUNT(*) FROM files")
}

// readAll reads an answer as database/sql returns it, and returns its number of rows.
func readAll(b *testing.B, db *sql.DB, statement string) (n int) {
	rows, err := db.QueryContext(b.Context(), statement)
	require.NoError(b, err, statement)
	defer func() { require.NoError(b, rows.Close()) }()
	names, err := rows.Columns()
	require.NoError(b, err)
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			b.Fatal(err)
		}
		n++
	}
	require.NoError(b, rows.Err())
	return n
}
