package duckdb_test

import (
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
)

// hostile are values of all settings that are stated, with which answers are other ones.
var hostile = []string{
	"default_collation = 'NOCASE'", "default_order = 'DESC'", "default_null_order = 'NULLS_FIRST'", "TimeZone = 'America/St_Johns'",
	"Calendar = 'buddhist'", "ieee_floating_point_ops = false",
	"scalar_subquery_error_on_multiple_rows = false", "preserve_insertion_order = false", "binary_as_string = true", "errors_as_json = true",
}

// settingsViews are views that answer something else for each of them that the requests of the kit do not see.
const settingsViews = `
	CREATE TABLE settled AS SELECT i, i / 4 AS part, TIMESTAMPTZ '2024-07-01 00:30:00+00' + to_hours(i::INT) AS moment,
		[TIMESTAMPTZ '2024-07-01 00:30:00+00'] AS moments FROM range(1, 20) r(i);
	CREATE VIEW settling AS SELECT i, 7 / i AS quotient, 1.0::DOUBLE / (i - 1) AS zero, date_trunc('day', moment) AS day, year(moment) AS year,
		moments, (SELECT i FROM (SELECT i FROM settled ORDER BY nullif(i, 3) LIMIT 1)) AS first,
		isinf(1.0::DOUBLE / (i - 1)) AS infinite FROM settled;
	CREATE VIEW several AS SELECT i, (SELECT s.i FROM settled s WHERE s.i > settled.i) AS any_of FROM settled;
	CREATE VIEW comparing AS SELECT 'a' = 'A' AS same`

// unprepared returns the flavor without the settings that it states.
func unprepared(f sqlengine.Flavor) sqlengine.Flavor {
	f.Session = nil
	return f
}

// askedOf returns a connector over a database, which logs internal errors alone.
func askedOf(t *testing.T, db *sql.DB, flavor sqlengine.Flavor, o *sqlsource.Options) situation.Asked {
	t.Helper()
	source := testkit.Must(sqlsource.New(db, flavor, o))(t)
	return situation.Asked{Handler: testkit.New(connectortest.Token, connector.Definition{Slug: "survey"}, source, testkit.Quiet()),
		Token: connectortest.Token}
}

// TestSettings asks of a database whose settings spoil answers: by the differential test, and by
// views. The answers are those of a database where nobody has set them.
func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.duckdb")
	plain, _ := reach(t, file)
	testkit.Must(plain.ExecContext(t.Context(), settingsViews))(t)
	asked := func(db *sql.DB, flavor sqlengine.Flavor) situation.Asked { return askedOf(t, db, flavor, nil) }
	all := situation.NewSurvey(t, asked(plain, duckdb.Flavor()))
	want := all.Answers(t, asked(plain, duckdb.Flavor()))
	require.Greater(t, len(want), 30, "%q", want)
	require.NoError(t, plain.Close())
	var unseen []string
	var statements []string
	for _, s := range hostile {
		statements = append(statements, "SET SESSION "+s)
		db, _ := reach(t, file, "SET SESSION "+s)
		require.Empty(t, all.Differences(want, all.Answers(t, asked(db, duckdb.Flavor()))), s)
		require.NoError(t, db.Close())
		db, _ = reach(t, file, "SET SESSION "+s)
		if all.Same(t, asked(db, unprepared(duckdb.Flavor())), want) {
			unseen = append(unseen, s)
		}
		require.NoError(t, db.Close())
	}
	require.Equal(t, []string{
		"preserve_insertion_order = false", // needs more rows than a thread reads at once
		"binary_as_string = true",          // needs a file of Parquet that says of no text that it is one
	}, unseen)
	if testing.Short() {
		return
	}
	e := kit(t)
	e.DB, _ = reach(t, file, statements...)
	sqlsourcetest.Run(t, e, &sqlsourcetest.Options{Queries: 60, Without: []string{"pages", "changing pages", "large joins"}})
}

// TestSettingsKnown notices a setting of the engine that nobody has looked at. Those of testdata/settings.txt
// change no answer; what stands before them there says why.
func TestSettingsKnown(t *testing.T) {
	known := map[string]bool{}
	for _, s := range hostile {
		name, _, _ := strings.Cut(s, " ")
		known[name] = true
	}
	for _, values := range situation.Settings(t, "testdata/settings.txt") {
		for _, s := range values {
			require.False(t, known[s.Name], s.Name)
			known[s.Name] = true
		}
	}
	var names string
	require.NoError(t, open(t, "").QueryRowContext(t.Context(), "SELECT string_agg(name, ' ') FROM duckdb_settings()").Scan(&names))
	for _, name := range strings.Fields(names) {
		assert.True(t, known[name], "%s: state it, or list it in testdata/settings.txt with the reason why it changes no answer", name)
	}
}
