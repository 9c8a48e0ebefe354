package enginetest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// mysqlOwn is a MariaDB server of one test, which may restart it.
type mysqlOwn struct {
	directory string
	port      int
	process   *exec.Cmd
	pool      *x509.CertPool
}

// newMySQLServer starts a server with a database, TLS and the plug-in ed25519. It
// skips the test where MariaDB is not installed.
func newMySQLServer(t *testing.T) *mysqlOwn {
	t.Helper()
	for _, program := range []string{"mariadbd", "mariadb-install-db"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s on this machine, to start a server that it can restart", program)
		}
	}
	s := &mysqlOwn{directory: t.TempDir()}
	pool, certificate, key := selfSigned(t)
	s.pool = pool
	require.NoError(t, os.WriteFile(s.path("cert.pem"), certificate, 0o600))
	require.NoError(t, os.WriteFile(s.path("key.pem"), key, 0o600))
	install := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+s.path("data"), "--skip-test-db",
		"--tmpdir="+s.directory, "--auth-root-authentication-method=normal", "--user=root", "--innodb-log-file-size=8M")
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.port = freePort(t).Port
	t.Cleanup(s.kill)
	s.start(t)
	return s
}

func (s *mysqlOwn) path(name string) string { return filepath.Join(s.directory, name) }

// start starts the server and returns when it answers.
func (s *mysqlOwn) start(t *testing.T) {
	t.Helper()
	// A server that starts deletes the temporary tables in its folder for them, those of other servers too.
	s.process = exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+s.path("data"), "--socket="+s.path("s"),
		"--tmpdir="+s.directory,
		"--pid-file="+s.path("pid"), "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", s.port), "--skip-log-bin",
		"--innodb-buffer-pool-size=64M", "--plugin-load-add=auth_ed25519", "--ssl-cert="+s.path("cert.pem"), "--ssl-key="+s.path("key.pem"))
	require.NoError(t, s.process.Start())
	db := s.database(t, "root", "", "")
	require.Eventually(t, func() bool { return db.Ping() == nil }, time.Minute, 50*time.Millisecond, "the server starts")
}

// kill ends the server as a crash does.
func (s *mysqlOwn) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// database returns a database as a user connects to it.
func (s *mysqlOwn) database(t *testing.T, user, password, name string) *mysqlDatabase {
	t.Helper()
	config := mysqlAt(fmt.Sprintf("127.0.0.1:%d", s.port), user, password)
	config.DBName, config.Logger = name, &mysql.NopLogger{}
	return mysqlBy(t, config)
}

// TestMySQLServer asks a server that knows passwords and TLS, and that crashes.
func TestMySQLServer(t *testing.T) {
	s := newMySQLServer(t)
	admin := s.database(t, "root", "", "")
	admin.execute(t, `CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, filler VARCHAR(1000));
		INSERT INTO shop.t SELECT seq, REPEAT('x', 1000) FROM shop.seq_1_to_20000;
		CREATE USER ada IDENTIFIED BY 'typed-by-hand';
		CREATE USER eve IDENTIFIED VIA ed25519 USING PASSWORD('typed-by-hand');
		CREATE USER tls IDENTIFIED BY 'typed-by-hand' REQUIRE SSL;
		CREATE USER one IDENTIFIED BY 'typed-by-hand' WITH MAX_USER_CONNECTIONS 1;
		CREATE USER locked IDENTIFIED BY 'typed-by-hand' ACCOUNT LOCK;
		CREATE USER stale IDENTIFIED BY 'typed-by-hand' PASSWORD EXPIRE;
		GRANT SELECT ON shop.* TO ada, eve, tls, one, locked, stale;
		SET GLOBAL disconnect_on_expired_password = 1`)
	verified := &tls.Config{ServerName: "example.com", RootCAs: s.pool, MinVersion: tls.VersionTLS12}
	for _, c := range []struct {
		why, user, password string
		tls                 *tls.Config
		want                string // empty: the check succeeds
	}{
		{"a password", "ada", "typed-by-hand", nil, ""},
		{"a wrong password", "ada", "typed-wrong", nil, "refused the user name or the password"},
		{"no password", "ada", "", nil, "refused the user name or the password"},
		{"a password by ed25519", "eve", "typed-by-hand", nil, ""},
		{"a wrong password by ed25519", "eve", "typed-wrong", nil, "refused the user name or the password"},
		{"TLS", "tls", "typed-by-hand", verified, ""},
		{"TLS is required of this user", "tls", "typed-by-hand", nil, "refused the user name or the password"},
		{"a certificate of nobody known", "ada", "typed-by-hand",
			&tls.Config{ServerName: "example.com", MinVersion: tls.VersionTLS12}, "certificate"},
		{"a certificate of another name", "ada", "typed-by-hand",
			&tls.Config{ServerName: "other.test", RootCAs: s.pool, MinVersion: tls.VersionTLS12}, "certificate"},
		{"the account is locked", "locked", "typed-by-hand", nil, "refused the user name or the password"},
		{"the password has expired", "stale", "typed-by-hand", nil, "refused the user name or the password"},
	} {
		t.Run(c.why, func(t *testing.T) {
			db := s.database(t, c.user, c.password, "shop").as(t, func(own *mysql.Config) { own.TLS = c.tls })
			requireCheck(t, &db.database, c.want, "typed", "'"+c.user+"'")
		})
	}
	t.Run("all connections of the user are taken", func(t *testing.T) {
		db := s.database(t, "one", "typed-by-hand", "shop")
		require.NoError(t, db.Ping())
		requireCheck(t, &db.database, "no free connection")
	})
	t.Run("a crash while rows are read", func(t *testing.T) { s.crash(t) })
}

// crash kills the server in the middle of a stream, which ends in an error line.
// When the server is back, so are the tables.
func (s *mysqlOwn) crash(t *testing.T) {
	db := s.database(t, "ada", "typed-by-hand", "shop")
	answer := db.client(t).ask(t.Context(), t, `query {"table": "t", "fields": ["id", "filler"], "timeoutMs": 60000}`)
	var told error
	read := 0
	for _, err := range ndjson.NewReader(answer.Body).Rows() {
		if read++; read == 1 {
			s.kill() // most rows are not on their way yet: they are more than sockets hold
		}
		told = err
	}
	require.Equal(t, wire.CodeTimeout, wire.CodeOf(told), "%v after %d rows", told, read)
	require.Less(t, read, 20_000)
	requireCheck(t, &db.database, "cannot be reached")
	s.start(t)
	require.Equal(t, "20000\n", ask(t, db.caller(t, nil).Unverified(), `count {"table": "t"}`))
}

// TestMySQLBlob reads bytes as they are: as base64, the server takes the square of
// their length.
func TestMySQLBlob(t *testing.T) {
	db := newMySQL(t)
	db.execute(t, "CREATE TABLE t (id INT PRIMARY KEY, body LONGBLOB)")
	large := bytes.Repeat([]byte{0, 0xff, 0x10, 0xab, 'A'}, 1<<20)
	for id, body := range [][]byte{large, []byte("\x00\xfftext"), {}} {
		testkit.Must(db.Exec("INSERT INTO t VALUES (?, ?)", id, body))(t)
	}
	caller := db.caller(t, nil).Unverified()
	start := time.Now()
	answer := testkit.Must(caller.Query(wire.QueryRequest{
		Table: "t", Fields: []string{"body"}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}},
		Envelope: wire.Envelope{TimeoutMS: 120_000}, // for the race detector on a busy machine
	}))(t)
	t.Logf("5 MB in %v", time.Since(start).Round(time.Millisecond))
	require.Equal(t, wire.Bytes(large), answer.Rows[0][0])
	require.Equal(t, "AP90ZXh0", answer.Rows[1][0].Text())
	require.Equal(t, "", answer.Rows[2][0].Text())
}

// TestMySQLUnread warns if the user may read nothing, and of keys that are left out.
func TestMySQLUnread(t *testing.T) {
	db, other := newMySQL(t), newMySQL(t)
	own := db.config.DBName
	db.execute(t, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
	other.execute(t, "CREATE TABLE u (id BIGINT PRIMARY KEY, t BIGINT, FOREIGN KEY (t) REFERENCES "+own+".t (id))")
	_, warnings := other.discover(t, nil, time.Hour)
	assert.Equal(t, `In table "u", the foreign key ("t") is left out `+
		`because the table that it leads to is in a schema that is not served.`, warnings)
	other.execute(t, "DROP TABLE u")

	user, _ := mysqlReader(t, &other.database)
	reader := other.as(t, func(c *mysql.Config) { c.User, c.Passwd, c.DBName = user, "secret", "" })
	tables, warnings := reader.discover(t, &sqlsource.Options{Schemas: func(wire.Credentials) []string { return []string{own} }}, time.Hour)
	assert.Empty(t, tables)
	assert.Contains(t, warnings,
		fmt.Sprintf(`The user may read no table of the database %q, or it has none: GRANT SELECT ON %[1]q.* to the user.`, own))
	_, warnings = reader.discover(t, nil, time.Hour)
	assert.Contains(t, warnings, "No database is chosen, so there are no tables: name one.")
}

// TestMySQLGone has a client leave long before the deadline. The driver only stops
// waiting, so the statement is killed. It computes: one that sleeps looks now and then
// whether its client is still there.
func TestMySQLGone(t *testing.T) {
	db := newMySQL(t)
	db.execute(t, "CREATE VIEW endless AS SELECT MAX(a.seq * b.seq) AS s FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b")
	source := db.source(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan error, 1)
	go func() {
		_, err := source.Size(ctx, &wire.SizeRequest{Table: "endless", Envelope: wire.Envelope{Credentials: db.tenant()}})
		ended <- err
	}()
	t.Cleanup(func() {
		for _, id := range mariadb.statements(context.Background(), t, db.DB, "endless") {
			_, _ = db.Exec("KILL " + id)
		}
	})
	mariadb.eventuallyRun(t, &db.database, 1, "endless")
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	mariadb.eventuallyRun(t, &db.database, 0, "endless")
}
