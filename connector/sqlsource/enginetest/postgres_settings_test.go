//go:build unix

package enginetest

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	pg "github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/postgres"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func init() {
	postgres.settings = settingsOf{
		start: startPostgresSettings, stated: pg.Settings,
		hostile: []setTo{
			{"client_encoding", "LATIN1"}, {"DateStyle", "German"}, {"IntervalStyle", "sql_standard"}, {"TimeZone", "America/St_Johns"},
			{"extra_float_digits", "-15"}, {"bytea_output", "escape"}, {"xmlbinary", "hex"}, {"xmloption", "document"},
			{"quote_all_identifiers", "on"}, {"standard_conforming_strings", "off"}, {"transform_null_equals", "on"},
			{"array_nulls", "off"}, {"row_security", "off"}, {"gin_fuzzy_search_limit", "5"},
			{"search_path", "hostile, public, pg_catalog"},
		},
		unseen: map[string]string{
			"zero_damaged_pages":      "TestPostgresDamage",
			"ignore_checksum_failure": "TestPostgresDamage",
		},
	}
}

// postgresSettingsTables has something of each setting that is stated.
const postgresSettingsTables = `
	CREATE TABLE things (id bigint PRIMARY KEY, label text, body bytea, bodies bytea[], weights float8[], span interval, days daterange,
		during tstzrange, moments timestamptz[], moment timestamptz, name regclass, code uuid);
	INSERT INTO things SELECT i, 'lábel ' || i % 7, int4send(i), ARRAY[int4send(i)], ARRAY[1 / i::float8], i * interval '1 day -1 hour',
		daterange('2024-01-01', date '2024-01-01' + i), tstzrange('2024-07-01 12:00:00Z', NULL), ARRAY[timestamptz '2024-07-01 12:00:00Z'],
		timestamptz '2024-07-01 00:30:00Z' + i * interval '1 hour', 'things', md5(i::text)::uuid FROM generate_series(1, 120) i;
	CREATE TABLE documents (id int PRIMARY KEY, doc jsonb);
	INSERT INTO documents SELECT i, to_jsonb(ARRAY[CASE WHEN i % 100 = 0 THEN 'paid' ELSE 'open ' || i END, repeat('x', 400)])
		FROM generate_series(1, 4000) i;
	CREATE INDEX ON documents USING gin (doc);
	CREATE TABLE policed (id bigint PRIMARY KEY);
	INSERT INTO policed VALUES (1), (2), (3);
	ALTER TABLE policed ENABLE ROW LEVEL SECURITY; CREATE POLICY others ON policed USING (id > 1);
	CREATE FUNCTION is_missing(v text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN (v = NULL) IS NOT NULL; END $$;
	CREATE FUNCTION backslash() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN length('a\tb'); END $$;
	CREATE VIEW of_xml AS SELECT id, xmlelement(name b, body)::text AS element, ('<a/><b/>' || label)::xml::text AS fragment FROM things;
	CREATE VIEW of_functions AS SELECT id, is_missing(label) AS missing, backslash() AS length FROM things;
	CREATE VIEW of_session AS SELECT id, moment::date AS day, ('{NULL,' || id || '}')::text[] AS listed FROM things;
	ANALYZE;
	CREATE SCHEMA hostile;
	CREATE FUNCTION hostile.strpos(text, text) RETURNS int LANGUAGE sql AS 'SELECT 0';
	CREATE FUNCTION hostile.starts_with(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
	CREATE FUNCTION hostile.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT $2';
	CREATE FUNCTION hostile.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'on' $$;
	CREATE FUNCTION hostile.never(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
	CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.never);
	CREATE OPERATOR hostile.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.never);
	CREATE DOMAIN hostile.date AS int;
	CREATE DOMAIN hostile.float8 AS text;
	GRANT USAGE ON SCHEMA hostile TO public;
	GRANT SELECT ON ALL TABLES IN SCHEMA public TO public;`

func startPostgresSettings(t *testing.T) settable {
	own := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n")
	admin := own.database(t)
	admin.execute(t, postgresSettingsTables)
	role, reader := admin.role(t, "")
	asHost := func(d *postgresDatabase) *database {
		d.credentials = nil // a pool of the host
		return &d.database
	}
	// byServer sets values by a statement each, and ends what it did when the test ends.
	byServer := func(alter string) func(*testing.T, []setTo) *database {
		return func(t *testing.T, values []setTo) *database {
			for _, v := range values {
				value := "'" + v.value + "'"
				if v.name == "search_path" {
					value = v.value
				}
				admin.execute(t, alter+" SET "+v.name+" = "+value)
				t.Cleanup(func() {
					admin.execute(t, alter+" RESET "+v.name)
					admin.execute(t, "SELECT pg_reload_conf()")
				})
			}
			admin.execute(t, "SELECT pg_reload_conf()")
			last := values[len(values)-1]
			require.Eventually(t, func() bool { // the server reads its file some time later
				now := ""
				fresh := reader.as(t, func(*pgx.ConnConfig) {})
				require.NoError(t, fresh.QueryRowContext(t.Context(), "SHOW "+last.name).Scan(&now))
				return now == last.value
			}, patience, 20*time.Millisecond)
			return asHost(reader.as(t, func(*pgx.ConnConfig) {}))
		}
	}
	s := settable{
		database: asHost(reader),
		ways: map[string]func(*testing.T, []setTo) *database{
			connection: func(t *testing.T, values []setTo) *database {
				return asHost(reader.as(t, func(c *pgx.ConnConfig) {
					c.RuntimeParams = maps.Clone(c.RuntimeParams)
					for _, v := range values {
						c.RuntimeParams[v.name] = v.value
					}
				}))
			},
			"for the user":     byServer("ALTER ROLE " + role),
			"for the database": byServer("ALTER DATABASE postgres"),
			"for the server":   byServer("ALTER SYSTEM"),
		},
	}
	s.names = readNames(t, &admin.database, `SELECT lower(name) FROM pg_settings
		WHERE context IN ('user', 'superuser', 'backend', 'superuser-backend') AND name NOT LIKE '%.%'`)
	require.NoError(t, admin.QueryRow("SELECT current_setting('server_version_num')::int / 10000 = 15").Scan(&s.known))
	return s
}

// readNames returns the answer of a statement that has one column.
func readNames(t *testing.T, d *database, statement string) (names []string) {
	t.Helper()
	rows, err := d.QueryContext(t.Context(), statement)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, strings.ToLower(name))
	}
	require.NoError(t, rows.Err())
	return names
}

// TestPostgresDamage asks for rows where the server may leave out damaged ones: a user who may say
// that it must not gets all rows, or an error. Others cannot say so, and get an error.
func TestPostgresDamage(t *testing.T) {
	own := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n")
	admin := own.database(t)
	admin.execute(t, "CREATE TABLE t (id bigint PRIMARY KEY); INSERT INTO t VALUES (1); GRANT SELECT ON t TO public")
	role, reader := admin.role(t, "")
	super, owner := admin.role(t, "SUPERUSER")
	for _, setting := range pgDamage {
		admin.execute(t, "ALTER ROLE "+role+" SET "+setting+" = on; ALTER ROLE "+super+" SET "+setting+" = on")
		n, err := owner.caller(t, nil).Unverified().Count(wire.CountRequest{Table: "t"})
		require.NoError(t, err)
		require.Equal(t, int64(1), n)
		_, err = reader.caller(t, nil).Unverified().Count(wire.CountRequest{Table: "t"})
		require.Equal(t, wire.CodeInternal, code(err), "%v", err)
		admin.execute(t, "ALTER ROLE "+role+" RESET "+setting)
		_, err = reader.caller(t, nil).Unverified().Count(wire.CountRequest{Table: "t"})
		require.NoError(t, err)
	}
}

var pgDamage = []string{"zero_damaged_pages", "ignore_checksum_failure"}

// TestPostgresLimits asks a survey under limits of the database's owner: what is answered is as
// without them, and the rest says that it took too long.
func TestPostgresLimits(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, postgresSettingsTables)
	db.credentials = nil
	all := newSurvey(t, &db.database)
	want := all.answers(t, &db.database)
	if behindPooler != nil {
		t.Skip("PgBouncer takes no limits in a connection")
	}
	limited := db.as(t, func(c *pgx.ConnConfig) {
		c.RuntimeParams["statement_timeout"] = "3"
		c.RuntimeParams["idle_in_transaction_session_timeout"] = "50"
	})
	limited.credentials = nil
	got := all.answers(t, &limited.database)
	for i := range got {
		if strings.HasPrefix(got[i], "408 ") || strings.Contains(got[i], `"code":"timeout"`) {
			want[i] = got[i]
		}
	}
	require.Empty(t, all.differences(want, got))
}
