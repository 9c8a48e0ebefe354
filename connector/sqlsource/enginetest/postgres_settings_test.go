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
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
)

func init() {
	postgres.settings = settingsOf{start: startPostgresSettings, stated: pg.Settings}
}

func startPostgresSettings(t *testing.T) settable {
	own := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n")
	admin := own.database(t)
	admin.execute(t, script(t, "settings_postgres"))
	role, reader := admin.role(t, "")
	asHost := func(d *postgresDatabase) *database {
		d.credentials = nil // a pool of the host
		return &d.database
	}
	// byServer sets values by a statement each, and ends what it did when the test ends.
	byServer := func(alter string) func(*testing.T, []setTo) *database {
		return func(t *testing.T, values []setTo) *database {
			for _, v := range values {
				value := "'" + v.Value + "'"
				if v.Name == "search_path" {
					value = v.Value
				}
				admin.execute(t, alter+" SET "+v.Name+" = "+value)
				t.Cleanup(func() {
					admin.execute(t, alter+" RESET "+v.Name)
					admin.execute(t, "SELECT pg_reload_conf()")
				})
			}
			admin.execute(t, "SELECT pg_reload_conf()")
			last := values[len(values)-1]
			require.Eventually(t, func() bool { // the server reads its file some time later
				now := ""
				fresh := reader.as(t, func(*pgx.ConnConfig) {})
				require.NoError(t, fresh.QueryRowContext(t.Context(), "SHOW "+last.Name).Scan(&now))
				return now == last.Value
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
						c.RuntimeParams[v.Name] = v.Value
					}
				}))
			},
			"for the user":     byServer("ALTER ROLE " + role),
			"for the database": byServer("ALTER DATABASE postgres"),
			"for the server":   byServer("ALTER SYSTEM"),
		},
	}
	s.names = linesOf(t, admin, "", `SELECT lower(name) FROM pg_settings
		WHERE context IN ('user', 'superuser', 'backend', 'superuser-backend') AND name NOT LIKE '%.%'`)
	require.NoError(t, admin.QueryRow("SELECT current_setting('server_version_num')::int / 10000 = 15").Scan(&s.known))
	return s
}

// TestPostgresDamage asks for rows where the server may leave out damaged ones: a user who may say
// that it must not gets all rows, or an error. Others cannot say so, and get an error.
func TestPostgresDamage(t *testing.T) {
	own := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n")
	admin := own.database(t)
	admin.execute(t, "CREATE TABLE t (id bigint PRIMARY KEY); INSERT INTO t VALUES (1); GRANT SELECT ON t TO public")
	role, reader := admin.role(t, "")
	super, owner := admin.role(t, "SUPERUSER")
	for _, setting := range []string{"zero_damaged_pages", "ignore_checksum_failure"} {
		admin.execute(t, "ALTER ROLE "+role+" SET "+setting+" = on; ALTER ROLE "+super+" SET "+setting+" = on")
		require.Equal(t, "1\n", ask(t, owner.caller(t, nil).Unverified(), `count {"table": "t"}`))
		require.Contains(t, ask(t, reader.caller(t, nil).Unverified(), `count {"table": "t"}`), "internal: ")
		admin.execute(t, "ALTER ROLE "+role+" RESET "+setting)
		require.Equal(t, "1\n", ask(t, reader.caller(t, nil).Unverified(), `count {"table": "t"}`))
	}
}

// TestPostgresLimits asks a survey under limits of the database's owner: what is answered is as
// without them, and the rest says that it took too long.
func TestPostgresLimits(t *testing.T) {
	db := newPostgres(t)
	if db.shared() {
		t.Skip("PgBouncer takes no limits in a connection")
	}
	db.execute(t, script(t, "settings_postgres"))
	db.credentials = nil
	all := situation.NewSurvey(t, db.asked(t, nil))
	want := all.Answers(t, db.asked(t, nil))
	limited := db.as(t, func(c *pgx.ConnConfig) {
		c.RuntimeParams["statement_timeout"] = "3"
		c.RuntimeParams["idle_in_transaction_session_timeout"] = "50"
	})
	limited.credentials = nil
	got := all.Answers(t, limited.asked(t, nil))
	for i := range got {
		if strings.HasPrefix(got[i], "408 ") || strings.Contains(got[i], `"code":"timeout"`) {
			want[i] = got[i]
		}
	}
	require.Empty(t, all.Differences(want, got))
}
