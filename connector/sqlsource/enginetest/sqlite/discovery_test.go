package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

func TestWide(t *testing.T) {
	suite.Wide(t, open(t, filepath.Join(t.TempDir(), "test.sqlite"), ""), sqlsource.SQLite(), 350, 700, 900, 1600, 1999)
}

func TestBudgets(t *testing.T) {
	suite.SkipShort(t)
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
	suite.Budgets(t, open(t, filepath.Join(t.TempDir(), "test.sqlite"), ""), sqlsource.SQLite(),
		fmt.Sprintf(numbers, 1_000_000_000_000)+"SELECT count(*) AS n FROM n",
		fmt.Sprintf(numbers, 200)+"SELECT i, CASE WHEN i = 150 THEN json('no JSON') END AS x FROM n")
}

func TestNullability(t *testing.T) {
	suite.Nullability(t, open(t, filepath.Join(t.TempDir(), "test.sqlite"), `
		CREATE TABLE clean (id INT PRIMARY KEY NOT NULL, r REAL NOT NULL, n INTEGER NOT NULL, m NUMERIC NOT NULL);
		INSERT INTO clean VALUES (1, 1.5, 2, 3.25);
		CREATE TABLE dirty (id INTEGER PRIMARY KEY, r REAL NOT NULL, n INTEGER NOT NULL, m NUMERIC NOT NULL);
		INSERT INTO dirty VALUES (1, 9e999, 9e999, -9e999);
		CREATE TABLE keyed (k REAL PRIMARY KEY NOT NULL);
		INSERT INTO keyed VALUES (9e999), (-9e999)`), sqlsource.SQLite())
}

func TestCounts(t *testing.T) {
	suite.Counts(t, open(t, filepath.Join(t.TempDir(), "test.sqlite"), ""), sqlsource.SQLite(), func(n int) string {
		return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n", n)
	})
}

// TestOmitted warns of each key that is left out, and of nothing that the host
// hides.
func TestOmitted(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "test.sqlite"), `
		CREATE TABLE named (name TEXT PRIMARY KEY, gone INTEGER REFERENCES nowhere (id), shy INTEGER REFERENCES hidden (id));
		CREATE TABLE hidden (id INTEGER PRIMARY KEY)`)
	tables, warnings := suite.Discover(t, db, sqlsource.SQLite(), &sqlsource.Options{
		Tables: map[string]sqlsource.TableOptions{"hidden": {Hidden: true}},
	}, time.Hour)
	assert.Len(t, tables, 1)
	assert.Equal(t, `In table "named", the primary key ("name") is left out because SQLite lets nulls into it; `+
		`declare its columns NOT NULL, or name the key in the options of this connector.`+"\n"+
		`In table "named", the foreign key ("gone") is left out because the table or the columns that it leads to do not exist.`, warnings)
	_, warnings = suite.Discover(t, open(t, filepath.Join(t.TempDir(), "test.sqlite"),
		"CREATE TABLE flags (flag BOOLEAN NOT NULL PRIMARY KEY, code UNIQUE)"), sqlsource.SQLite(), nil, time.Hour)
	const loose = " is left out because values that the database tells apart are equal in an answer."
	assert.Equal(t, `In table "flags", the unique key ("code")`+loose+"\n"+`In table "flags", the primary key ("flag")`+loose, warnings)
	_, warnings = suite.Discover(t, open(t, filepath.Join(t.TempDir(), "test.sqlite"), ""), sqlsource.SQLite(), nil, time.Hour)
	assert.Equal(t, "The database has no tables.", warnings)
}
