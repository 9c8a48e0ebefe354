package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testToken = "a-token-for-tests-0123456789abcdef"

// TestRun starts the program on a free port and stops it. It does not connect
// to a database before a request asks for one.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	printed, out := io.Pipe()
	stopped := make(chan error, 1)
	go func() {
		stopped <- run(ctx, []string{"-server", "db.invalid:1"}, func(name string) (string, bool) {
			value, set := map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": testToken}[name]
			return value, set
		}, out, io.Discard)
		_ = out.Close()
	}()
	line, err := bufio.NewReader(printed).ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, printed) }()
	assert.Contains(t, line, "Serving the databases of db.invalid:1 at http://")
	assert.NotContains(t, line, testToken)
	stop()
	require.NoError(t, <-stopped)
}

// TestRunRefuses reports what is wrong before anything is served.
func TestRunRefuses(t *testing.T) {
	for _, c := range []struct{ why, server, token, want string }{
		{"an address without a port", "db", testToken, "-server: give host:port"},
		{"a port by name", "db:sql", testToken, "-server: give host:port"},
		{"a URL", "mysql://ada:pw7c1e@db:3306/shop", testToken, "-server: give host:port"},
		{"a user", "ada:pw7c1e@db:1", testToken, "-server: give host:port"},
		{"a user alone", "pw7c1e@db:1", testToken, "-server: give host:port"},
		{"a short token", "db:1", "short", "PLATFORM_CONNECTOR_TOKEN: a token needs at least 32 characters"},
	} {
		err := run(t.Context(), []string{"-server", c.server}, func(name string) (string, bool) {
			value, set := map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": c.token}[name]
			return value, set
		}, io.Discard, io.Discard)
		assert.ErrorContains(t, err, c.want, c.why)
		assert.NotContains(t, err.Error(), "pw7c1e", c.why)
	}
}

// TestGraded grades the connector over a small database with the conformance
// program. SQLSOURCE_MYSQL, SQLSOURCE_MYSQL_USER and SQLSOURCE_MYSQL_PASSWORD
// name the server and a user who may create databases.
func TestGraded(t *testing.T) {
	server, err := serverConfig(env("SQLSOURCE_MYSQL", "127.0.0.1:3306"), false)
	require.NoError(t, err)
	admin := server.Clone()
	admin.User, admin.Passwd = env("SQLSOURCE_MYSQL_USER", "root"), os.Getenv("SQLSOURCE_MYSQL_PASSWORD")
	driver, err := mysql.NewConnector(admin)
	require.NoError(t, err)
	db := sql.OpenDB(driver)
	t.Cleanup(func() { _ = db.Close() })
	name := fmt.Sprintf("connector_example_%016x", rand.Uint64())
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("in CI a MySQL or MariaDB server must run: %v", err)
		}
		t.Skipf("no MySQL or MariaDB server for tests: %v", err)
	}
	t.Cleanup(func() {
		_, err := db.Exec("DROP DATABASE " + name)
		require.NoError(t, err)
	})
	execute := func(format string, args ...any) {
		_, err := db.Exec(fmt.Sprintf(format, args...))
		require.NoError(t, err)
	}
	execute("CREATE TABLE %s.customers (id BIGINT PRIMARY KEY, name VARCHAR(40) NOT NULL)", name)
	execute("CREATE TABLE %[1]s.orders (id BIGINT PRIMARY KEY, customer BIGINT REFERENCES %[1]s.customers (id), "+
		"amount DECIMAL(10,2), placed DATETIME NOT NULL)", name)
	for i := range 100 {
		if i < 20 {
			execute("INSERT INTO %s.customers VALUES (%d, 'customer %d')", name, i+1, i+1)
		}
		execute("INSERT INTO %s.orders VALUES (%d, NULLIF(%d, 0), %d.25, '2024-01-%02d 12:00:00')", name, i+1, i%20, i, 1+i%31)
	}
	token, err := wire.NewToken(testToken)
	require.NoError(t, err)
	source, err := newSource(server, sqlsource.Options{})
	require.NoError(t, err)
	handler, err := connector.New(definition, source, token, nil)
	require.NoError(t, err)
	target, done := conformance.InProcess(handler, testToken)
	defer done()
	tenant := map[string]string{"user": admin.User, "password": admin.Passwd, "database": name}
	target.Credentials = []wire.Credentials{wire.NewCredentials(tenant)}
	conformance.Test(t, target, &conformance.Options{Mode: conformance.ModeLive})
}

func env(name, otherwise string) string {
	if v := strings.TrimSpace(os.Getenv(name)); v != "" {
		return v
	}
	return otherwise
}
