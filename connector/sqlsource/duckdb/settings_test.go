package duckdb_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// settingsViews are views that answer something else under each hostile setting that the requests of the kit do not see.
const settingsViews = `
	CREATE TABLE settled AS SELECT i, i / 4 AS part, TIMESTAMPTZ '2024-07-01 00:30:00+00' + to_hours(i::INT) AS moment,
		[TIMESTAMPTZ '2024-07-01 00:30:00+00'] AS moments FROM range(1, 20) r(i);
	CREATE VIEW settling AS SELECT i, 7 / i AS quotient, 1.0::DOUBLE / (i - 1) AS zero, date_trunc('day', moment) AS day, year(moment) AS year,
		moments, (SELECT i FROM (SELECT i FROM settled ORDER BY nullif(i, 3) LIMIT 1)) AS first,
		isinf(1.0::DOUBLE / (i - 1)) AS infinite FROM settled;
	CREATE VIEW several AS SELECT i, (SELECT s.i FROM settled s WHERE s.i > settled.i) AS any_of FROM settled;
	CREATE VIEW comparing AS SELECT 'a' = 'A' AS same`

// askedOf returns a connector over a database, which logs internal errors alone.
func askedOf(t *testing.T, db *sql.DB, flavor sqlengine.Flavor, o *sqlsource.Options) situation.Asked {
	t.Helper()
	source := testkit.Must(sqlsource.New(db, flavor, o))(t)
	return situation.Asked{Handler: testkit.New(connectortest.Token, connector.Definition{Slug: "survey"}, source, testkit.Quiet()),
		Token: connectortest.Token}
}

// TestSettings asks of a database whose settings have the hostile values of testdata/settings.txt, all of which the
// flavor states: by the differential test, and by views. The answers are those of a database where nobody has set them.
func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.duckdb")
	plain, _ := reach(t, file)
	testkit.Must(plain.ExecContext(t.Context(), settingsViews))(t)
	asked := func(db *sql.DB, flavor sqlengine.Flavor) situation.Asked { return askedOf(t, db, flavor, nil) }
	all := situation.NewSurvey(t, asked(plain, duckdb.Flavor()))
	unprepared := duckdb.Flavor()
	unprepared.Session = nil
	want := all.Answers(t, asked(plain, duckdb.Flavor()))
	require.Greater(t, len(want), 30, "%q", want)
	require.NoError(t, plain.Close())
	var statements []string
	for why, values := range situation.Settings(t, "testdata/settings.txt") {
		kind, _, _ := strings.Cut(why, ": ")
		if kind != "hostile" && kind != "unseen" { // it changes no answer
			continue
		}
		for _, v := range values {
			statement := "SET SESSION " + v.Name + " = " + v.Value
			statements = append(statements, statement)
			db, _ := reach(t, file, statement)
			require.Empty(t, all.Differences(want, all.Answers(t, asked(db, duckdb.Flavor()))), statement)
			require.NoError(t, db.Close())
			db, _ = reach(t, file, statement)
			require.Equal(t, kind == "unseen", all.Same(t, asked(db, unprepared), want), statement)
			require.NoError(t, db.Close())
		}
	}
	require.Len(t, statements, 10)
	if testing.Short() {
		return
	}
	e := kit(t)
	e.DB, _ = reach(t, file, statements...)
	sqlsourcetest.Run(t, e, &sqlsourcetest.Options{Queries: 60, Without: []string{"pages", "changing pages", "large joins"}})
}

// TestSettingsKnown notices a setting of the engine that nobody has looked at. Those of testdata/settings.txt change
// no answer, unless they are hostile; what stands before them there says why.
func TestSettingsKnown(t *testing.T) {
	known := map[string]bool{}
	for _, values := range situation.Settings(t, "testdata/settings.txt") {
		for _, s := range values {
			require.False(t, known[s.Name], s.Name)
			known[s.Name] = true
		}
	}
	var names string
	require.NoError(t, open(t, "").QueryRowContext(t.Context(), "SELECT string_agg(name, ' ') FROM duckdb_settings()").Scan(&names))
	for _, name := range strings.Fields(names) {
		assert.True(t, known[strings.ToLower(name)],
			"%s: state it, or list it in testdata/settings.txt with the reason why it changes no answer", name)
	}
}

// macros returns statements that create, in a schema, a macro with the name of every function and
// operator of the engine. The list is the engine's, so it has what the builder will call one day.
func macros(t testing.TB, schema string) string {
	var script string
	var count int
	require.NoError(t, open(t, "").QueryRowContext(t.Context(), `SELECT count(*), string_agg('CREATE MACRO '||$1||'."'||name||'"'||CASE
			WHEN is_table THEN '() AS TABLE SELECT 42 AS x'
			ELSE '() AS 42, (a) AS 42, (a, b) AS 42, (a, b, c) AS 42, (a, b, c, d) AS 42' END, '; ')
		FROM (SELECT function_name AS name, bool_or(function_type IN ('table', 'pragma', 'table_macro')) AS is_table
			FROM duckdb_functions() WHERE database_name = 'system' AND schema_name = 'main' GROUP BY ALL)`, schema).Scan(&count, &script))
	require.Greater(t, count, 500)
	return script
}

// shadowed returns the flavor for a connection whose search path has a schema of macros first.
func shadowed(f sqlengine.Flavor) sqlengine.Flavor {
	session := f.Session
	f.Session = func(ctx context.Context, q sqlengine.Queryer) error {
		if _, err := q.ExecContext(ctx, "SET search_path = 'shadow,main'"); err != nil {
			return err
		}
		return session(ctx, q)
	}
	f.Restore += "; SET search_path = ''"
	return f
}

// TestMacrosDifferential asks a database that has a macro for every function of the engine.
func TestMacrosDifferential(t *testing.T) {
	if testing.Short() {
		t.Skip("asks what TestDifferential asks, with macros in the way; run without -short")
	}
	e := kit(t)
	testkit.Must(e.DB.ExecContext(t.Context(), "CREATE SCHEMA shadow;"+macros(t, "shadow")))(t)
	e.Flavor = shadowed(e.Flavor)
	sqlsourcetest.Run(t, e, &sqlsourcetest.Options{Queries: 60, Without: []string{"changing pages", "large joins"}})
}

// macroTables are tables, and views that see macros of their author's.
const macroTables = `
	CREATE TABLE item AS SELECT i, 'A' || i AS name, i + 0.5 AS price, DATE '2024-01-31' + i::INT AS day, [name] AS tags,
		{'a': price} AS record FROM range(20) r(i);
	ALTER TABLE item ADD PRIMARY KEY (i);
	CREATE TYPE mood AS ENUM ('sad', 'glad');
	CREATE SEQUENCE ticket;
	CREATE TABLE duckdb_trips AS SELECT 'mine' AS x;
	CREATE TABLE "range" AS SELECT 'mine' AS x;
	CREATE TABLE Duckdb_Tables AS SELECT 'mine' AS x;
	CREATE SCHEMA "a.b""c,d";
	CREATE TABLE "a.b""c,d".far AS SELECT 7 AS n, 'x' AS label;
	CREATE MACRO twice(x) AS x * 2;
	CREATE MACRO few(n) AS TABLE SELECT i FROM item WHERE i < n;
	CREATE MACRO "a.b""c,d".thrice(x) AS x * 3;
	CREATE VIEW doubled AS SELECT twice(i) AS i, 'glad'::mood AS mood, nextval('ticket') > 0 AS drawn FROM item;
	CREATE VIEW chosen AS SELECT * FROM few(3);
	CREATE VIEW "a.b""c,d".tripled AS SELECT thrice(n) AS n, twice(n) AS m FROM "a.b""c,d".far;`

// TestMacros compares databases with macros to one without, opened and attached. What a host does
// on the connections afterwards finds its own search path.
func TestMacros(t *testing.T) {
	made := func(script string) string {
		file := filepath.Join(t.TempDir(), "made.duckdb")
		db, _ := reach(t, file)
		testkit.Must(db.ExecContext(t.Context(), script))(t)
		require.NoError(t, db.Close())
		return file
	}
	one := func(dsn, script string) *sql.DB {
		db, _ := reach(t, dsn)
		db.SetMaxOpenConns(1)
		testkit.Must(db.ExecContext(t.Context(), script))(t)
		return db
	}
	asked := func(db *sql.DB) situation.Asked {
		schemas := func(wire.Credentials) []string { return []string{"main", `a.b"c,d`} }
		return askedOf(t, db, duckdb.Flavor(), &sqlsource.Options{Schemas: schemas})
	}
	plain := asked(one(made(macroTables), "SELECT 1"))
	all := situation.NewSurvey(t, plain)
	want := all.Answers(t, plain)
	require.Greater(t, len(want), 50)
	require.Contains(t, want[0], "Duckdb_Tables is left out because a view of the engine has the same name.")
	// The bodies of the views call none of these.
	file := made(macroTables + `CREATE MACRO sum(x) AS 42; CREATE MACRO count(x) AS 42; CREATE MACRO count_star() AS 42;
		CREATE MACRO contains(x, y) AS false;
		CREATE MACRO lower(x) AS 'low'; CREATE MACRO epoch_ms(x) AS 42; CREATE MACRO "+"(x, y) AS 42;
		CREATE MACRO "||"(x, y) AS 42; CREATE MACRO row_number() AS 42; CREATE MACRO to_json(x) AS '42'; CREATE MACRO list_value(x) AS 42;
		CREATE MACRO current_database() AS 'none'; CREATE MACRO current_setting(x) AS 'none'; CREATE MACRO getvariable(x) AS 'none';
		CREATE MACRO duckdb_settings() AS TABLE SELECT 42; CREATE MACRO duckdb_schemas() AS TABLE SELECT 42;
		CREATE MACRO duckdb_tables() AS TABLE SELECT 42; CREATE MACRO duckdb_columns() AS TABLE SELECT 42;`)
	for _, c := range []struct{ dsn, script, hostPath string }{
		{file, "SELECT 1", ""},
		{"", "ATTACH '" + file + `' AS "x.""y,z"; USE "x.""y,z"`, `"x.""y,z".main`},
		{"", "ATTACH '" + file + `' AS other; ATTACH ':memory:' AS beside; SET search_path = 'other.main,beside.main'`,
			"other.main,beside.main"},
	} {
		db := one(c.dsn, c.script)
		require.Empty(t, all.Differences(want, all.Answers(t, asked(db))))
		var path string
		var sum int
		row := db.QueryRowContext(t.Context(), "SELECT system.main.current_setting('search_path'), sum(1)")
		require.NoError(t, row.Scan(&path, &sum))
		require.Equal(t, c.hostPath, path)
		require.Equal(t, 42, sum)
		testkit.Must(db.ExecContext(t.Context(), "CREATE TABLE hosts AS SELECT 1 AS one; DROP TABLE hosts"))(t)
		require.NoError(t, db.Close())
	}
}

// TestEngineViews notices a view of the engine whose name is not looked for.
func TestEngineViews(t *testing.T) {
	var others int
	require.NoError(t, open(t, "").QueryRowContext(t.Context(), `SELECT
		count(*) FILTER (NOT regexp_matches(view_name, '^(duckdb|pragma|sqlite)_')) FROM duckdb_views()
		WHERE database_name = 'system' AND schema_name = 'main' HAVING count(*) > 10`).Scan(&others))
	require.Zero(t, others)
}
