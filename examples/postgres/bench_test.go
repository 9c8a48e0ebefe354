//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
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
  (ARRAY['open', 'paid', 'shipped', 'returned'])[1 + i % 4], (i * 7919 % 10000000) / 100.0, i * 31 % 200, (i * 7907 % 10000000) / 100.0, i % 4 <> 0,
  to_timestamp(1704067200 + i * 43), 'Please leave the parcel with the neighbour, number ' || i % 8,
  (ARRAY['north', 'south', 'east', 'west'])[i % 5] FROM generate_series(1::bigint, 1000000) AS i;
ANALYZE orders`
)

var benchFields = []string{"id", "uuid", "name", "email", "status", "amount", "qty", "price", "active", "created_at", "note", "region"}

// BenchmarkConnector is S13: a whole answer of a million rows against the
// driver's bare scan of the same rows, and push-down against answering from all
// rows.
//
//	go test -run '^$' -bench Connector -benchtime 1x .
func BenchmarkConnector(b *testing.B) {
	db, own := database(b)
	_, err := db.Exec(benchTable)
	require.NoError(b, err)
	handler := func(flavor sqlsource.Flavor) http.Handler {
		src, err := sqlsource.New(sqlsource.Config{Flavor: flavor, Open: opener(own)})
		require.NoError(b, err)
		token, err := wire.NewToken(testToken)
		require.NoError(b, err)
		h, err := connector.New(definition, src, token, nil)
		require.NoError(b, err)
		return h
	}
	pushed, all := handler(sqlsource.PostgreSQL()), handler(blind{sqlsource.PostgreSQL()})
	duels(b, pushed, all, wire.NewCredentials(credentials(own)), func() { scan(b, db, "SELECT * FROM orders") })
}

// duels are the same for every engine.
func duels(b *testing.B, pushed, all http.Handler, credentials wire.Credentials, bare func()) {
	const timeout = 600_000
	ask := func(h http.Handler, path string, m wire.Message) func() {
		return func() { serveInto(b, h, path, m) }
	}
	whole := &wire.QueryRequest{Table: "orders", Fields: benchFields, Credentials: credentials, TimeoutMS: timeout}
	b.Run("scan", func(b *testing.B) { duel(b, ask(pushed, wire.PathQuery, whole), bare) })
	top := *whole
	top.Sort, top.Limit = []wire.Sort{{Field: "qty", Dir: wire.Desc}}, 100
	b.Run("top100", func(b *testing.B) { duel(b, ask(all, wire.PathQuery, &top), ask(pushed, wire.PathQuery, &top)) })
	count := &wire.CountRequest{Table: "orders", Credentials: credentials, TimeoutMS: timeout,
		And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("paid")}, {Field: "qty", Op: wire.OpGt, Value: wire.Int(100)}}}
	b.Run("count", func(b *testing.B) { duel(b, ask(all, wire.PathCount, count), ask(pushed, wire.PathCount, count)) })
	// Groups that are declined the platform folds from the rows: reading them is
	// the least it has to do.
	groups := &wire.AggregateRequest{Table: "orders", GroupBy: []wire.Group{{Field: "region", As: "region"}},
		Measures: []wire.Measure{{Fn: wire.FnCount, As: "n"}, {Fn: wire.FnSum, Field: "qty", As: "sum"}}, Limit: wire.AggregateLimit, Credentials: credentials, TimeoutMS: timeout}
	some := *whole
	some.Fields = []string{"region", "qty"}
	b.Run("groups", func(b *testing.B) { duel(b, ask(all, wire.PathQuery, &some), ask(pushed, wire.PathAggregate, groups)) })
}

// blind is a flavor that pushes nothing, so that the SDK does everything.
type blind struct{ sqlsource.Flavor }

func (f blind) Column(ref string, c sqlsource.CatalogColumn) sqlsource.Column {
	all := f.Flavor.Column(ref, c)
	return sqlsource.Column{Type: all.Type, Cell: all.Cell, Decode: all.Decode, Raw: all.Raw, Valid: all.Valid, Tie: or(all.Tie, all.Key)}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// duel lets a and b work by turns, and reports how many times as long a takes:
// by the wall clock (x) and in processor time of this process (cpu-x), as
// medians; and the medians of both in milliseconds.
func duel(bench *testing.B, a, b func()) {
	const turns = 5
	sides := []func(){a, b}
	wall, cpu := make([][]float64, 2), make([][]float64, 2)
	a()
	b()
	for bench.Loop() {
		for turn := range turns {
			for i := range sides {
				k := (turn + i) % 2
				runtime.GC()
				began, used := time.Now(), processorTime()
				sides[k]()
				cpu[k] = append(cpu[k], float64(processorTime()-used)/1e6)
				wall[k] = append(wall[k], float64(time.Since(began))/1e6)
			}
		}
	}
	ratio := func(of [][]float64) float64 {
		ratios := make([]float64, len(of[0]))
		for i := range ratios {
			ratios[i] = of[0][i] / of[1][i]
		}
		return median(ratios)
	}
	bench.ReportMetric(ratio(wall), "x")
	bench.ReportMetric(ratio(cpu), "cpu-x")
	bench.ReportMetric(median(wall[0]), "a-ms")
	bench.ReportMetric(median(wall[1]), "b-ms")
	bench.ReportMetric(median(cpu[0]), "a-cpu-ms")
	bench.ReportMetric(median(cpu[1]), "b-cpu-ms")
	bench.ReportMetric(0, "ns/op") // of both together: means nothing
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// processorTime is what the process has used of the processors so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// scan reads all rows as database/sql hands them over.
func scan(b *testing.B, db *sql.DB, statement string) {
	rows, err := db.Query(statement)
	require.NoError(b, err)
	defer func() { require.NoError(b, rows.Close()) }()
	values := make([]any, len(benchFields))
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

// serveInto runs one request through a connector and checks that it is answered.
func serveInto(b *testing.B, h http.Handler, path string, m wire.Message) {
	body, err := wire.EncodeRequest(m)
	require.NoError(b, err)
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+testToken)
	var w discardWriter
	h.ServeHTTP(&w, r)
	if w.status != http.StatusOK || path == wire.PathQuery && string(w.last) != "{\"end\":1}\n" {
		b.Fatalf("status %d, and an answer that ends in %q", w.status, w.last)
	}
}

// discardWriter is a connection whose peer takes everything at once.
type discardWriter struct {
	header http.Header
	status int
	last   []byte
}

func (w *discardWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *discardWriter) WriteHeader(status int) { w.status = status }

func (w *discardWriter) Write(p []byte) (int, error) {
	w.last = append(w.last[:0], p[:min(len(p), 100)]...)
	return len(p), nil
}

func (w *discardWriter) FlushError() error                { return nil }
func (w *discardWriter) SetWriteDeadline(time.Time) error { return nil }
