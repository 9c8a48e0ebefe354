package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
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
		{"a URL", "postgres://ada:pw7c1e@db:5432/shop", testToken, "-server: give host:port"},
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
// program. SQLSOURCE_POSTGRES, SQLSOURCE_POSTGRES_USER and
// SQLSOURCE_POSTGRES_PASSWORD name the server and a user who may create
// databases.
func TestGraded(t *testing.T) {
	server, err := serverConfig(env("SQLSOURCE_POSTGRES", "127.0.0.1:5432"), false)
	require.NoError(t, err)
	admin := server.Copy()
	admin.User, admin.Password = env("SQLSOURCE_POSTGRES_USER", "postgres"), os.Getenv("SQLSOURCE_POSTGRES_PASSWORD")
	name := fmt.Sprintf("connector_example_%016x", rand.Uint64())
	execute := func(database, sql string) error {
		own := admin.Copy()
		own.Database = database
		conn, err := pgx.ConnectConfig(context.Background(), own)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(context.Background()) }()
		_, err = conn.Exec(context.Background(), sql)
		return err
	}
	if err := execute("postgres", "CREATE DATABASE "+name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("in CI a PostgreSQL server must run: %v", err)
		}
		t.Skipf("no PostgreSQL server for tests: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, execute("postgres", "DROP DATABASE "+name+" WITH (FORCE)")) })
	require.NoError(t, execute(name, `
		CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL);
		CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint REFERENCES customers, amount numeric(10,2), placed timestamptz NOT NULL);
		INSERT INTO customers SELECT n, 'customer ' || n FROM generate_series(1, 20) n;
		INSERT INTO orders SELECT n, nullif(n % 21, 0), n * 1.25, timestamptz '2024-01-01 00:00:00Z' + n * interval '1 hour'
			FROM generate_series(1, 100) n`))
	token, err := wire.NewToken(testToken)
	require.NoError(t, err)
	source, err := newSource(server, sqlsource.Options{})
	require.NoError(t, err)
	handler, err := connector.New(definition, source, token, nil)
	require.NoError(t, err)
	target, done := conformance.InProcess(handler, testToken)
	defer done()
	tenant := map[string]string{"user": admin.User, "password": admin.Password, "database": name}
	target.Credentials = []wire.Credentials{wire.NewCredentials(tenant)}
	conformance.Test(t, target, &conformance.Options{Mode: conformance.ModeLive})
}

func env(name, otherwise string) string {
	if v := strings.TrimSpace(os.Getenv(name)); v != "" {
		return v
	}
	return otherwise
}
