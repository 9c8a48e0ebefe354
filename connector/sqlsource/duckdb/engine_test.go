package duckdb_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// reach returns a database, in memory if it has no name, and the driver's connector to it. Each connection
// begins with the statements.
func reach(t testing.TB, dsn string, statements ...string) (*sql.DB, *driver.Connector) {
	t.Helper()
	own := testkit.Must(driver.NewConnector(dsn, func(c sqldriver.ExecerContext) error {
		for _, s := range statements {
			if _, err := c.ExecContext(context.Background(), s, nil); err != nil {
				return err
			}
		}
		return nil
	}))(t)
	db := sql.OpenDB(own)
	t.Cleanup(func() { _ = db.Close() })
	return db, own
}

// open opens a database in memory, and runs a script.
func open(t testing.TB, script string) *sql.DB {
	t.Helper()
	db, _ := reach(t, "")
	testkit.Must(db.ExecContext(context.Background(), "SELECT 1;"+script))(t)
	return db
}

// quoted returns a text in SQL. It spells a NUL out, because the driver ends a
// statement there.
func quoted(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "'", "''"), "\x00", "' || chr(0) || '") + "'"
}

// ask asks a request that is written as in a situation, and returns the answer as a situation has it.
func ask(t *testing.T, tenant *connectortest.Tenant, line string) string {
	t.Helper()
	route, body, _ := strings.Cut(line, " ")
	return (&situation.Asking{Tenant: tenant}).Answer(t, situation.Request{Route: route, Body: body})
}

// types are the columns that are tested.
func types(t testing.TB) []sqlsourcetest.Type { return situation.Types(t, "testdata/types.jsonl") }

// kit returns the engine with an empty database. Its nulls are first, unless a statement
// says otherwise.
func kit(t testing.TB) sqlsourcetest.Engine {
	db := open(t, "SET GLOBAL default_null_order = 'nulls_first'")
	return sqlsourcetest.Engine{Flavor: duckdb.Flavor(), DB: db, Key: "BIGINT", Types: types(t)}
}

// TestDifferential asks the engine and memory the same. SQLSOURCE_QUERIES makes it
// longer, SQLSOURCE_SEED repeats it. DuckDB refuses an UPDATE of a table with an index
// while a transaction that began before another UPDATE is open, so no rows change
// between pages.
func TestDifferential(t *testing.T) {
	queries, err := strconv.Atoi(os.Getenv("SQLSOURCE_QUERIES"))
	if err != nil {
		queries = 1000
	}
	seed, _ := strconv.ParseUint(os.Getenv("SQLSOURCE_SEED"), 10, 64)
	sqlsourcetest.Run(t, kit(t), &sqlsourcetest.Options{Queries: queries, Seed: seed, Without: []string{"changing pages"}})
}

// TestHostile sends hostile texts in every place of a request.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the catalog for each of thousands of statements; run without -short")
	}
	db, c := reach(t, filepath.Join(t.TempDir(), "hostile.duckdb"))
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: duckdb.Flavor(), DB: db, Key: "BIGINT"}, c)
}

// TestPlanted proves that the differential test finds every bug that the command plant
// of enginetest has planted. The bugs name themselves in the environment.
func TestPlanted(t *testing.T) {
	bugs := os.Getenv("SQLSOURCE_BUGS")
	if bugs == "" {
		require.Empty(t, os.Getenv("SQLSOURCE_PLANTED"), "no bug is planted: the overlay of the command plant is missing")
		t.Skip("needs the overlay of the command plant; see the package documentation of enginetest")
	}
	options := &sqlsourcetest.Options{Queries: 3000, Seed: 7, Without: []string{"changing pages"}}
	// A session states where nulls are, so a statement that leaves it out sorts them there too.
	harmless := func(bug string) bool { return bug == "nulls stand where the engine has them" }
	require.True(t, slices.ContainsFunc(strings.Split(bugs, "\n"), harmless))
	sqlsourcetest.Planted(t, kit(t), options, slices.DeleteFunc(strings.Split(bugs, "\n"), harmless), func(bug string) {
		require.NoError(t, os.Setenv("SQLSOURCE_BUG", bug))
	})
}
