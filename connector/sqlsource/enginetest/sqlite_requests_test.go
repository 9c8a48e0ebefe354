package enginetest

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// both is a source that, for one request, asks the source of a database several
// times at once, and as several tenants.
type both struct {
	*sqlsource.Source
}

func (b both) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	sizes := make([]*wire.Size, 8)
	errs := make([]error, len(sizes))
	var all sync.WaitGroup
	for i := range sizes {
		all.Go(func() {
			tenant := map[string]string{"file": []string{"one", "three"}[i%2]}
			own := &wire.SizeRequest{Table: req.Table, Envelope: wire.Envelope{Credentials: wire.NewCredentials(tenant)}}
			if _, errs[i] = b.Describe(ctx, own.Credentials, req.Table); errs[i] == nil {
				sizes[i], errs[i] = b.Source.Size(ctx, own)
			}
		})
	}
	all.Wait()
	for i, n := range sizes {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if want := []int64{1, 3}[i%2]; n.Rows != want {
			return nil, connector.BadRequest("%d rows, want %d", n.Rows, want)
		}
	}
	return sizes[0], nil
}

// TestSQLiteSharedRequest gives each call of one request a session of its tenant that
// no other call uses at the time.
func TestSQLiteSharedRequest(t *testing.T) {
	dir := t.TempDir()
	for name, rows := range map[string]string{"one": "(1)", "three": "(1), (2), (3)"} {
		openSQLite(t, filepath.Join(dir, name), "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES "+rows)
	}
	src := testkit.Must(sqlsource.NewPerTenant(func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		return sql.Open("sqlite", filepath.Join(dir, c.Get("file")))
	}, sqlsource.SQLite(), nil))(t)
	d := connector.Definition{Slug: "both", Credentials: []wire.CredentialField{{Key: "file", Label: "File", Type: wire.CredentialText}}}
	caller := connectortest.Start(t, d, both{src}, nil).As(map[string]string{"file": "three"}).Unverified()
	for range 20 {
		n := testkit.Must(caller.Size("t"))(t)
		require.Equal(t, int64(1), n.Rows)
	}
}

// TestSQLiteCatalogKept asks twice, and looks whether the second request reads the
// catalog.
func TestSQLiteCatalogKept(t *testing.T) {
	db, log := newSQLite(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)").logged(t)
	for ttl, reads := range map[time.Duration]bool{0: true, time.Hour: false, time.Nanosecond: true} {
		caller := db.caller(t, &sqlsource.Options{CatalogTTL: ttl}).Unverified()
		for range 2 {
			log.take()
			testkit.Must(caller.Count(wire.CountRequest{Table: "t"}))(t)
		}
		of := func(s loggedStatement) bool { return strings.Contains(s.query, "pragma_table_xinfo") }
		require.Equal(t, reads, slices.ContainsFunc(log.take(), of), ttl)
	}
}

// unordered returns a flavor that cannot order one column.
func unordered(f sqlengine.Flavor, name string) sqlengine.Flavor {
	return withColumn(f, func(_ string, c sqlengine.CatalogColumn, column *sqlengine.Column) {
		if c.Name == name {
			column.Class, column.Key, column.Group, column.Tie, column.Index.Stored = sqlengine.ClassOpaque, "", "", "", ""
		}
	})
}

// TestSQLiteWindows looks at the statements of pages without a sort: an engine whose
// order is total cuts them; otherwise the library does, from rows that are
// ordered as far as the engine can.
func TestSQLiteWindows(t *testing.T) {
	made := newSQLite(t, `
		CREATE TABLE numbered (id INTEGER PRIMARY KEY, name TEXT);
		CREATE TABLE named (name TEXT NOT NULL PRIMARY KEY, id INTEGER);
		CREATE TABLE bag (id INTEGER, name TEXT);
		INSERT INTO numbered VALUES (3, 'c'), (1, 'a'), (2, 'b');
		INSERT INTO named SELECT name, id FROM numbered;
		INSERT INTO named VALUES (x'61', 4);
		INSERT INTO bag SELECT id, name FROM numbered`)
	recorded, log := made.logged(t)
	for _, c := range []struct {
		why, table string
		flavor     sqlengine.Flavor
		order      string
		cut        bool // by the engine
	}{
		{"a primary key", "numbered", sqlsource.SQLite(), ` ORDER BY t0."id" LIMIT`, true},
		{"a key with a blob, which is null", "named", sqlsource.SQLite(),
			` ORDER BY CASE WHEN t0."name" < x'' THEN t0."name" END COLLATE BINARY NULLS LAST, +t0."name" COLLATE BINARY`, true},
		{"no key", "bag", sqlsource.SQLite(), `+t0."id" COLLATE BINARY NULLS LAST, CASE WHEN t0."name" < x''`, true},
		{"a primary key beside a column without an order", "numbered", unordered(sqlsource.SQLite(), "name"),
			` ORDER BY t0."id" LIMIT`, true},
		{"no key, and a column without an order", "bag", unordered(sqlsource.SQLite(), "name"),
			`+t0."id" COLLATE BINARY NULLS LAST`, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			caller := recorded.with(c.flavor).caller(t, nil).Unverified()
			var names []string
			for offset := range int64(4) {
				log.take()
				answer, err := caller.Query(wire.QueryRequest{
					Table: c.table, Sort: []wire.SortKey{}, Fields: []string{"id"}, Offset: offset, Limit: 1,
				})
				require.NoError(t, err)
				require.True(t, answer.Served.Window)
				for _, row := range answer.Rows {
					names = append(names, row[0].String())
				}
				all := log.take()
				i := slices.IndexFunc(all, func(s loggedStatement) bool { return strings.Contains(s.query, `SELECT +t0."id"`) })
				asked := all[i].query
				assert.Contains(t, asked, c.order)
				assert.Equal(t, c.cut, strings.Contains(asked, " LIMIT "), asked)
			}
			want := []string{"1", "2", "3"}
			if c.table == "named" {
				want = []string{"1", "2", "3", "4"}
			}
			assert.ElementsMatch(t, want, names)
		})
	}
}

// TestSQLitePlanShowsNoValue asks every operator with a marker for a value, in every
// column, and looks for it in the plans.
func TestSQLitePlanShowsNoValue(t *testing.T) {
	skipShort(t)
	markers := []wire.Value{
		wire.Text("mark7c1e"), wire.Int(7316007316), wire.Decimal("73160.07316"), wire.Text("7316-07-31"), wire.Bool(true),
	}
	db := newSQLite(t, `
		CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, doc JSON, at DATETIME, f REAL, d DECIMAL, b BOOLEAN, x BLOB);
		INSERT INTO t VALUES (1, 'a', '[1]', '2024-01-01', 1.5, 1, 1, x'00')`)
	var seen plans
	caller := db.caller(t, &sqlsource.Options{Observe: seen.add}).Unverified()
	asked := 0
	for _, field := range []string{"id", "name", "doc", "at", "f", "d", "b", "x"} {
		for _, op := range []wire.Op{
			wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpLte, wire.OpIn, wire.OpIncludes, wire.OpStartsWith, wire.OpContains,
		} {
			for _, v := range markers {
				f := wire.Filter{Field: field, Op: op, Value: v}
				if op == wire.OpIn {
					f = wire.Filter{Field: field, Op: op, Values: []wire.Value{v, v}}
				}
				_, err := caller.Query(wire.QueryRequest{
					Table: "t", Where: wire.Where{And: []wire.Filter{f}, Or: [][]wire.Filter{{f}, {f}}},
					Sort: []wire.SortKey{{Field: field, Dir: wire.Desc}}, Fields: []string{"id"}, Limit: 7316007316, Offset: 7316007316,
				})
				if err == nil {
					asked++
				}
				_, whole := seen.take()
				for _, marker := range []string{"mark7c1e", "7316"} {
					assert.NotContains(t, whole, marker, "%s %s %v", field, op, v)
				}
			}
		}
	}
	require.Greater(t, asked, 100, "requests that were answered")
}
