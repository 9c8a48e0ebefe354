package enginetest

import (
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
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
	reader:  postgresReader,
	makeTypes: `
		CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
		CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'Zany');
		CREATE DOMAIN cents AS numeric(8,2);
		CREATE DOMAIN price AS cents`,
	schemas: postgresSchemas, plans: postgresPlans, server: postgresServer,
	month: "date_trunc('month', moment)",
	conformance: conformanceOf{
		casesOf: 10,
		slow:    slowPostgres,
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
		CREATE TABLE sales.orders (id bigint PRIMARY KEY, person bigint REFERENCES crm.people); INSERT INTO sales.orders VALUES (1, 1)`)
	return &db.database, schemaNames{one: "crm", two: "sales", across: true, dotted: "crm.x"}
}

var postgresPlans = plansOf{
	explain:  "EXPLAIN ",
	searched: `(Bitmap )?Index (Only )?Scan (Backward )?(on|using) events_%s_idx`,
	ordered:  `Index (Only )?Scan (Backward )?using events_%s_idx`,
	scans:    []string{`Seq Scan on events`},
	sorts:    []string{`-> +Sort`, `^QUERY PLAN=Sort`},
}

// postgresAddress returns the server that tests use.
func postgresAddress() string { return setting("SQLSOURCE_POSTGRES", "127.0.0.1:5432") }

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
	config.User, config.Database = setting("SQLSOURCE_POSTGRES_USER", "postgres"), "postgres"
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

// postgresReader returns a role, and the database as it has it.
func postgresReader(t testing.TB, db *database) (string, *database) {
	user := postgresRole(t, db, "")
	return user, db.of(t, user, rolePassword)
}

// role creates a role, and returns its name and the database as the role has it.
func (d *postgresDatabase) role(t testing.TB, options string) (string, *postgresDatabase) {
	t.Helper()
	name := postgresRole(t, &d.database, options)
	return name, d.as(t, func(c *pgx.ConnConfig) { c.User, c.Password = name, rolePassword })
}

// postgresRefuses reads a client's first message, and answers with an error of the server.
func postgresRefuses(state, text string) func(net.Conn) {
	return func(conn net.Conn) {
		if !readStart(conn) {
			return
		}
		body := "SFATAL\x00VFATAL\x00C" + state + "\x00M" + text + "\x00\x00"
		_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte("E"), uint32(len(body)+4)), body...))
	}
}

// readStart reads a message that has a length and no type.
func readStart(conn net.Conn) bool {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return false
	}
	_, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size[:]))-4)
	return err == nil
}

// postgresUnknown answers with a certificate that nobody trusts.
func postgresUnknown(c net.Conn) {
	unknown := httptest.NewTLSServer(nil)
	defer unknown.Close()
	readStart(c)
	say("S")(c)
	_ = tls.Server(c, unknown.TLS).Handshake() // the client ends it
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
	refusals: []refusal{
		{"all connections are taken", postgresRefuses("53300", "sorry, too many clients already"), false,
			"no free connection at the moment", wire.CodeTimeout},
		{"all connections of the user are taken", postgresRefuses("53300", `too many connections for role "ada"`), false,
			"no free connection at the moment", wire.CodeTimeout},
		{"it starts", postgresRefuses("57P03", "the database system is starting up"), false, "starting up or shutting down", wire.CodeTimeout},
		{"it demands TLS", postgresRefuses("28000", `no pg_hba.conf entry for host "10.0.0.1", user "ada", database "shop", no encryption`), false,
			"switch TLS on", wire.CodeBadRequest},
		{"a wrong password", postgresRefuses("28P01", `password authentication failed for user "ada"`), false,
			"user name or the password", wire.CodeBadRequest},
		{"it has no TLS", func(c net.Conn) { readStart(c); say("N")(c) }, true, "switch it off in the connector", wire.CodeBadRequest},
		{"a certificate of nobody", postgresUnknown, true, "certificate of the server cannot be verified", wire.CodeBadRequest},
		{"a web server", say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), false,
			"it is not PostgreSQL", wire.CodeBadRequest},
		{"a web server, by TLS", say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), true,
			"does not encrypt connections", wire.CodeBadRequest},
		{"MySQL", say("\x5b\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00"), false, "it is not PostgreSQL", wire.CodeBadRequest},
		{"a proxy without a server", func(c net.Conn) { _ = c.Close() }, false, "it is not PostgreSQL", wire.CodeBadRequest},
		{"silence", func(net.Conn) {}, false, "does not answer as PostgreSQL does", wire.CodeTimeout},
	},
}
