package enginetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fileConnector connects to one file.
type fileConnector struct {
	driver driver.Driver
	name   string
}

func (c fileConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }
func (c fileConnector) Driver() driver.Driver                        { return c.driver }

// openSQLite opens a file, which it creates if it does not exist, and fills it by
// a script.
func openSQLite(t testing.TB, file, script string) *database {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	own := &database{
		DB: db, flavor: sqlsource.SQLite(), driver: fileConnector{db.Driver(), file},
		open: func(context.Context, wire.Credentials) (*sql.DB, error) { return sql.Open("sqlite", file) },
		run: func(script string) error {
			_, err := db.Exec(script)
			return err
		},
	}
	own.execute(t, script)
	return own
}

// newSQLite returns a database in a file of its own, filled by a script.
func newSQLite(t testing.TB, script string) *database {
	t.Helper()
	return openSQLite(t, filepath.Join(t.TempDir(), "test.sqlite"), script)
}

// numbers counts in SQL from 1 to a number.
const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "

var sqlite = engine{
	name: "sqlite", key: "INTEGER", text: "TEXT", types: sqliteTypes,
	create: func(t testing.TB) *database {
		return openSQLite(t, "file:"+filepath.Join(t.TempDir(), "test.sqlite")+"?_pragma=busy_timeout(10000)", "")
	},
	plain:   func(t testing.TB) *database { return newSQLite(t, "") },
	schemas: sqliteSchemas, foreignKeys: sqliteForeignKeys, plans: sqlitePlans, speedTables: sqliteSpeed,
	month: "substr(moment, 1, 7)",
	conformance: conformanceOf{
		casesOf: 3,
		skipped: map[string]conformance.Reason{
			// All its cases group decimals of which some have more digits than a real.
			"A.9": conformance.NoData,
			// The database is the host's: there are no tenants to hold apart.
			"T1": conformance.NotAsked, "T2": conformance.NotAsked, "T3": conformance.NotAsked, "T4": conformance.NotDeclared,
			"T5": conformance.NotDeclared, "T6": conformance.NotAsked, "P1.7": conformance.NotDeclared, "P1.7b": conformance.NotDeclared,
			"P1.7c": conformance.NotDeclared, "A.31": conformance.NotDeclared, "A.32": conformance.NotAsked,
		},
	},
	discovery: discoveryOf{
		wide:   []int{350, 700, 900, 1600, 1999},
		slow:   fmt.Sprintf(numbers, 1_000_000_000_000) + "SELECT count(*) AS n FROM n",
		broken: fmt.Sprintf(numbers, 200) + "SELECT i, CASE WHEN i = 150 THEN json('no JSON') END AS x FROM n",
		rows:   func(n int) string { return fmt.Sprintf(numbers, n) + "SELECT i FROM n" },
		nullability: `
			CREATE TABLE clean (id INT PRIMARY KEY NOT NULL, r REAL NOT NULL, n INTEGER NOT NULL, m NUMERIC NOT NULL);
			INSERT INTO clean VALUES (1, 1.5, 2, 3.25);
			CREATE TABLE dirty (id INTEGER PRIMARY KEY, r REAL NOT NULL, n INTEGER NOT NULL, m NUMERIC NOT NULL);
			INSERT INTO dirty VALUES (1, 9e999, 9e999, -9e999);
			CREATE TABLE keyed (k REAL PRIMARY KEY NOT NULL);
			INSERT INTO keyed VALUES (9e999), (-9e999)`,
		aboutAll: "pragma_table_list",
	},
	uncomputed: uncomputedOf{
		script: `
			CREATE TABLE t (i INTEGER PRIMARY KEY, s TEXT);
			WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 30000)
				INSERT INTO t SELECT i, CASE WHEN i < 20000 THEN '{"a": 7}' ELSE '{secret' END FROM r;
			CREATE VIEW ranged AS SELECT abs(-9223372036854755809 - i) AS n FROM t;
			CREATE VIEW read AS SELECT json_extract(s, '$.a') AS n FROM t;
			CREATE VIEW bytes AS SELECT CASE WHEN i < 20000 THEN 'x' ELSE CAST(x'736563726574ff' AS TEXT) END AS n FROM t;
			CREATE VIEW large AS SELECT CASE WHEN i < 20000 THEN 'x' ELSE printf('%.17000000c', 's') END AS n FROM t WHERE i < 20002;
			CREATE VIEW huge AS SELECT CASE WHEN i < 20000 THEN 'x' ELSE replace(hex(zeroblob(100000000)), '0', hex(zeroblob(100))) END AS n FROM t`,
		views: []uncomputed{
			{view: "ranged", why: "a number out of range", says: "a number is out of range"},
			{view: "read", why: "a text that is not JSON", says: "a text is not JSON"},
			{view: "bytes", why: "a text that is not UTF-8", says: "not valid UTF-8", sent: true},
			{view: "large", why: "a row over 16 MiB", says: "16 MiB", sent: true},
			{view: "huge", why: "a value over SQLite's own limit", says: "a value or an expression is too large"},
		},
	},
	pages: pagesOf{
		script: `
			CREATE TABLE misfits (n INTEGER, x BLOB); -- all numbers are null
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) INSERT INTO misfits SELECT 'a' || i, CAST(i AS BLOB) FROM n`,
		tables: []pagedTable{{"misfits", 40, []string{"n", "x"}}},
	},
}

// sqliteSchemas returns attached databases, which are schemas of a connection. The
// pool has one connection, so that it is the one they are attached to.
func sqliteSchemas(t *testing.T) (*database, schemaNames) {
	dir := t.TempDir()
	db := newSQLite(t, "CREATE TABLE unseen (id INTEGER)")
	db.SetMaxOpenConns(1)
	for _, name := range []string{"crm", "sales", "crm.x"} {
		_, err := db.Exec(`ATTACH ? AS "`+name+`"`, filepath.Join(dir, name+".sqlite"))
		require.NoError(t, err)
	}
	db.execute(t, `CREATE TABLE crm.people (id INTEGER PRIMARY KEY); INSERT INTO crm.people VALUES (1);
		CREATE TABLE sales.people (id INTEGER PRIMARY KEY);
		CREATE TABLE sales.orders (id INTEGER PRIMARY KEY, person INTEGER); INSERT INTO sales.orders VALUES (1, 1);
		CREATE TABLE crm."x.y" (id INTEGER); CREATE TABLE "crm.x".y (id INTEGER)`)
	return db, schemaNames{one: "crm", two: "sales", dotted: "crm.x"}
}

// sqliteForeignKeys returns a database that does not enforce its keys.
func sqliteForeignKeys(t *testing.T) (*database, []keyCase) {
	return newSQLite(t, `
		CREATE TABLE target (id INTEGER PRIMARY KEY, code TEXT, a TEXT, b TEXT, UNIQUE (a, b));
		CREATE TABLE sound (id INTEGER PRIMARY KEY, t INTEGER REFERENCES target);
		CREATE TABLE broken (id INTEGER PRIMARY KEY, t INTEGER REFERENCES target, good INTEGER REFERENCES target);
		CREATE TABLE texts (code TEXT REFERENCES target (code));
		CREATE TABLE pairs (a TEXT, b TEXT, FOREIGN KEY (a, b) REFERENCES target (a, b));
		CREATE TABLE mixed (t REFERENCES target (code));
		CREATE TABLE invented (t INTEGER REFERENCES target); INSERT INTO invented VALUES (101), (102), (NULL);
		CREATE TABLE empty (t INTEGER REFERENCES target);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
			INSERT INTO broken SELECT i, 40 + i, i % 60 + 1 FROM n;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
			INSERT INTO target SELECT i, 'c' || i, 'a' || i, 'b' || i FROM n;
		INSERT INTO sound VALUES (1, 100), (2, NULL);
		INSERT INTO texts VALUES ('c1'), ('C1'), (NULL);
		INSERT INTO pairs VALUES ('a1', 'b1'), ('none', NULL);
		INSERT INTO mixed VALUES (1), ('c1')`), []keyCase{
			{"all values are there", "sound", []string{"t>target.id"}, ""},
			{"orphans of one key say nothing of another", "broken", []string{"t>target.id", "good>target.id"},
				brokenKey("broken", "t", "40 of 100")},
			{"the platform tells cases apart", "texts", []string{"code>target.code"}, brokenKey("texts", "code", "1 of 2")},
			{"no engine checks a key of which one column is null", "pairs", []string{"a>target.a", "b>target.b"}, brokenKey("pairs", "a", "1 of 2")},
			{"values of several types", "mixed", []string{"t>target.code"}, brokenKey("mixed", "t", "1 of 2")},
			{"no value of it matches", "invented", nil,
				`In table "invented", the foreign key ("t") is left out because none of its values is in the table "target".`},
			{"nothing breaks it", "empty", []string{"t>target.id"}, ""},
		}
}

var sqlitePlans = plansOf{
	explain: "EXPLAIN QUERY PLAN ",
	script: `
CREATE TABLE events (id INTEGER PRIMARY KEY, day DATE, moment DATETIME, amount NUMERIC, label TEXT NOT NULL,
  rank INTEGER, whole INTEGER NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO events SELECT i, date('2000-01-01', (i * 7919 % 9000) || ' days'),
  strftime('%Y-%m-%d %H:%M:%S', 1704067200 + i * 7919 % 31000000, 'unixepoch'), i * 7919 % 1000000 / 100.0,
  printf('label %06d', i * 7919 % 1000000), CASE WHEN i % 5 > 0 THEN i * 31 % 1000003 END, i FROM n;
CREATE INDEX events_day ON events (day);
CREATE INDEX events_moment ON events (moment);
CREATE INDEX events_amount ON events (amount);
CREATE INDEX events_label ON events (label);
CREATE INDEX events_rank ON events (rank);
CREATE INDEX events_whole ON events (whole);
CREATE TABLE places (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO places SELECT i, 'place ' || i FROM n;
CREATE TABLE visits (id INTEGER PRIMARY KEY, code TEXT, place INTEGER);
INSERT INTO visits SELECT id, 'place ' || (id * 31 % 10000), id * 31 % 10000 FROM places;
ANALYZE`,
	searched:   func(column string) string { return `SEARCH t0 USING (COVERING )?INDEX events_` + column + `\b` },
	ordered:    func(column string) string { return `(SEARCH|SCAN) t0 USING (COVERING )?INDEX events_` + column + `\b` },
	scans:      []string{`SCAN t0\s*$`},
	sorts:      []string{`TEMP B-TREE FOR ORDER BY`, `SCAN t0\s*$`},
	tiesSorted: []string{"first instants", "last instants", "the latest instant"},
	more: []plan{
		{why: "a join on text", ask: joinOn("code", "code"),
			want: []string{`SEARCH t1 USING (COVERING )?INDEX sqlite_autoindex_places_1 \(code=\?\)`}},
		{why: "a join on an integer", ask: joinOn("place", "id"), want: []string{`SEARCH t1 USING INTEGER PRIMARY KEY`}},
		{why: "a link of integers", ask: &wire.LinkHitRateRequest{FromTable: "visits", ToTable: "places", FromColumn: "place", ToColumn: "id"},
			want: []string{`SEARCH t1 USING INTEGER PRIMARY KEY \(rowid=\?\) LEFT-JOIN`}},
	},
}

const sqliteSpeed = `
CREATE TABLE events (id INTEGER PRIMARY KEY, day DATE, moment DATETIME, amount NUMERIC, label TEXT, rank INTEGER,
  a INTEGER, b INTEGER, c TEXT, d TEXT, e REAL, f INTEGER, g TEXT, h INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
INSERT INTO events SELECT i, date('2000-01-01', (i * 7919 % 9000) || ' days'),
  strftime('%Y-%m-%d %H:%M:%S', 1704067200 + i * 7919 % 31000000, 'unixepoch'), i * 7919 % 10000000 / 100.0,
  printf('label %06d', i * 7919 % 1000000), CASE WHEN i % 5 > 0 THEN i * 31 % 1000003 END,
  i % 7, i % 1009, 'text ' || i % 13, 'text ' || i % 50021, i % 997 / 8.0, i, 'text ' || i, i % 2 FROM n;
CREATE INDEX events_day ON events (day);
CREATE INDEX events_moment ON events (moment);
CREATE INDEX events_amount ON events (amount);
CREATE INDEX events_label ON events (label);
CREATE INDEX events_rank ON events (rank);
CREATE TABLE places (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < LINKS)
INSERT INTO places SELECT i, 'place ' || i, 'name ' || i FROM n;
CREATE TABLE visits (id INTEGER PRIMARY KEY, code TEXT, place INTEGER REFERENCES places (id));
INSERT INTO visits SELECT id, 'place ' || (id * 31 % LINKS + 1), id * 31 % LINKS + 1 FROM places;
CREATE TABLE files (id INTEGER PRIMARY KEY, body BLOB);
INSERT INTO files VALUES (1, randomblob(5000000));
ANALYZE`
