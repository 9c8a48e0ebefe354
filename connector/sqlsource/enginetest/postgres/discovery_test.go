package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

func TestWide(t *testing.T) {
	db, _ := database(t)
	suite.Wide(t, db, sqlsource.PostgreSQL(), 350, 700, 900, 1600)
}

func TestBudgets(t *testing.T) {
	db, _ := database(t)
	suite.Budgets(t, db, sqlsource.PostgreSQL(), "SELECT 1 AS n, pg_sleep(600)::text AS s",
		"SELECT i, 1 / (150 - i) AS x FROM generate_series(1, 200) i")
}

func TestNullability(t *testing.T) {
	db, _ := database(t)
	load(t, db, `
		CREATE TABLE clean (d date, i bigint NOT NULL, t timestamptz NOT NULL, u timestamp NOT NULL, n numeric NOT NULL,
			m numeric(8,2) NOT NULL, f float8 NOT NULL, PRIMARY KEY (d, i));
		INSERT INTO clean VALUES ('2024-01-01', 1, now(), now(), 1, 2, 3);
		CREATE TABLE dirty (id bigint PRIMARY KEY, d date NOT NULL, t timestamptz NOT NULL, u timestamp NOT NULL, n numeric NOT NULL,
			m numeric(8,2) NOT NULL, f float8 NOT NULL);
		INSERT INTO dirty VALUES (1, 'infinity', '-infinity', '0044-03-15 BC', 'NaN', 'NaN', '-Infinity');
		CREATE TABLE keyed (k date PRIMARY KEY);
		INSERT INTO keyed VALUES ('infinity'), ('-infinity'), ('2024-01-01')`)
	suite.Nullability(t, db, sqlsource.PostgreSQL())
}

func TestCounts(t *testing.T) {
	db, _ := database(t)
	suite.Counts(t, db, sqlsource.PostgreSQL(), func(n int) string { return fmt.Sprintf("SELECT i FROM generate_series(1, %d) i", n) })
	load(t, db, `CREATE TABLE large AS SELECT i FROM generate_series(1, 2000001) i; ANALYZE large;
		CREATE MATERIALIZED VIEW kept AS SELECT 1 AS i`)
	tables, warnings := suite.Discover(t, db, sqlsource.PostgreSQL(), nil, time.Hour)
	assert.InDelta(t, 2_000_001, *tables["large"].RowCount, 100_000)
	assert.Contains(t, warnings, `The row count of the table "large" is the database's estimate, because there are more than 2000000 rows.`)
	assert.True(t, tables["kept"].StoresRows, "a materialized view")
	assert.EqualValues(t, 1, *tables["kept"].RowCount)
	assert.False(t, tables["counted"].StoresRows, "a view")
}

// TestUnread warns of what the user may not read, and of keys that are left out.
func TestUnread(t *testing.T) {
	db, own := database(t)
	role := own.Database + "_reader"
	load(t, db, fmt.Sprintf(`CREATE ROLE %[1]s LOGIN PASSWORD 'x';
		CREATE SCHEMA closed; CREATE TABLE closed.t (id bigint PRIMARY KEY);
		CREATE SCHEMA barren; GRANT USAGE ON SCHEMA barren TO %[1]s; CREATE TABLE barren.t (id bigint);
		CREATE SCHEMA empty; GRANT USAGE ON SCHEMA empty TO %[1]s;
		CREATE TABLE target (id bigint PRIMARY KEY);
		CREATE TABLE secret (id bigint PRIMARY KEY);
		CREATE TABLE parent (id bigint PRIMARY KEY); CREATE TABLE child () INHERITS (parent);
		CREATE TABLE late (id bigint PRIMARY KEY DEFERRABLE);
		CREATE TABLE leads (id bigint, hidden bigint, t bigint REFERENCES target, s bigint REFERENCES secret, c bigint REFERENCES closed.t,
			PRIMARY KEY (id, hidden));
		CREATE VIEW fails AS SELECT 1 / (id - id) AS x FROM leads;
		INSERT INTO leads (id, hidden) VALUES (1, 1);
		GRANT SELECT ON target, parent, child, late, fails TO %[1]s; GRANT SELECT (id, t, s, c) ON leads TO %[1]s`, role))
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		require.NoError(t, err)
	})
	reader := own.Copy()
	reader.User, reader.Password = role, "x"
	as := stdlib.OpenDB(*reader)
	t.Cleanup(func() { _ = as.Close() })
	for schema, want := range map[string]string{
		"closed": `The user may read no table of the schema "closed": GRANT USAGE ON SCHEMA "closed" to the user, and SELECT on its tables.`,
		"barren": `The user may read no table of the schema "barren": GRANT SELECT ON ALL TABLES IN SCHEMA "barren" to the user.`,
		"empty":  `The schema "empty" has no tables.`,
		"public": `Of the tables and views in the schema "public", 1 are left out because the user may not read them: ` +
			`GRANT SELECT on those that are to be served.
The table "fails" is left out because reading it failed; whoever runs the database can tell why.
In table "late", the primary key ("id") is left out because it is deferrable, so that a transaction may see it broken.
In table "leads", the primary key ("id") is left out because the user may not read all of its columns.
In table "leads", the foreign key ("c") is left out because the table that it leads to is in a schema that is not served.
In table "leads", the foreign key ("s") is left out because the table that it leads to is not in this answer: ` +
			`it does not exist, or the user may not read it.
In table "parent", the primary key ("id") is left out because other tables inherit from the table, and it does not bind their rows.`,
	} {
		t.Run(schema, func(t *testing.T) {
			tables, warnings := suite.Discover(t, as, sqlsource.PostgreSQL(), &sqlsource.Options{Schema: schema}, time.Hour)
			require.Equal(t, want, warnings)
			require.NotContains(t, tables, "fails")
		})
	}
}
