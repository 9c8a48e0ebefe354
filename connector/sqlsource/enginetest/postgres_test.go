package enginetest

import (
	"fmt"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var postgres = engine{
	name: "postgres", key: "bigint", text: "text",
	create:  func(t testing.TB) *database { return &newPostgres(t).database },
	plain:   func(t testing.TB) *database { return &newPostgres(t).database },
	variant: func(t testing.TB, options string) *database { return &newPostgres(t, options).database },
	reader:  postgresReader,
	makeTypes: `
		CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
		CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'Zany');
		CREATE DOMAIN cents AS numeric(8,2);
		CREATE DOMAIN price AS cents`,
	schemas: postgresSchemas, plans: postgresPlans, server: postgresServer,
	month: "date_trunc('month', moment)",
	conformance: conformanceOf{
		mayAdvise: map[string]string{"A.6": "a numeric has no minus zero, so -0 is read as 0"},
		casesOf:   10,
		slow:      slowPostgres,
		lingering: `CREATE VIEW lingering AS SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS words (id, name)
			WHERE (SELECT pg_sleep(1)::text) IS NOT NULL`,
	},
	discovery: discoveryOf{
		wide:     []int{350, 700, 900, 1600},
		slow:     "SELECT 1 AS n, pg_sleep(600)::text AS s",
		broken:   "SELECT i, 1 / (150 - i) AS x FROM generate_series(1, 200) i",
		aboutAll: "pg_catalog",
	},
}

// slowPostgres creates the table slow, whose policy waits, for a role that is under
// it: a superuser is not.
func slowPostgres(t *testing.T, db *database) wire.Credentials {
	role := postgresRole(t, db, "")
	db.execute(t, fmt.Sprintf(`CREATE TABLE %[2]s (id bigint PRIMARY KEY, name text NOT NULL);
		INSERT INTO %[2]s VALUES (1, 'one'), (2, 'two'), (3, 'three');
		ALTER TABLE %[2]s ENABLE ROW LEVEL SECURITY;
		CREATE POLICY waiting ON %[2]s USING ((SELECT pg_sleep(%[3]d)::text) IS NOT NULL);
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO %[1]s`, role, corpus.Slow().Name, int(corpus.SlowStall.Seconds())))
	return wire.NewCredentials(map[string]string{
		"user": role, "password": rolePassword, "database": db.credentials["database"],
	})
}

// postgresSchemas returns a database with several schemas.
func postgresSchemas(t *testing.T) (*database, schemaNames) {
	db := newPostgres(t)
	db.execute(t, `CREATE SCHEMA crm; CREATE SCHEMA sales; CREATE SCHEMA "crm.x";
		CREATE TABLE crm.people (id bigint PRIMARY KEY); INSERT INTO crm.people VALUES (1);
		CREATE TABLE sales.people (id bigint PRIMARY KEY);
		CREATE TABLE sales.orders (id bigint PRIMARY KEY, person bigint REFERENCES crm.people); INSERT INTO sales.orders VALUES (1, 1);
		CREATE TABLE crm."x.y" (id bigint); CREATE TABLE "crm.x".y (id bigint)`)
	return &db.database, schemaNames{one: "crm", two: "sales", across: true, dotted: "crm.x"}
}

var postgresPlans = plansOf{
	explain:  "EXPLAIN ",
	searched: `(Bitmap )?Index (Only )?Scan (Backward )?(on|using) events_%s_idx`,
	ordered:  `Index (Only )?Scan (Backward )?using events_%s_idx`,
	scans:    []string{`Seq Scan on events`},
	sorts:    []string{`-> +Sort`, `^QUERY PLAN=Sort`},
}
