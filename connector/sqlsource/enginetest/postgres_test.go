package enginetest

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var postgres = engine{
	name: "postgres", key: "bigint", text: "text",
	create:  func(t testing.TB) *database { return &newPostgres(t).database },
	plain:   func(t testing.TB) *database { return &newPostgres(t).database },
	variant: func(t testing.TB, options string) *database { return &newPostgres(t, options).database },
	reader: func(t testing.TB, db *database) (string, *database) {
		user := postgresRole(t, db, "")
		return user, db.of(t, user, rolePassword)
	},
	makeTypes: "types_postgres", plans: postgresPlans, server: postgresServer,
	schemas: func(t *testing.T) (*database, schemaNames) {
		db := newPostgres(t)
		db.execute(t, script(t, "schemas_postgres"))
		return &db.database, schemaNames{one: "crm", two: "sales", across: true, dotted: "crm.x"}
	},
	month: "date_trunc('month', moment)",
	conformance: conformanceOf{
		casesOf: 10,
		slow: func(t *testing.T, db *database) wire.Credentials { // a superuser is under no policy
			role := postgresRole(t, db, "")
			seconds := fmt.Sprint(int(corpus.SlowStall.Seconds()))
			db.execute(t, script(t, "slow_postgres", "{slow}", corpus.Slow().Name, "{seconds}", seconds, "{role}", role))
			return wire.NewCredentials(map[string]string{"user": role, "password": rolePassword, "database": db.credentials["database"]})
		},
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

var postgresPlans = plansOf{
	explain:  "EXPLAIN ",
	searched: `(Bitmap )?Index (Only )?Scan (Backward )?(on|using) events_%s_idx`,
	ordered:  `Index (Only )?Scan (Backward )?using events_%s_idx`,
	scans:    []string{`Seq Scan on events`},
	sorts:    []string{`-> +Sort`, `^QUERY PLAN=Sort`},
}

// postgresAddress returns the server that tests use.
func postgresAddress() string { return cmp.Or(os.Getenv("SQLSOURCE_POSTGRES"), "127.0.0.1:5432") }

// postgresDatabase is a database, and how its user connects.
type postgresDatabase struct {
	database
	config *pgx.ConnConfig
}

// postgresAt returns how a server is reached without TLS, and nothing of a tenant.
func postgresAt(t testing.TB, address string) *pgx.ConnConfig {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	config, err := pgx.ParseConfig("host=" + host + " port=" + port +
		" user=none password=none dbname=none connect_timeout=10 passfile=/dev/null servicefile=/dev/null sslmode=disable")
	require.NoError(t, err)
	return config
}

// postgresBy returns a database of a server, which need not exist.
func postgresBy(t testing.TB, config *pgx.ConnConfig) *postgresDatabase {
	t.Helper()
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = db.Close() })
	own := &postgresDatabase{config: config}
	own.database = database{
		DB: db, flavor: sqlsource.PostgreSQL(), driver: stdlib.GetConnector(*config),
		credentials: map[string]string{"user": config.User, "password": config.Password, "database": config.Database},
		open: func(_ context.Context, c wire.Credentials) (*sql.DB, error) { // as examples/sql does
			own := config.Copy()
			own.User, own.Password, own.Database = c.Get("user"), c.Get("password"), c.Get("database")
			return stdlib.OpenDB(*own), nil
		},
		run: func(script string) error {
			_, err := db.Exec(script)
			return err
		},
	}
	return own
}

// behindPooler puts a pooler before a server, if there shall be one.
var behindPooler = func(testing.TB, *pgx.ConnConfig) {}

// newPostgres creates an empty database, with other options of CREATE DATABASE
// than usual if there are some, and drops it when the test ends. Sessions have a
// time zone that is far from UTC and has summer time.
func newPostgres(t testing.TB, options ...string) *postgresDatabase {
	t.Helper()
	if len(options) == 0 {
		options = []string{"ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'"}
	}
	config := postgresAt(t, postgresAddress())
	config.User, config.Database = cmp.Or(os.Getenv("SQLSOURCE_POSTGRES_USER"), "postgres"), "postgres"
	config.Password = os.Getenv("SQLSOURCE_POSTGRES_PASSWORD")
	admin := stdlib.OpenDB(*config)
	if err := admin.PingContext(t.Context()); err != nil {
		_ = admin.Close()
		missing(t, "no PostgreSQL server answers at %s; set SQLSOURCE_POSTGRES to its host:port, and SQLSOURCE_POSTGRES_USER "+
			"and SQLSOURCE_POSTGRES_PASSWORD to a user who may create databases: %v", postgresAddress(), err)
	}
	name := fmt.Sprintf("sqlsource_test_%016x", rand.Uint64())
	testkit.Must(admin.Exec("CREATE DATABASE " + name + " TEMPLATE template0 " + options[0]))(t)
	t.Cleanup(func() {
		testkit.Must(admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"))(t)
		_ = admin.Close()
	})
	own := config.Copy()
	own.Database = name
	behindPooler(t, own)
	own.RuntimeParams["timezone"] = "America/St_Johns"
	own.RuntimeParams["datestyle"] = "German, DMY"
	own.RuntimeParams["extra_float_digits"] = "-15"
	own.RuntimeParams["bytea_output"] = "escape"
	return postgresBy(t, own)
}

// shared reports whether the database is behind a pooler.
func (d *postgresDatabase) shared() bool {
	return d.config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
}

// as returns the same database as somebody else connects to it.
func (d *postgresDatabase) as(t testing.TB, change func(*pgx.ConnConfig)) *postgresDatabase {
	t.Helper()
	config := d.config.Copy()
	change(config)
	return postgresBy(t, config)
}

// rolePassword is that of every role of postgresRole.
const rolePassword = "of-a-role"

// postgresRole creates a role that may log in, with options of CREATE ROLE, and
// drops it when the test ends.
func postgresRole(t testing.TB, db *database, options string) string {
	t.Helper()
	name := fmt.Sprintf("%s_role_%04x", db.credentials["database"], rand.Uint32()&0xffff)
	db.execute(t, "CREATE ROLE "+name+" LOGIN PASSWORD '"+rolePassword+"' "+options)
	t.Cleanup(func() {
		testkit.Must(db.ExecContext(context.Background(), "DROP OWNED BY "+name+"; DROP ROLE "+name))(t)
	})
	return name
}

// role creates a role, and returns its name and the database as the role has it.
func (d *postgresDatabase) role(t testing.TB, options string) (string, *postgresDatabase) {
	t.Helper()
	name := postgresRole(t, &d.database, options)
	return name, d.as(t, func(c *pgx.ConnConfig) { c.User, c.Password = name, rolePassword })
}

var postgresServer = serverOf{
	at: func(t testing.TB, address string, encrypted bool) *database {
		config := postgresAt(t, address)
		config.User, config.Password, config.Database = "ada", adasPassword, "shop"
		if encrypted {
			config.TLSConfig = &tls.Config{ServerName: "db.test", MinVersion: tls.VersionTLS12}
		}
		config.ConnectTimeout = time.Second // of the driver, for the one that is silent
		return &postgresBy(t, config).database
	},
	lock:   "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE",
	unlock: "ROLLBACK",
	running: `SELECT pid FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE $1`,
	kill: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid =",
	refuses: func(state, text string) func(net.Conn) {
		return func(conn net.Conn) {
			if readStart(conn) {
				body := "SFATAL\x00VFATAL\x00C" + state + "\x00M" + text + "\x00\x00"
				_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte("E"), uint32(len(body)+4)), body...))
			}
		}
	},
}
