package duckdb_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"

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
var ask = situation.Ask

// types are the columns that are tested.
func types(t testing.TB) []sqlsourcetest.Type { return situation.Types(t, "testdata/types.jsonl") }

// kit returns the engine with an empty database. Its nulls are first, unless a statement
// says otherwise.
func kit(t testing.TB) sqlsourcetest.Engine {
	db := open(t, "SET GLOBAL default_null_order = 'nulls_first'")
	return sqlsourcetest.Engine{Flavor: duckdb.Flavor(), DB: db, Key: "BIGINT", Types: types(t)}
}

// TestDifferential asks the engine and memory the same. DuckDB refuses an UPDATE of a table with an index
// while a transaction that began before another UPDATE is open, so no rows change between pages.
func TestDifferential(t *testing.T) {
	sqlsourcetest.Run(t, kit(t), situation.Questions(1000, "changing pages"))
}

// TestHostile sends hostile texts in every place of a request.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the catalog for each of thousands of statements; run without -short")
	}
	db, c := reach(t, filepath.Join(t.TempDir(), "hostile.duckdb"))
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: duckdb.Flavor(), DB: db, Key: "BIGINT"}, c)
}

// TestPlanted proves that the differential test finds every bug that the command plant of enginetest has planted.
func TestPlanted(t *testing.T) {
	bugs := situation.Bugs(t)
	// A session states where nulls are, so a statement that leaves it out sorts them there too.
	harmless := slices.Index(bugs, "nulls stand where the engine has them")
	require.GreaterOrEqual(t, harmless, 0)
	situation.Planted(t, kit(t), slices.Delete(bugs, harmless, harmless+1), "changing pages")
}
