package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
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

// BenchmarkDiscoverMany shows that discovery is linear in the number of tables.
//
//	go test -run '^$' -bench DiscoverMany -benchtime 1x .
func BenchmarkDiscoverMany(b *testing.B) {
	suite.DiscoverMany(b, open(b, filepath.Join(b.TempDir(), "test.sqlite"), ""), sqlsource.SQLite())
}

// TestFailures makes statements fail that work when they are tried again.
func TestFailures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.sqlite")
	suite.Failures(t, fileConnector{open(t, file, "").Driver(), file}, sqlsource.SQLite())
}

// TestForeignKeys counts the values that break keys, in a database that does not
// enforce them.
func TestForeignKeys(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "test.sqlite"), `
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
		INSERT INTO mixed VALUES (1), ('c1')`)
	cases := []suite.KeyCase{
		{Why: "all values are there", Table: "sound", Keys: []wire.ForeignKey{{Field: "t", TargetTable: "target", TargetField: "id"}}},
		{Why: "orphans of one key say nothing of another", Table: "broken",
			Keys: []wire.ForeignKey{
				{Field: "t", TargetTable: "target", TargetField: "id"}, {Field: "good", TargetTable: "target", TargetField: "id"},
			},
			Warning: `In table "broken", the foreign key ("t") is broken: 40 of 100 values are not in the table "target".`},
		{Why: "the platform tells cases apart", Table: "texts",
			Keys:    []wire.ForeignKey{{Field: "code", TargetTable: "target", TargetField: "code"}},
			Warning: `In table "texts", the foreign key ("code") is broken: 1 of 2 values are not in the table "target".`},
		{Why: "no engine checks a key of which one column is null", Table: "pairs",
			Keys: []wire.ForeignKey{
				{Field: "a", TargetTable: "target", TargetField: "a"}, {Field: "b", TargetTable: "target", TargetField: "b"},
			},
			Warning: `In table "pairs", the foreign key ("a") is broken: 1 of 2 values are not in the table "target".`},
		{Why: "values of several types", Table: "mixed",
			Keys:    []wire.ForeignKey{{Field: "t", TargetTable: "target", TargetField: "code"}},
			Warning: `In table "mixed", the foreign key ("t") is broken: 1 of 2 values are not in the table "target".`},
		{Why: "no value of it matches", Table: "invented",
			Warning: `In table "invented", the foreign key ("t") is left out because none of its values is in the table "target".`},
		{Why: "nothing breaks it", Table: "empty", Keys: []wire.ForeignKey{{Field: "t", TargetTable: "target", TargetField: "id"}}},
	}
	for _, profile := range []time.Duration{0, -1} { // with and without statistics
		tables, warnings := suite.Discover(t, db, sqlsource.SQLite(), &sqlsource.Options{Profile: profile}, time.Hour)
		suite.ForeignKeys(t, tables, warnings, cases)
	}
}

func TestLinear(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.sqlite")
	suite.Linear(t, fileConnector{open(t, file, "").Driver(), file}, sqlsource.SQLite(), "pragma_table_list")
}

// TestLate answers a discovery whose time is over while it reads the catalog: what it
// has read is listed, and one warning names the rest.
func TestLate(t *testing.T) {
	const over = "The time of this discovery was over before these tables were "
	for _, c := range []struct {
		why, statement string // the 16th that has this text takes all the time
		tables, looked int
		warning        string
	}{
		{"the pragmas", "pragma_table_xinfo(?1, ?2) WHERE hidden", 16, 0,
			over + `described, so they are left out: "t16", "t17", "t18", "t19", "t20", "t21", "t22", "t23", "t24", "t25" and 4 more. `},
		{"the first rows", "COUNT(CASE WHEN", 30, 15,
			over + `read in full, so they are listed as the catalog of the database has them, without statistics, ` +
				`without keys that only their rows prove, and perhaps without samples: ` +
				`"t00", "t01", "t02", "t03", "t04", "t05", "t06", "t07", "t08", "t09" and 20 more. `},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "test.sqlite")
				made := open(t, file, "")
				for i := range 30 {
					suite.Execute(t, made, fmt.Sprintf("CREATE TABLE t%02d (id INT NOT NULL PRIMARY KEY, day DATE, t00 INT REFERENCES t00)", i),
						fmt.Sprintf("INSERT INTO t%02d VALUES (1, '2024-01-01 10:00:00', 1)", i))
				}
				seen := 0
				db := sqlsourcetest.Intercept(fileConnector{made.Driver(), file}, func(text string) error {
					if strings.Contains(text, c.statement) {
						if seen++; seen == 16 {
							time.Sleep(9100 * time.Millisecond) // of ten seconds, one is kept for the answer
						}
					}
					return nil
				})
				defer func() { require.NoError(t, db.Close()) }()
				tables, warnings := suite.Discover(t, db, sqlsource.SQLite(), nil, 10*time.Second)
				require.Len(t, tables, c.tables)
				assert.Equal(t, c.warning+"Allow the discovery more time, or serve fewer tables.", strings.Split(warnings, "\n")[0])
				for i := range c.tables {
					table := tables[fmt.Sprintf("t%02d", i)]
					want := wire.TypeDatetime // as the rows have it
					if i >= c.looked {
						want = wire.TypeDate
					}
					assert.Equal(t, want, table.Field("day").Type, table.Name)
					assert.Empty(t, table.PrimaryKey, "a key whose values nobody looked at")
					assert.Empty(t, table.ForeignKeys, "a key that was not checked")
				}
				assert.NotContains(t, warnings, "foreign key", "the one warning says it")
			})
		})
	}
}
