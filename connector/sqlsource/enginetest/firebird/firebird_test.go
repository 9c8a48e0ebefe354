// Package firebird_test proves that the door for engines fits Firebird 3, which differs
// from the engines of sqlsource more than these do from each other: its window stands
// behind SELECT, every SELECT needs a table, texts are compared with padding, and one
// statement binds little. It is a test of docs/engines.md, by which the flavor was
// written, and not a product.
//
// The tests start a server of their own. Without Firebird (Debian's packages
// firebird3.0-server and firebird3.0-utils) they are skipped; with CI=true they fail.
package firebird_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/nakagami/firebirdsql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// installed is where Debian puts what a server reads besides its own directory.
const installed = "/usr/lib/x86_64-linux-gnu/firebird/3.0"

// password is that of the server's only user.
const password = "masterkey"

// start starts a server with an empty database, and returns the database's address.
func start(t *testing.T) string {
	t.Helper()
	testkit.Needs(t, "firebird", "isql-fb") // of the packages firebird3.0-server and firebird3.0-utils
	home := t.TempDir()
	listener := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, port, _ := strings.Cut(address, ":")
	settings := "SecurityDatabase = " + filepath.Join(home, "security3.fdb") + "\nRemoteServicePort = " + port +
		"\nRemoteBindAddress = 127.0.0.1\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "firebird.conf"), []byte(settings), 0o600))
	for _, name := range []string{"plugins.conf", "firebird.msg"} {
		require.NoError(t, os.Symlink(filepath.Join(installed, name), filepath.Join(home, name)))
	}
	// The server does not load character sets by a link.
	require.NoError(t, os.CopyFS(filepath.Join(home, "intl"), os.DirFS(filepath.Join(installed, "intl"))))
	environment := append(os.Environ(), "FIREBIRD="+home, "FIREBIRD_LOCK="+home, "FIREBIRD_TMP="+home)
	script := exec.Command("isql-fb", "-q", "-user", "SYSDBA")
	script.Env = environment
	script.Stdin = strings.NewReader("CREATE DATABASE '" + filepath.Join(home, "security3.fdb") + "';\n" +
		"CREATE USER SYSDBA PASSWORD '" + password + "';\nCOMMIT;\n")
	out, err := script.CombinedOutput()
	require.NoError(t, err, "%s", out)
	server := exec.Command("firebird")
	server.Env = environment
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	// Srp256 is not in version 3's default list of ways to authenticate.
	dsn := "SYSDBA:" + password + "@" + address + filepath.Join(home, "test.fdb") + "?charset=UTF8&auth_plugin_name=Srp"
	created := testkit.Must(sql.Open("firebirdsql_createdb", dsn))(t)
	defer func() { require.NoError(t, created.Close()) }()
	require.Eventually(t, func() bool { err = created.Ping(); return err == nil }, 20*time.Second, 50*time.Millisecond, "the server starts")
	return dsn
}

// open opens the database.
func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db := testkit.Must(sql.Open("firebirdsql", dsn))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// insert returns blocks of INSERTs: the engine inserts one row by one of them.
func insert(table string, rows []string) []string {
	var blocks []string
	for some := range slices.Chunk(rows, 250) {
		blocks = append(blocks, "EXECUTE BLOCK AS BEGIN INSERT INTO "+table+" VALUES "+
			strings.Join(some, "; INSERT INTO "+table+" VALUES ")+"; END")
	}
	return blocks
}

// long reports whether the tests of minutes run, too.
func long() bool { return os.Getenv("SQLSOURCE_FIREBIRD_LONG") != "" }

// TestDifferential asks the engine and memory the same. SQLSOURCE_FIREBIRD_LONG adds the joins of large tables.
func TestDifferential(t *testing.T) {
	options := situation.Questions(400, "large joins")
	if long() {
		options.Without = nil
	}
	kit := sqlsourcetest.Engine{Flavor: newFlavor(), DB: open(t, start(t)), Key: "BIGINT", Insert: insert,
		Types: situation.Types(t, "testdata/types.jsonl")}
	sqlsourcetest.Run(t, kit, options)
}

// TestHostile sends hostile texts in every place of a request.
func TestHostile(t *testing.T) {
	if !long() {
		t.Skip("reads the catalog for thousands of requests, which takes minutes; set SQLSOURCE_FIREBIRD_LONG=1 to enable this test")
	}
	dsn := start(t)
	db := open(t, dsn)
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: newFlavor(), DB: db, Key: "BIGINT"}, connector{db.Driver(), dsn})
}

// connector opens connections of a database.
type connector struct {
	driver driver.Driver
	dsn    string
}

func (c connector) Driver() driver.Driver { return c.driver }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
