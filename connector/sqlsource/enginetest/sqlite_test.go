package enginetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fileConnector connects to one file.
type fileConnector struct {
	driver driver.Driver
	name   string
}

// file returns the name of the file.
func (c fileConnector) file() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(c.name, "file:"), "?")
	return name
}

func (c fileConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }
func (c fileConnector) Driver() driver.Driver                        { return c.driver }

// openSQLite opens a file, which it creates if it does not exist, and fills it by
// a script.
func openSQLite(t testing.TB, file, script string) *database {
	t.Helper()
	db := testkit.Must(sql.Open("sqlite", file))(t)
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
	name: "sqlite", key: "INTEGER", text: "TEXT",
	create: func(t testing.TB) *database {
		return openSQLite(t, "file:"+filepath.Join(t.TempDir(), "test.sqlite")+"?_pragma=busy_timeout(10000)", "")
	},
	plain: func(t testing.TB) *database { return newSQLite(t, "") },
	by: func(t testing.TB, db *database, options string) *database {
		return openSQLite(t, "file:"+db.driver.(fileConnector).file()+"?"+options, "")
	},
	plans: sqlitePlans,
	month: "substr(moment, 1, 7)",
	schemas: func(t *testing.T) (*database, schemaNames) { // attached databases, which are schemas of the pool's one connection
		dir := t.TempDir()
		db := newSQLite(t, "CREATE TABLE unseen (id INTEGER)")
		db.SetMaxOpenConns(1)
		for _, name := range []string{"crm", "sales", "crm.x"} {
			testkit.Must(db.Exec(`ATTACH ? AS "`+name+`"`, filepath.Join(dir, name+".sqlite")))(t)
		}
		db.execute(t, script(t, "schemas_sqlite"))
		return db, schemaNames{one: "crm", two: "sales", dotted: "crm.x"}
	},
	conformance: conformanceOf{casesOf: 3},
	discovery: discoveryOf{
		wide:     []int{350, 700, 900, 1600, 2000},
		slow:     fmt.Sprintf(numbers, 1_000_000_000_000) + "SELECT count(*) AS n FROM n",
		broken:   fmt.Sprintf(numbers, 200) + "SELECT i, CASE WHEN i = 150 THEN json('no JSON') END AS x FROM n",
		aboutAll: "pragma_table_list",
	},
}

var sqlitePlans = plansOf{
	explain:  "EXPLAIN QUERY PLAN ",
	searched: `SEARCH t0 USING (COVERING )?INDEX events_%s\b`,
	ordered:  `(SEARCH|SCAN) t0 USING (COVERING )?INDEX events_%s\b`,
	scans:    []string{`SCAN t0\s*$`},
	sorts:    []string{`TEMP B-TREE FOR ORDER BY`},
}
