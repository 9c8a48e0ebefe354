package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
)

const testToken = "a-token-for-tests-0123456789abcdef"

// TestRun starts the program on a free port and stops it. It does not connect
// to a database before a request asks for one.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	stopped := make(chan error, 1)
	go func() {
		stopped <- run(ctx, []string{"-server", "db.invalid:1"}, func(name string) string {
			return map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": testToken}[name]
		}, in)
		_ = in.Close()
	}()
	var printed bytes.Buffer
	buffer := make([]byte, 4096)
	for !strings.Contains(printed.String(), "Serving the databases of db.invalid:1 at http://") {
		n, err := out.Read(buffer)
		require.NoError(t, err)
		printed.Write(buffer[:n])
	}
	assert.NotContains(t, printed.String(), testToken)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	stop()
	require.NoError(t, <-stopped)
}

// TestRunRefuses says what is wrong before anything is served.
func TestRunRefuses(t *testing.T) {
	for _, c := range []struct{ why, server, token, want string }{
		{"an address without a port", "db", testToken, "-server: "},
		{"a short token", "db:1", "short", "PLATFORM_CONNECTOR_TOKEN: a token needs at least 32 characters"},
	} {
		err := run(t.Context(), []string{"-server", c.server}, func(name string) string {
			return map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": c.token}[name]
		}, io.Discard)
		assert.ErrorContains(t, err, c.want, c.why)
	}
}

// TestTenants keeps two tenants apart, each with a database of his own.
func TestTenants(t *testing.T) {
	one, first := database(t)
	two, second := database(t)
	for _, statement := range []string{"CREATE TABLE shared (id BIGINT PRIMARY KEY, name VARCHAR(40))", "INSERT INTO shared VALUES (1, 'of the first tenant'), (2, 'x')", "CREATE TABLE only_first (id BIGINT PRIMARY KEY)"} {
		_, err := one.Exec(statement)
		require.NoError(t, err)
	}
	for _, statement := range []string{"CREATE TABLE shared (id BIGINT PRIMARY KEY, name VARCHAR(40))", "INSERT INTO shared VALUES (1, 'of the second tenant'), (3, 'y'), (4, 'z')"} {
		_, err := two.Exec(statement)
		require.NoError(t, err)
	}
	src, err := sqlsource.New(sqlsource.Config{Flavor: sqlsource.MySQL(), Open: opener(first)})
	require.NoError(t, err)
	credentials := func(database string) map[string]string {
		return map[string]string{"user": first.User, "password": first.Passwd, "database": database}
	}
	connectortest.Isolation(t, definition, src, credentials(first.DBName), credentials(second.DBName))
}
