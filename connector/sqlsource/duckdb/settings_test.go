package duckdb_test

import (
	"context"
	"database/sql"
	"os"
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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// script returns a script of testdata.
func script(t *testing.T, name string) string {
	t.Helper()
	return string(testkit.Must(os.ReadFile("testdata/" + name + ".sql"))(t))
}

// askedOf returns a connector over a database, which logs internal errors alone.
func askedOf(t *testing.T, db *sql.DB, flavor sqlengine.Flavor, o *sqlsource.Options) situation.Asked {
	t.Helper()
	source := testkit.Must(sqlsource.New(db, flavor, o))(t)
	return situation.Asked{Handler: connectors.New(connectortest.Token, connector.Definition{Slug: "survey"}, source, connectors.Quiet())}
}

// TestSettings asks of a database whose settings have the hostile values of testdata/settings.txt, all of which the
// flavor states: by the differential test, and by views. The answers are those of a database where nobody has set them.
func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.duckdb")
	plain, _ := reach(t, file)
	testkit.Must(plain.ExecContext(t.Context(), script(t, "settings")))(t)
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

// TestMacros compares databases with macros to one without, opened and attached. What a host does
// on the connections afterwards finds its own search path.
func TestMacros(t *testing.T) {
	one := func(dsn, script string) *sql.DB {
		db, _ := reach(t, dsn)
		db.SetMaxOpenConns(1)
		testkit.Must(db.ExecContext(t.Context(), script))(t)
		return db
	}
	made := func(script string) string {
		file := filepath.Join(t.TempDir(), "made.duckdb")
		require.NoError(t, one(file, script).Close())
		return file
	}
	asked := func(db *sql.DB) situation.Asked {
		schemas := func(wire.Credentials) []string { return []string{"main", `a.b"c,d`} }
		return askedOf(t, db, duckdb.Flavor(), &sqlsource.Options{Schemas: schemas})
	}
	plain := asked(one(made(script(t, "macros")), "SELECT 1"))
	all := situation.NewSurvey(t, plain)
	want := all.Answers(t, plain)
	require.Greater(t, len(want), 50)
	require.Contains(t, want[0], "Duckdb_Tables is left out because a view of the engine has the same name.")
	file := made(script(t, "macros") + script(t, "macros_in_the_way"))
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
