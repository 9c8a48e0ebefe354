package enginetest

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

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
			err := db.caller(t, nil).Unverified().Check()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			requireRefusal(t, err, wire.CodeCheckFailed, c.want, "typed", "'"+c.user+"'")
		})
	}
	t.Run("all connections of the user are taken", func(t *testing.T) {
		db := s.database(t, "one", "typed-by-hand", "shop")
		require.NoError(t, db.Ping())
		requireRefusal(t, db.caller(t, nil).Unverified().Check(), wire.CodeCheckFailed, "no free connection")
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
	caller := db.caller(t, nil).Unverified()
	requireRefusal(t, caller.Check(), wire.CodeCheckFailed, "cannot be reached")
	s.start(t)
	require.Equal(t, "20000\n", ask(t, caller, `count {"table": "t"}`))
}
