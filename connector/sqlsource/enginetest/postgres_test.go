package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var postgres = engine{
	name: "postgres", key: "bigint", text: "text", types: postgresTypes,
	create: func(t testing.TB) *database { return &newPostgres(t).database },
	plain:  func(t testing.TB) *database { return &newPostgres(t).database },
	makeTypes: `
		CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
		CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'Zany');
		CREATE DOMAIN cents AS numeric(8,2);
		CREATE DOMAIN price AS cents`,
	schemas: postgresSchemas, foreignKeys: postgresForeignKeys, plans: postgresPlans, server: postgresServer, speedTables: postgresSpeed,
	month: "date_trunc('month', moment)",
	conformance: conformanceOf{
		mayAdvise: map[string]string{"A.6": "a numeric has no minus zero, so -0 is read as 0"},
		casesOf:   10,
		slow:      slowPostgres,
		lingering: `CREATE VIEW lingering AS SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS words (id, name)
			WHERE (SELECT pg_sleep(1)::text) IS NOT NULL`,
	},
	discovery: discoveryOf{
		wide:   []int{350, 700, 900, 1600},
		slow:   "SELECT 1 AS n, pg_sleep(600)::text AS s",
		broken: "SELECT i, 1 / (150 - i) AS x FROM generate_series(1, 200) i",
		rows:   func(n int) string { return fmt.Sprintf("SELECT i FROM generate_series(1, %d) i", n) },
		nullability: `
			CREATE TABLE clean (d date, i bigint NOT NULL, t timestamptz NOT NULL, u timestamp NOT NULL, n numeric NOT NULL,
				m numeric(8,2) NOT NULL, f float8 NOT NULL, PRIMARY KEY (d, i));
			INSERT INTO clean VALUES ('2024-01-01', 1, now(), now(), 1, 2, 3);
			CREATE TABLE dirty (id bigint PRIMARY KEY, d date NOT NULL, t timestamptz NOT NULL, u timestamp NOT NULL, n numeric NOT NULL,
				m numeric(8,2) NOT NULL, f float8 NOT NULL);
			INSERT INTO dirty VALUES (1, 'infinity', '-infinity', '0044-03-15 BC', 'NaN', 'NaN', '-Infinity');
			CREATE TABLE keyed (k date PRIMARY KEY);
			INSERT INTO keyed VALUES ('infinity'), ('-infinity'), ('2024-01-01')`,
		aboutAll: "pg_catalog",
	},
	uncomputed: uncomputedOf{
		script: `
			CREATE FUNCTION fails(i int, state text) RETURNS int LANGUAGE plpgsql AS
				$$ BEGIN IF i < 20000 THEN RETURN i; END IF; RAISE EXCEPTION 'secret' USING ERRCODE = state; END $$;
			CREATE VIEW divided AS SELECT 20000 / (20000 - i) AS n FROM generate_series(1, 30000) i;
			CREATE VIEW ranged AS SELECT (2147463648 + i)::int AS n FROM generate_series(1, 30000) i;
			CREATE VIEW converted AS SELECT (CASE WHEN i < 20000 THEN '7' ELSE 'secret' END)::int AS n FROM generate_series(1, 30000) i;
			CREATE VIEW several AS SELECT (SELECT g FROM generate_series(1, CASE WHEN i < 20000 THEN 1 ELSE 2 END) g) AS n
				FROM generate_series(1, 30000) i;
			CREATE VIEW raised AS SELECT fails(i, 'P0001') AS n FROM generate_series(1, 30000) i;
			CREATE VIEW written AS SELECT fails(i, '25006') AS n FROM generate_series(1, 30000) i;
			CREATE VIEW conflict AS SELECT fails(i, '40001') AS n FROM generate_series(1, 30000) i;
			CREATE VIEW deadlock AS SELECT fails(i, '40P01') AS n FROM generate_series(1, 30000) i;
			CREATE VIEW large AS SELECT CASE WHEN i < 20000 THEN 'x' ELSE repeat('secret', 3000000) END AS n FROM generate_series(1, 20001) i`,
		views: []uncomputed{
			{view: "divided", why: "a division by zero", says: "a division by zero (SQLSTATE 22012)"},
			{view: "ranged", why: "a number out of range", says: "out of range (SQLSTATE 22003)"},
			{view: "converted", why: "a text that is no number", says: "(SQLSTATE 22P02)"},
			{view: "several", why: "a subquery of several rows", says: "several rows"},
			{view: "raised", why: "a function that refuses", says: "a function refuses"},
			{view: "written", why: "a function that writes", says: "only reads"},
			{view: "large", why: "a row over 16 MiB", says: "16 MiB", sent: true},
		},
		passes: []string{"conflict", "deadlock"},
	},
	pages: pagesOf{
		script: `
			CREATE TABLE days (d date PRIMARY KEY, n int); -- all are read as null
			INSERT INTO days SELECT date '11000-01-01' + i, i FROM generate_series(1, 40) i;
			CREATE TABLE spellings (x numeric, doc json); -- all are equal to 1
			INSERT INTO spellings SELECT ('1.' || repeat('0', i))::numeric, '1' FROM generate_series(1, 40) i;
			CREATE TABLE documents (doc json, docs jsonb[]);
			INSERT INTO documents SELECT to_json(i), ARRAY[to_jsonb(i)] FROM generate_series(1, 40) i`,
		tables: []pagedTable{
			{"days", 40, []string{"d", "n"}}, {"spellings", 40, []string{"x"}}, {"documents", 40, []string{"doc", "docs"}},
		},
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

// postgresForeignKeys returns keys which the server does not vouch for, for a user
// whom a policy binds.
func postgresForeignKeys(t *testing.T) (*database, []keyCase) {
	db := newPostgres(t)
	role, reader := db.role(t, "")
	db.execute(t, `
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
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO `+role+`;
		ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; CREATE POLICY first ON hidden USING (id = 1)`)
	tables, _ := db.discover(t, nil, time.Hour)
	require.Len(t, tables["policed"].ForeignKeys, 1, "for a user whom no policy binds")
	return &reader.database, []keyCase{
		{"the server enforces it", "enforced", []string{"t>target.id"}, ""},
		{"rows from before it are not checked", "unvalidated", []string{"t>target.id", "u>target.id"},
			brokenKey("unvalidated", "t", "40 of 100")},
		{"a key of which one column is null is not checked", "pairs", []string{"a>target.a", "b>target.b"}, brokenKey("pairs", "a", "1 of 2")},
		{"its triggers are off", "disabled", []string{"t>target.id"}, brokenKey("disabled", "t", "1 of 2")},
		{"it does not bind the tables that inherit", "parent", []string{"t>target.id"}, brokenKey("parent", "t", "1 of 2")},
		{"a policy hides what it leads to", "policed", []string{"t>hidden.id"},
			strings.Replace(brokenKey("policed", "t", "1 of 2"), `"target"`, `"hidden"`, 1)},
	}
}

var postgresPlans = plansOf{
	explain: "EXPLAIN ",
	script: `
		CREATE TABLE events (id int PRIMARY KEY, day date, moment timestamptz, amount numeric(12,2),
			label text COLLATE "C" NOT NULL, rank int, whole int NOT NULL);
		INSERT INTO events SELECT i, date '2000-01-01' + i * 7919 % 9000,
			timestamptz '2024-01-01 00:00+00' + i * 7919 % 31000000 * interval '1 s', i * 7919 % 1000000 / 100.0,
			'label ' || lpad((i * 7919 % 1000000)::text, 6, '0'),
			CASE WHEN i % 5 > 0 THEN i * 31 % 1000003 END, i FROM generate_series(1, 50000) i;
		CREATE INDEX ON events (day); CREATE INDEX ON events (moment); CREATE INDEX ON events (amount);
		CREATE INDEX ON events (label); CREATE INDEX ON events (rank); CREATE INDEX ON events (whole);
		CREATE TABLE places (id int PRIMARY KEY, code text NOT NULL UNIQUE);
		INSERT INTO places SELECT i, 'place ' || i FROM generate_series(1, 20000) i;
		CREATE TABLE visits (id int PRIMARY KEY, code text, place int);
		INSERT INTO visits SELECT i, 'place ' || i * 31 % 20000, i * 31 % 20000 FROM generate_series(1, 20000) i;
		ANALYZE events, places, visits`,
	searched: func(column string) string {
		return `(Bitmap )?Index (Only )?Scan (Backward )?(on|using) events_` + column + `_idx`
	},
	ordered: func(column string) string { return `Index (Only )?Scan (Backward )?using events_` + column + `_idx` },
	scans:   []string{`Seq Scan on events`},
	sorts:   []string{`-> +Sort`, `^QUERY PLAN=Sort`, `Seq Scan on events`},
	more: []plan{
		{why: "a join on text", ask: joinOn("code", "code"), want: []string{`Hash (Left|Right) Join`}},
		{why: "a join on an integer", ask: joinOn("place", "id"), want: []string{`Hash (Left|Right) Join`}},
		{why: "a page of a join", ask: pageOf(joinOn("place", "id")),
			want: []string{`Index Scan using visits_pkey`}, never: []string{`Seq Scan on visits`}},
		{why: "a link of an integer", ask: linkOn("place", "id"), want: []string{`Hash .*Join|Index Only Scan using places_pkey`}},
	},
}

const postgresSpeed = `
CREATE TABLE events (id bigint PRIMARY KEY, day date, moment timestamp, amount numeric(12,2), label text COLLATE "C", rank int,
  a int, b int, c text, d text, e float8, f bigint, g text, h int);
INSERT INTO events SELECT i, date '2000-01-01' + (i * 7919 % 9000)::int, timestamp '2024-01-01' + (i * 7919 % 31000000) * interval '1 second',
  i * 7919 % 10000000 / 100.0, 'label ' || lpad((i * 7919 % 1000000)::text, 6, '0'), CASE WHEN i % 5 > 0 THEN i * 31 % 1000003 END,
  i % 7, i % 1009, 'text ' || i % 13, 'text ' || i % 50021, i % 997 / 8.0, i, 'text ' || i, i % 2 FROM generate_series(1::bigint, ROWS) AS i;
CREATE INDEX ON events (day);
CREATE INDEX ON events (moment);
CREATE INDEX ON events (amount);
CREATE INDEX ON events (label);
CREATE INDEX ON events (rank);
CREATE TABLE places (id int PRIMARY KEY, code text NOT NULL UNIQUE, name text);
INSERT INTO places SELECT i, 'place ' || i, 'name ' || i FROM generate_series(1, LINKS) AS i;
CREATE TABLE visits (id int PRIMARY KEY, code text, place int REFERENCES places (id));
INSERT INTO visits SELECT id, 'place ' || (id::bigint * 31 % LINKS + 1), id::bigint * 31 % LINKS + 1 FROM places;
CREATE TABLE files (id int PRIMARY KEY, body bytea);
INSERT INTO files SELECT 1, decode(repeat('0123456789abcdef', 625000), 'hex');
ANALYZE`
