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
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// mysqlOwn is a MariaDB server of one test, whose certificate the pool trusts.
type mysqlOwn struct {
	ownServer
	pool *x509.CertPool
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
	pool, certificate, key := selfSigned(t)
	s := &mysqlOwn{ownServer{dir: t.TempDir(), address: freePort(t)}, pool}
	at := func(name string) string { return filepath.Join(s.dir, name) }
	require.NoError(t, os.WriteFile(at("cert.pem"), certificate, 0o600))
	require.NoError(t, os.WriteFile(at("key.pem"), key, 0o600))
	// A server that starts deletes the temporary tables in its folder for them, those of other servers too.
	command := func(program string, more ...string) *exec.Cmd {
		return exec.Command(program, append([]string{"--no-defaults", "--user=root", "--datadir=" + at("data"), "--tmpdir=" + s.dir}, more...)...)
	}
	out, err := command("mariadb-install-db", "--skip-test-db", "--auth-root-authentication-method=normal",
		"--innodb-log-file-size=8M").CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.command = func() *exec.Cmd {
		return command("mariadbd", "--socket="+at("s"), "--pid-file="+at("pid"), "--bind-address=127.0.0.1",
			fmt.Sprintf("--port=%d", s.address.Port), "--skip-log-bin", "--innodb-buffer-pool-size=64M",
			"--plugin-load-add=auth_ed25519", "--ssl-cert="+at("cert.pem"), "--ssl-key="+at("key.pem"))
	}
	admin := s.database(t, "root", "", "")
	s.answers = func() bool { return admin.Ping() == nil }
	t.Cleanup(func() { s.stop(t, os.Kill) })
	s.start(t)
	return s
}

// database returns a database as a user connects to it.
func (s *mysqlOwn) database(t *testing.T, user, password, name string) *mysqlDatabase {
	t.Helper()
	config := mysqlAt(s.address.String(), user, password)
	config.DBName, config.Logger = name, &mysql.NopLogger{}
	return mysqlBy(t, config)
}

// TestMySQLServer asks a server that knows passwords and TLS, and that crashes.
func TestMySQLServer(t *testing.T) {
	s := newMySQLServer(t)
	s.database(t, "root", "", "").execute(t, script(t, "access_mysql")+"; USE shop; "+mariadb.endless())
	access(t, "mysql", "typed-by-hand", s.pool, func(t *testing.T, user, password string, encrypted *tls.Config) *database {
		return &s.database(t, user, password, "shop").as(t, func(own *mysql.Config) { own.TLS = encrypted }).database
	}, "typed", "'{user}'")
	t.Run("all connections of the user are taken", func(t *testing.T) {
		db := s.database(t, "one", "typed-by-hand", "shop")
		require.NoError(t, db.Ping())
		requireCheck(t, &db.database, "no free connection")
	})
	t.Run("a crash while rows are read", func(t *testing.T) {
		db := s.database(t, "ada", "typed-by-hand", "shop")
		s.restarts(t, &db.database, os.Kill)
		require.Equal(t, "3\n", ask(t, db.caller(t, nil).Unverified(), `count {"table": "t"}`), "the tables are back, too")
	})
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
	answer := testkit.Must(db.caller(t, nil).Unverified().Query(wire.QueryRequest{
		Table: "t", Fields: []string{"body"}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}},
		Envelope: wire.Envelope{TimeoutMS: 120_000}, // for the race detector on a busy machine
	}))(t)
	require.Equal(t, wire.Bytes(large), answer.Rows[0][0])
	require.Equal(t, "AP90ZXh0", answer.Rows[1][0].Text())
	require.Equal(t, "", answer.Rows[2][0].Text())
}

// TestMySQLUnread warns if the user may read nothing, or has not chosen a database.
func TestMySQLUnread(t *testing.T) {
	db := newMySQL(t)
	own := db.config.DBName
	db.execute(t, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
	user, _ := mysqlReader(t, &db.database)
	reader := db.as(t, func(c *mysql.Config) { c.User, c.Passwd, c.DBName = user, "secret", "" })
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
