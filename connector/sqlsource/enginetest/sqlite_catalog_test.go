package enginetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
