package mysql

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestWide(t *testing.T) {
	db, _ := database(t)
	suite.Wide(t, db, sqlsource.MySQL(), 350, 700, 900)
}

func TestBudgets(t *testing.T) {
	db, _ := database(t)
	suite.Execute(t, db, "CREATE TABLE numbers (i INT)")
	for range 10 {
		suite.Execute(t, db, "INSERT INTO numbers VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15)")
	}
	suite.Execute(t, db, "INSERT INTO numbers VALUES (150), (151)")
	suite.Budgets(t, db, sqlsource.MySQL(), "SELECT 1 AS n, SLEEP(600) AS s",
		"SELECT i, CASE WHEN i >= 150 THEN (SELECT 1 UNION SELECT 2) END AS x FROM numbers")
}

func TestNullability(t *testing.T) {
	db, _ := database(t)
	suite.Execute(t, db,
		`CREATE TABLE clean (d DATE, i BIGINT, t DATETIME(3) NOT NULL, s TIMESTAMP NOT NULL, n DECIMAL(8,2) NOT NULL, f DOUBLE NOT NULL,
			PRIMARY KEY (d, i))`,
		`INSERT INTO clean VALUES ('2024-01-01', 1, '2024-01-01', '2024-01-01', 1, 2)`,
		`CREATE TABLE dirty (id BIGINT PRIMARY KEY, d DATE NOT NULL, t DATETIME(3) NOT NULL, s TIMESTAMP NOT NULL)`,
		`INSERT INTO dirty VALUES (1, '0000-00-00', '2024-00-01', '0000-00-00')`,
		`CREATE TABLE keyed (k DATE PRIMARY KEY)`,
		`INSERT INTO keyed VALUES ('0000-00-00'), ('2024-01-00'), ('2024-01-01')`)
	suite.Nullability(t, db, sqlsource.MySQL())
}

func TestCounts(t *testing.T) {
	db, _ := database(t)
	suite.Counts(t, db, sqlsource.MySQL(), func(n int) string { return fmt.Sprintf("SELECT seq AS i FROM seq_1_to_%d", n) })
}

// TestUnread warns if the user may read nothing, and of keys that are left out.
func TestUnread(t *testing.T) {
	db, own := database(t)
	suite.Execute(t, db, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
	other, otherConfig := database(t)
	suite.Execute(t, other, fmt.Sprintf("CREATE TABLE u (id BIGINT PRIMARY KEY, t BIGINT, FOREIGN KEY (t) REFERENCES %s.t (id))", own.DBName))
	_, warnings := suite.Discover(t, other, sqlsource.MySQL(), nil, time.Hour)
	assert.Equal(t, `In table "u", the foreign key ("t") is left out `+
		`because the table that it leads to is in a schema that is not served.`, warnings)
	suite.Execute(t, other, "DROP TABLE u")

	user := "u" + own.DBName[len(own.DBName)-8:]
	suite.Execute(t, db, "CREATE USER "+user+" IDENTIFIED BY 'x'")
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "DROP USER "+user)
		require.NoError(t, err)
	})
	reader := otherConfig.Clone()
	reader.User, reader.Passwd, reader.DBName = user, "x", ""
	as := open(t, reader)
	t.Cleanup(func() { _ = as.Close() })
	tables, warnings := suite.Discover(t, as, sqlsource.MySQL(), &sqlsource.Options{Schema: own.DBName}, time.Hour)
	assert.Empty(t, tables)
	assert.Contains(t, warnings,
		fmt.Sprintf(`The user may read no table of the database %q, or it has none: GRANT SELECT ON %[1]q.* to the user.`, own.DBName))
	_, warnings = suite.Discover(t, as, sqlsource.MySQL(), nil, time.Hour)
	assert.Contains(t, warnings, "No database is chosen, so there are no tables: name one.")
}

// BenchmarkDiscoverMany shows that discovery is linear in the number of tables.
//
//	go test -run '^$' -bench DiscoverMany -benchtime 1x .
func BenchmarkDiscoverMany(b *testing.B) {
	db, _ := database(b)
	suite.DiscoverMany(b, db, sqlsource.MySQL())
}

// TestFailures makes statements fail that work when they are tried again.
func TestFailures(t *testing.T) {
	_, own := database(t)
	driver, err := mysql.NewConnector(own)
	require.NoError(t, err)
	suite.Failures(t, driver, sqlsource.MySQL())
}

// TestForeignKeys counts the values that break keys which the server does not vouch for.
func TestForeignKeys(t *testing.T) {
	db, _ := database(t)
	suite.Execute(t, db,
		"CREATE TABLE target (id BIGINT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), UNIQUE (a, b), INDEX (b))",
		"INSERT INTO target VALUES (1, 'a1', 'b1')",
		"CREATE TABLE enforced (t BIGINT, FOREIGN KEY (t) REFERENCES target (id))", "INSERT INTO enforced VALUES (1), (NULL)",
		"CREATE TABLE pairs (a VARCHAR(9), b VARCHAR(9), FOREIGN KEY (a, b) REFERENCES target (a, b))",
		"INSERT INTO pairs VALUES ('a1', 'b1'), ('none', NULL)")
	for _, profile := range []time.Duration{0, -1} { // with and without statistics
		tables, warnings := suite.Discover(t, db, sqlsource.MySQL(), &sqlsource.Options{Profile: profile}, time.Hour)
		suite.ForeignKeys(t, tables, warnings, []suite.KeyCase{
			{Why: "the server enforces it", Table: "enforced", Keys: []wire.ForeignKey{{Field: "t", TargetTable: "target", TargetField: "id"}}},
			{Why: "a key of which one column is null is not checked", Table: "pairs",
				Keys: []wire.ForeignKey{
					{Field: "a", TargetTable: "target", TargetField: "a"}, {Field: "b", TargetTable: "target", TargetField: "b"},
				},
				Warning: `In table "pairs", the foreign key ("a") is broken: 1 of 2 values are not in the table "target".`},
		})
	}
}

func TestLinear(t *testing.T) {
	_, own := database(t)
	driver, err := mysql.NewConnector(own)
	require.NoError(t, err)
	suite.Linear(t, driver, sqlsource.MySQL(), "information_schema")
}
