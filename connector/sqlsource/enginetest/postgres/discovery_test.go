package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
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

// BenchmarkDiscoverMany shows that discovery is linear in the number of tables.
//
//	go test -run '^$' -bench DiscoverMany -benchtime 1x .
func BenchmarkDiscoverMany(b *testing.B) {
	db, _ := database(b)
	suite.DiscoverMany(b, db, sqlsource.PostgreSQL())
}

// TestFailures makes statements fail that work when they are tried again.
func TestFailures(t *testing.T) {
	_, own := database(t)
	suite.Failures(t, stdlib.GetConnector(*own), sqlsource.PostgreSQL())
}

// TestForeignKeys counts the values that break keys which the server does not vouch for.
func TestForeignKeys(t *testing.T) {
	db, own := database(t)
	role := own.Database + "_reader"
	load(t, db, `
		CREATE TABLE target (id bigint PRIMARY KEY, a text, b text, UNIQUE (a, b));
		INSERT INTO target SELECT n, 'a' || n, 'b' || n FROM generate_series(1, 100) n;
		CREATE TABLE enforced (t bigint REFERENCES target); INSERT INTO enforced VALUES (100), (NULL);
		CREATE TABLE unvalidated (t bigint, u bigint);
		INSERT INTO unvalidated SELECT n + 40, n FROM generate_series(1, 100) n;
		ALTER TABLE unvalidated ADD FOREIGN KEY (t) REFERENCES target NOT VALID, ADD FOREIGN KEY (u) REFERENCES target NOT VALID;
		CREATE TABLE pairs (a text, b text, FOREIGN KEY (a, b) REFERENCES target (a, b));
		INSERT INTO pairs VALUES ('a1', 'b1'), ('none', NULL);
		CREATE TABLE disabled (t bigint REFERENCES target); ALTER TABLE disabled DISABLE TRIGGER ALL;
		INSERT INTO disabled VALUES (1), (101);
		CREATE TABLE parent (t bigint REFERENCES target); CREATE TABLE child () INHERITS (parent);
		INSERT INTO parent VALUES (1); INSERT INTO child VALUES (101);
		CREATE TABLE hidden (id bigint PRIMARY KEY); INSERT INTO hidden VALUES (1), (2);
		CREATE TABLE policed (t bigint REFERENCES hidden); INSERT INTO policed VALUES (1), (2);
		CREATE ROLE `+role+` LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO `+role+`;
		ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; CREATE POLICY first ON hidden USING (id = 1)`)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		require.NoError(t, err)
	})
	keys := func(pairs ...string) (keys []wire.ForeignKey) {
		for pair := range slices.Chunk(pairs, 2) {
			keys = append(keys, wire.ForeignKey{Field: pair[0], TargetTable: "target", TargetField: pair[1]})
		}
		return keys
	}
	broken := func(table, field, count, target string) string {
		return fmt.Sprintf("In table %q, the foreign key (%q) is broken: %s values are not in the table %q.",
			table, field, count, target)
	}
	reader := own.Copy()
	reader.User = role
	as := stdlib.OpenDB(*reader)
	t.Cleanup(func() { require.NoError(t, as.Close()) })
	for _, profile := range []time.Duration{0, -1} { // with and without statistics
		tables, warnings := suite.Discover(t, as, sqlsource.PostgreSQL(), &sqlsource.Options{Profile: profile}, time.Hour)
		suite.ForeignKeys(t, tables, warnings, []suite.KeyCase{
			{Why: "the server enforces it", Table: "enforced", Keys: keys("t", "id")},
			{Why: "rows from before it are not checked", Table: "unvalidated", Keys: keys("t", "id", "u", "id"),
				Warning: broken("unvalidated", "t", "40 of 100", "target")},
			{Why: "a key of which one column is null is not checked", Table: "pairs", Keys: keys("a", "a", "b", "b"),
				Warning: broken("pairs", "a", "1 of 2", "target")},
			{Why: "its triggers are off", Table: "disabled", Keys: keys("t", "id"), Warning: broken("disabled", "t", "1 of 2", "target")},
			{Why: "it does not bind the tables that inherit", Table: "parent", Keys: keys("t", "id"),
				Warning: broken("parent", "t", "1 of 2", "target")},
			{Why: "a policy hides what it leads to", Table: "policed",
				Keys:    []wire.ForeignKey{{Field: "t", TargetTable: "hidden", TargetField: "id"}},
				Warning: broken("policed", "t", "1 of 2", "hidden")},
		})
	}
	tables, _ := suite.Discover(t, db, sqlsource.PostgreSQL(), nil, time.Hour)
	require.Len(t, tables["policed"].ForeignKeys, 1, "for a user whom no policy binds")
}

func TestLinear(t *testing.T) {
	_, own := database(t)
	suite.Linear(t, stdlib.GetConnector(*own), sqlsource.PostgreSQL(), "pg_catalog")
}
