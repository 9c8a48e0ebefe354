//go:build unix

package enginetest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// postgresOwn is a server that a test may stop, and whose access it sets up.
type postgresOwn struct {
	address string
	dir     string
	process *exec.Cmd
}

// superuser and its password are those of every postgresOwn.
const (
	superuser     = "owner"
	superPassword = "a-password-for-tests-5b1c"
)

// newPostgresServer makes a cluster and starts it. hba is its pg_hba.conf.
func newPostgresServer(t *testing.T, hba string) *postgresOwn {
	t.Helper()
	initdb := program("initdb")
	if initdb == "" {
		missing(t, "PostgreSQL's initdb is not installed; a test that stops its server needs it")
	}
	s := &postgresOwn{address: freePort(t).String(), dir: testkit.Must(os.MkdirTemp("", "sqlsource"))(t)}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(s.dir)) })
	password := filepath.Join(s.dir, "password")
	data := filepath.Join(s.dir, "data")
	require.NoError(t, os.WriteFile(password, []byte(superPassword+"\n"), 0o644))
	require.NoError(t, os.Chmod(s.dir, 0o755))
	owner := serverOwner(t)
	if owner != nil {
		require.NoError(t, os.Chown(s.dir, int(owner.Uid), int(owner.Gid)))
	}
	create := exec.CommandContext(t.Context(), initdb, "-D", data, "-U", superuser, "--pwfile", password, "-A", "scram-sha-256",
		"-E", "UTF8", "--locale", "C", "--no-sync")
	create.Dir, create.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: owner}
	output, err := create.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.NoError(t, os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(hba), 0o644))
	_, port, err := net.SplitHostPort(s.address)
	require.NoError(t, err)
	settings := []string{"port = " + port, "listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", "fsync = off", ""}
	require.NoError(t, os.WriteFile(filepath.Join(data, "postgresql.auto.conf"), []byte(strings.Join(settings, "\n")), 0o644))
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

// start starts the server and waits until it answers.
func (s *postgresOwn) start(t *testing.T) {
	t.Helper()
	log := testkit.Must(os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644))(t)
	defer func() { require.NoError(t, log.Close()) }()
	s.process = exec.Command(program("postgres"), "-D", filepath.Join(s.dir, "data"))
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.dir, log, log
	s.process.SysProcAttr = &syscall.SysProcAttr{Credential: serverOwner(t)}
	require.NoError(t, s.process.Start())
	answers := func() bool {
		conn, err := pgx.ConnectConfig(context.Background(), postgresAt(t, s.address))
		if err == nil {
			_ = conn.Close(context.Background())
			return true
		}
		var refused interface{ SQLState() string }
		return errors.As(err, &refused) && refused.SQLState() != "57P03" // it refuses this user, so it answers
	}
	require.Eventually(t, answers, patience, 20*time.Millisecond)
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

// stop ends the server by a signal, and waits for its end.
func (s *postgresOwn) stop(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if s.process == nil {
		return
	}
	require.NoError(t, s.process.Process.Signal(signal))
	_ = s.process.Wait() // says that a signal ended it
	s.process = nil
}

// database returns the database of the superuser.
func (s *postgresOwn) database(t *testing.T) *postgresDatabase {
	t.Helper()
	config := postgresAt(t, s.address)
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
	encrypted := func(c *pgx.ConnConfig) { c.TLSConfig = &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1"} }
	user := func(name string, more ...func(*pgx.ConnConfig)) func(*pgx.ConnConfig) {
		return func(c *pgx.ConnConfig) {
			c.User = name
			for _, change := range more {
				change(c)
			}
		}
	}
	try := func(why string, change func(*pgx.ConnConfig), want string) {
		t.Run(why, func(t *testing.T) {
			db := db.as(t, change)
			requireCheck(t, &db.database, want, superPassword, "wrong-7f3a", db.config.User, "hba", "SQLSTATE", "x509")
		})
	}
	try("the password is right", user(superuser), "")
	try("the password is wrong", user(superuser, func(c *pgx.ConnConfig) { c.Password = "wrong-7f3a" }), "the password")
	try("there is no password", user(superuser, func(c *pgx.ConnConfig) { c.Password = "" }), "the password")
	try("nobody of this name has a line", user("stranger"), "may connect")
	try("the server has no TLS", user(superuser, encrypted), "does not encrypt")

	db.execute(t, "ALTER SYSTEM SET ssl = on")
	own.stop(t, syscall.SIGINT)
	own.write(t, "server.crt", certificate)
	own.write(t, "server.key", key)
	own.start(t)
	try("TLS is accepted", user("only_tls", encrypted), "")
	try("TLS is not needed", user(superuser), "")
	try("TLS is required", user("only_tls"), "without encryption")
	try("TLS is refused to the user", user("never_tls", encrypted), "may not connect")
	try("the wrong password by TLS", user("only_tls", encrypted, func(c *pgx.ConnConfig) { c.Password = "wrong-7f3a" }), "the password")
	try("the certificate is unknown", user("only_tls", func(c *pgx.ConnConfig) {
		c.TLSConfig = &tls.Config{ServerName: "127.0.0.1"}
	}), "certificate")
	try("the certificate is another host's", user("only_tls", encrypted, func(c *pgx.ConnConfig) {
		c.TLSConfig.ServerName = "other.test"
	}), "certificate")
}

// TestPostgresRestart stops the server in the middle of a stream. The stream ends in an
// error line, requests say that nobody answers, and are served when the server is
// back.
func TestPostgresRestart(t *testing.T) {
	own := newPostgresServer(t, "host all all 127.0.0.1/32 scram-sha-256\n")
	for name, flavor := range map[string]sqlengine.Flavor{"sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
		for _, signal := range []syscall.Signal{
			syscall.SIGINT,  // the server says that it ends the session
			syscall.SIGQUIT, // the connection breaks off
		} {
			t.Run(name+"/"+signal.String(), func(t *testing.T) {
				db := own.database(t)
				db.execute(t, "DROP VIEW IF EXISTS endless; "+endless)
				c := db.with(flavor).client(t)
				answer := c.ask(t.Context(), t, `query {"table": "endless", "fields": ["id"], "timeoutMs": 600000}`)
				stopped := false
				var broken error
				for _, err := range ndjson.NewReader(answer.Body).Rows() {
					if !stopped {
						own.stop(t, signal)
						stopped = true
					}
					broken = err
				}
				var line *wire.Error
				require.ErrorAs(t, broken, &line, "the stream ends in an error line")
				assert.Equal(t, wire.CodeTimeout, line.Code)

				answer = c.ask(t.Context(), t, `check {"timeoutMs": 30000}`)
				assert.Equal(t, http.StatusBadRequest, answer.StatusCode)
				assert.Contains(t, string(testkit.Must(io.ReadAll(answer.Body))(t)), "cannot be reached")
				own.start(t)
				require.Equal(t, http.StatusOK, c.ask(t.Context(), t, `check {"timeoutMs": 30000}`).StatusCode)
			})
		}
	}
}
