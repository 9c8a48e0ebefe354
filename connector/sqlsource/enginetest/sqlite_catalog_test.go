package enginetest

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteCatalog discovers keys, and warns of what is wrong with a database.
func TestSQLiteCatalog(t *testing.T) {
	db := newSQLite(t, `
		CREATE TABLE a (x TEXT, y TEXT, z TEXT UNIQUE, w DATE UNIQUE, PRIMARY KEY (x, y));
		CREATE TABLE b (id INTEGER PRIMARY KEY, p TEXT NOT NULL, q TEXT NOT NULL, secret TEXT, FOREIGN KEY (p, q) REFERENCES A);
		CREATE TABLE c (k TEXT NOT NULL, l TEXT NOT NULL, b INTEGER REFERENCES b (ID), PRIMARY KEY (l, k)) WITHOUT ROWID;
		CREATE UNIQUE INDEX half ON b (p) WHERE q = 'x';
		CREATE TABLE gone (id INTEGER); CREATE VIEW broken AS SELECT * FROM gone; DROP TABLE gone;
		CREATE VIEW seen AS SELECT id AS number, q FROM b;
		CREATE TABLE odd (id INTEGER PRIMARY KEY, r REAL); INSERT INTO odd VALUES (1, 9e999), (2, 1.5)`)
	caller := db.caller(t, &sqlsource.Options{Tables: map[string]sqlsource.TableOptions{
		"seen": {PrimaryKey: []string{"number"}},
		"b": {Name: "bees", Description: "Bees.", Columns: map[string]sqlsource.ColumnOptions{
			"secret": {Hidden: true},
			"p":      {Name: "pea", Type: wire.TypeReference},
		}},
	}})
	d, err := caller.Discover()
	require.NoError(t, err)
	tables := byName(d)
	require.Len(t, tables, 5)
	assert.Empty(t, tables["a"].PrimaryKey, "SQLite lets nulls into a primary key")
	assert.True(t, tables["a"].Field("z").Unique)
	assert.True(t, tables["a"].Field("w").Unique, "a day is spelled in one way")
	assert.Equal(t, []string{"number"}, tables["seen"].PrimaryKey, "as the host says")
	assert.False(t, tables["seen"].StoresRows)
	bees := tables["bees"]
	assert.Equal(t, []string{"id"}, bees.PrimaryKey)
	assert.Equal(t, "Bees.", bees.SourceDescription)
	assert.Nil(t, bees.Field("secret"))
	assert.Equal(t, wire.TypeReference, bees.Field("pea").Type)
	assert.Equal(t, "p", bees.Field("pea").SourceColumn)
	assert.False(t, bees.Field("pea").Unique, "an index on some rows")
	assert.Equal(t, []wire.ForeignKey{
		{Field: "pea", TargetTable: "a", TargetField: "x"}, {Field: "q", TargetTable: "a", TargetField: "y"},
	}, bees.ForeignKeys)
	assert.Equal(t, []string{"l", "k"}, tables["c"].PrimaryKey)
	assert.Equal(t, []wire.ForeignKey{{Field: "b", TargetTable: "bees", TargetField: "id"}}, tables["c"].ForeignKeys)
	require.Len(t, d.Warnings, 3)
	assert.Contains(t, d.Warnings[0], `"broken" is left out`)
	assert.Contains(t, d.Warnings[1], `In table "a", the primary key ("x", "y") is left out because SQLite lets nulls into it`)
	assert.Contains(t, d.Warnings[2], `In table "odd", 1 values of the field "r" cannot be sent`)
	for _, name := range []string{"b", "B", "broken", "sqlite_schema", "none"} {
		_, err = caller.Size(name)
		require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err), name)
	}
}

// unordered is a flavor that cannot order one column.
type unordered struct {
	sqlengine.Flavor
	column string
}

func (f unordered) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := f.Flavor.Column(ref, c)
	if c.Name == f.column {
		column.Class, column.Key, column.Group, column.Tie, column.Index.Stored = sqlengine.ClassOpaque, "", "", "", ""
	}
	return column
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
		{"a primary key beside a column without an order", "numbered", unordered{sqlsource.SQLite(), "name"},
			` ORDER BY t0."id" LIMIT`, true},
		{"no key, and a column without an order", "bag", unordered{sqlsource.SQLite(), "name"},
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

// TestSQLiteLook reads the type of a column off its first rows, where at least half of them
// do not fit the declared type.
func TestSQLiteLook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, declared, values string
		want                  wire.Type
	}{
		{"JSON", "JSON", "('[1]'), (2)", wire.TypeJSON},
		{"texts that are no JSON", "JSON", "('one'), ('two')", wire.TypeString},
		{"one of two is JSON", "JSON", "('one'), ('{}')", wire.TypeJSON},
		{"arrays", "ARRAY", "('[1]'), (NULL)", wire.TypeArray},
		{"JSON that is no array", "ARRAY", "('{}'), ('1')", wire.TypeString},
		{"an infinite number among texts", "DECIMAL", "(9e999), ('n/a'), ('n/a')", wire.TypeString},
		{"infinite numbers", "DECIMAL", "(9e999), (-9e999)", wire.TypeNumber},
		{"blobs in a column of texts", "TEXT", "(x'00'), (x'01')", wire.TypeString},
		{"texts that are blobs", "DATE", "(CAST('2024-02-29' AS BLOB))", wire.TypeString},
		{"datetimes in a column of dates", "DATE", "('2024-02-29T10:00:00Z'), (1709164800)", wire.TypeDatetime},
		{"days as numbers", "DATE", "(20240101), (20240102)", wire.TypeNumber},
		{"days as numbers in a column of datetimes", "DATETIME", "(20240101), (20240102), ('2024-02-29')", wire.TypeString},
		{"what may be seconds, and may be not", "TIMESTAMP", "(1709164800), (1709164801)", wire.TypeNumber},
		{"a declared type that says that numbers count seconds", "UNIXEPOCH", "(1709164800), (1709164801)", wire.TypeDatetime},
		{"milliseconds where seconds are declared", "UNIXEPOCH", "(1709164800000)", wire.TypeNumber},
		{"a date and a datetime", "DATE", "('2024-02-29'), ('2024-02-29T10:00:00Z')", wire.TypeDate},
		{"no values", "DATE", "(NULL)", wire.TypeDate},
		{"no declared type, and numbers", "", "(1), (1.5)", wire.TypeNumber},
		{"no declared type, and a text", "", "(1), ('1')", wire.TypeString},
	} {
		db := newSQLite(t, "CREATE TABLE t (c "+c.declared+"); INSERT INTO t VALUES "+c.values)
		tables, _ := db.discover(t, nil, time.Minute)
		require.Equal(t, c.want, tables["t"].Field("c").Type, c.why)
	}
}

// TestSQLiteShadows lists no table in which a virtual table keeps what it holds, although
// the driver does not have the module, whose tables SQLite then takes for any others.
func TestSQLiteShadows(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "fts.sqlite")
	openSQLite(t, file, `
		CREATE TABLE mail_content (docid INTEGER PRIMARY KEY, c0subject); CREATE TABLE mail_segments (blockid INTEGER PRIMARY KEY, block BLOB);
		CREATE TABLE mail_segdir (level INTEGER, idx INTEGER); CREATE TABLE mail_docsize (docid INTEGER PRIMARY KEY, size BLOB);
		CREATE TABLE mail_stat (id INTEGER PRIMARY KEY, value BLOB);
		CREATE TABLE mail_folder (id INTEGER PRIMARY KEY); CREATE TABLE stat (id INTEGER PRIMARY KEY); CREATE TABLE mail2_stat (id INTEGER PRIMARY KEY);
		CREATE VIRTUAL TABLE own USING fts5(body); CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
		PRAGMA writable_schema = ON;
		INSERT INTO sqlite_schema VALUES ('table', 'Mail', 'Mail', 0, 'CREATE VIRTUAL TABLE Mail USING fts4(subject)')`)
	db := openSQLite(t, file, "")
	tables, warnings := db.discover(t, nil, time.Minute)
	assert.ElementsMatch(t, []string{"mail_folder", "stat", "mail2_stat", "own", "boxes"}, slices.Collect(maps.Keys(tables)))
	assert.Contains(t, warnings, `The table "Mail" is left out because it cannot be described.`)
	_, err := db.caller(t, nil).Unverified().Query(wire.QueryRequest{Table: "mail_content", Sort: []wire.SortKey{}, Fields: []string{"docid"}})
	assert.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
}
