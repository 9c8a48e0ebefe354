//go:build unix

package enginetest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	pg "github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/postgres"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// superuser and its password are those of every server of newPostgresServer.
const (
	superuser     = "owner"
	superPassword = "a-password-for-tests-5b1c"
)

// postgresOwn is a server of one test.
type postgresOwn struct{ ownServer }

// newPostgresServer makes a cluster and starts it. hba is its pg_hba.conf.
func newPostgresServer(t *testing.T, hba string) *postgresOwn {
	t.Helper()
	initdb := program("initdb")
	if initdb == "" {
		missing(t, "PostgreSQL's initdb is not installed; a test that stops its server needs it")
	}
	s := &postgresOwn{ownServer{address: freePort(t), dir: testkit.Must(os.MkdirTemp("", "sqlsource"))(t)}}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(s.dir)) })
	password, data, owner := filepath.Join(s.dir, "password"), filepath.Join(s.dir, "data"), serverOwner(t)
	require.NoError(t, os.WriteFile(password, []byte(superPassword+"\n"), 0o644))
	require.NoError(t, os.Chmod(s.dir, 0o755))
	if owner != nil {
		require.NoError(t, os.Chown(s.dir, int(owner.Uid), int(owner.Gid)))
	}
	command := func(program string, arguments ...string) *exec.Cmd {
		command := exec.Command(program, append([]string{"-D", data}, arguments...)...)
		command.Dir, command.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: owner}
		return command
	}
	output, err := command(initdb, "-U", superuser, "--pwfile", password, "-A", "scram-sha-256", "-E", "UTF8", "--locale", "C",
		"--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.NoError(t, os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(hba), 0o644))
	settings := fmt.Sprintf("port = %d\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\n", s.address.Port)
	require.NoError(t, os.WriteFile(filepath.Join(data, "postgresql.auto.conf"), []byte(settings), 0o644))
	s.command = func() *exec.Cmd { return command(program("postgres")) }
	s.answers = func() bool {
		conn, err := pgx.ConnectConfig(context.Background(), postgresAt(t, s.address.String()))
		if err == nil {
			_ = conn.Close(context.Background())
			return true
		}
		var refused interface{ SQLState() string }
		return errors.As(err, &refused) && refused.SQLState() != "57P03" // it refuses this user, so it answers
	}
	t.Cleanup(func() { s.stop(t, syscall.SIGQUIT) })
	s.start(t)
	return s
}

// program returns the path of a program of PostgreSQL, which distributions keep
// apart; empty if there is none.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}

// serverOwner returns the user that a server runs as in place of root, whom it
// refuses; nil for a test that is not root.
func serverOwner(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u := testkit.Must(user.Lookup("postgres"))(t)
	uid := testkit.Must(strconv.ParseUint(u.Uid, 10, 32))(t)
	gid := testkit.Must(strconv.ParseUint(u.Gid, 10, 32))(t)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// write writes a file that only the server may read, beside its data.
func (s *postgresOwn) write(t *testing.T, name string, content []byte) {
	t.Helper()
	path := filepath.Join(s.dir, "data", name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	if owner := serverOwner(t); owner != nil {
		require.NoError(t, os.Chown(path, int(owner.Uid), int(owner.Gid)))
	}
}

// database returns the database of the superuser.
func (s *postgresOwn) database(t *testing.T) *postgresDatabase {
	t.Helper()
	config := postgresAt(t, s.address.String())
	config.User, config.Password, config.Database = superuser, superPassword, "postgres"
	return postgresBy(t, config)
}

// hbaOfAccess asks everybody for a password, some users for TLS, and refuses TLS
// to others.
const hbaOfAccess = `
hostssl   all only_tls 127.0.0.1/32 scram-sha-256
hostnossl all never_tls 127.0.0.1/32 scram-sha-256
host      all owner     127.0.0.1/32 scram-sha-256
`

// TestPostgresAccess connects to a server that asks for passwords by SCRAM, without TLS
// and with it. Who may not connect is told why, in words of ours.
func TestPostgresAccess(t *testing.T) {
	own := newPostgresServer(t, hbaOfAccess)
	db := own.database(t)
	for _, role := range []string{"only_tls", "never_tls"} {
		db.execute(t, "CREATE ROLE "+role+" LOGIN PASSWORD '"+superPassword+"'")
	}
	trusted, certificate, key := selfSigned(t)
	try := func(server string) {
		access(t, server, superPassword, trusted, func(t *testing.T, user, password string, encrypted *tls.Config) *database {
			return &db.as(t, func(c *pgx.ConnConfig) { c.User, c.Password, c.TLSConfig = user, password, encrypted }).database
		}, "{user}", "hba", "SQLSTATE", "x509")
	}
	try("postgres without TLS")
	db.execute(t, "ALTER SYSTEM SET ssl = on")
	own.stop(t, syscall.SIGINT)
	own.write(t, "server.crt", certificate)
	own.write(t, "server.key", key)
	own.start(t)
	try("postgres with TLS")
}

// TestPostgresRestart stops the server in the middle of a stream.
func TestPostgresRestart(t *testing.T) {
	own := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n")
	own.database(t).execute(t, postgres.endless())
	for name, flavor := range map[string]sqlengine.Flavor{"sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
		for _, signal := range []syscall.Signal{
			syscall.SIGINT,  // the server says that it ends the session
			syscall.SIGQUIT, // the connection breaks off
		} {
			t.Run(name+"/"+signal.String(), func(t *testing.T) { own.restarts(t, own.database(t).with(flavor), signal) })
		}
	}
}

func init() {
	postgres.settings = settingsOf{start: startPostgresSettings, stated: pg.Settings}
	if os.Getenv("SQLSOURCE_POOLER") != "" { // every database of newPostgres is behind a pooler
		behindPooler = func(t testing.TB, config *pgx.ConnConfig) { pooled(t, config, 20) }
	}
}

func startPostgresSettings(t *testing.T) settable {
	admin := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n").database(t)
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
			last := values[len(values)-1]
			// The server reads its file some time later, and a look at it leaves no session behind.
			require.EventuallyWithT(t, func(t *assert.CollectT) {
				_, err := admin.Exec("SELECT pg_reload_conf()")
				require.NoError(t, err)
				session, err := pgx.ConnectConfig(context.Background(), reader.config)
				require.NoError(t, err)
				defer session.Close(context.Background())
				now := ""
				require.NoError(t, session.QueryRow(context.Background(), "SHOW "+last.Name).Scan(&now))
				require.Equal(t, last.Value, now)
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
	admin := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n").database(t)
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

// pooled starts PgBouncer before the server that a user reaches so, in transaction mode: each
// transaction has a session of the server that others have had before. It has so many of them. The
// user then reaches the server by it, and prepares no statement by name.
func pooled(t testing.TB, config *pgx.ConnConfig, sessions int) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		missing(t, "pgbouncer is not installed; apt-get install pgbouncer enables this test")
	}
	owner := serverOwner(t) // PgBouncer refuses to run as root, too
	if config.Password == "" {
		config.Password = superPassword // the pooler asks for one where the server does not
	}
	dir, listener := t.TempDir(), freePort(t)
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		if owner != nil {
			require.NoError(t, os.Chown(path, int(owner.Uid), int(owner.Gid)))
		}
		return path
	}
	users := write("users", fmt.Sprintf("%q %q\n", config.User, config.Password))
	words := strings.NewReplacer("{host}", config.Host, "{port}", fmt.Sprint(config.Port), "{listen}", fmt.Sprint(listener.Port),
		"{users}", users, "{user}", config.User, "{sessions}", fmt.Sprint(sessions))
	settings := write("pgbouncer.ini", words.Replace(string(testkit.Must(os.ReadFile("testdata/pgbouncer.ini"))(t))))
	for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o755))
	}
	command := exec.Command(program, "-q", settings)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	started(t, command)
	config.Host, config.Port = "127.0.0.1", uint16(listener.Port)
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", listener.String())
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, patience, 10*time.Millisecond)
}

// poolModes are pgx's ways to run a statement. All but the first, which is its default, name none.
var poolModes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// TestPostgresPooled asks through PgBouncer in transaction mode, which has two sessions for many
// clients. A client that knows no better has changed their settings before, and has left tables in them whose types have
// the names of the server's own.
func TestPostgresPooled(t *testing.T) {
	direct := newPostgres(t)
	direct.execute(t, script(t, "pooled_postgres"))
	all := situation.NewSurvey(t, direct.asked(t, nil))
	want := all.Answers(t, direct.asked(t, nil))
	if testing.Short() {
		poolModes = poolModes[:2]
	}
	for _, mode := range poolModes {
		for name, flavor := range map[string]sqlengine.Flavor{"database/sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
			t.Run(mode.String()+" by "+name, func(t *testing.T) {
				db := direct.as(t, func(c *pgx.ConnConfig) {
					pooled(t, c, 2)
					c.DefaultQueryExecMode = mode
				})
				var spoiled sync.WaitGroup
				for range 2 {
					spoiled.Go(func() {
						conn, err := pgx.ConnectConfig(context.Background(), db.config)
						if !assert.NoError(t, err) {
							return
						}
						defer func() { _ = conn.Close(context.Background()) }()
						_, err = conn.Exec(context.Background(), script(t, "spoil_postgres"))
						assert.NoError(t, err)
					})
				}
				spoiled.Wait()
				if mode == pgx.QueryExecModeCacheStatement {
					requireTold(t, db.with(flavor))
					return
				}
				var clients sync.WaitGroup
				for range 3 { // which wait for two sessions
					clients.Go(func() { assert.Empty(t, all.Differences(want, all.Answers(t, db.with(flavor).asked(t, nil)))) })
				}
				clients.Wait()
			})
		}
	}
}

// requireTold requires that a driver which names its statements is told of in the log, to
// whoever runs the connector, and that no table is left out because of it.
func requireTold(t *testing.T, db *database) {
	t.Helper()
	var log testkit.Log
	caller := connectortest.Start(t, db.definition(), db.source(t, nil), connectors.Logging(&log)).As(db.credentials).Unverified()
	var failed error
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range 4 { // side by side, so that each meets what others have left in the two sessions
		clients.Go(func() {
			for range 6 {
				found, err := caller.Discover()
				if err == nil {
					assert.Len(t, found.Tables, 1, "%q", found.Warnings)
					continue
				}
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	require.Equal(t, wire.CodeInternal, wire.CodeOf(failed), "%v", failed)
	require.Contains(t, log.String(), "default_query_exec_mode=cache_describe")
	require.NotContains(t, log.String(), strings.TrimSpace(db.credentials["password"]))
}
