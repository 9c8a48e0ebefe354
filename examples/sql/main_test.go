package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testToken = "a-token-for-tests-0123456789abcdef"

// environment returns one that has any free port and a token.
func environment(token string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": token}[name]
		return value, set
	}
}

// demoFile creates the demo database.
func demoFile(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "demo.sqlite")
	require.NoError(t, createDemo(t.Context(), file))
	require.NoError(t, createDemo(t.Context(), file), "a second run finds it")
	return file
}

// TestRun starts the program on a free port, and stops it. With a server it does not
// connect before a request asks for a database.
func TestRun(t *testing.T) {
	words := strings.NewReplacer("{file}", demoFile(t), "{and}", ", ")
	for _, c := range testkit.Table(t, "testdata/serving.tsv", 3) {
		t.Run(c[0], func(t *testing.T) {
			args := strings.Fields(c[1])
			for i := range args {
				args[i] = words.Replace(args[i])
			}
			printed := start(t, args, io.Discard)
			printed.Await(t, "Serving "+words.Replace(c[2])+" at http://")
			assert.NotContains(t, printed.String(), testToken)
		})
	}
}

// start runs the program until the test ends.
func start(t *testing.T, args []string, plans io.Writer) *testkit.Log {
	t.Helper()
	printed, _ := testkit.Launch(t, func(ctx context.Context, out io.Writer) error {
		return run(ctx, args, environment(testToken), out, plans)
	})
	return printed
}

// TestExplain follows the line that the program prints, and reads how the request was
// answered.
func TestExplain(t *testing.T) {
	var plans bytes.Buffer
	t.Run("served", func(t *testing.T) {
		line := start(t, []string{"-file", demoFile(t), "-explain"}, &plans).Await(t, "/discovery ")
		url, _, _ := strings.Cut(strings.TrimPrefix(line, "curl -sS "), " ")
		_, body := testkit.Send(t, http.DefaultClient, url, testToken, `{"credentials":{},"timeoutMs":30000}`)
		var d wire.Discovery
		require.NoError(t, wire.Decode([]byte(body), &d))
		require.Len(t, d.Tables, 3)
	})
	assert.Contains(t, plans.String(), "Discover\n  statement: SELECT ")
}

// TestRunRefuses reports what is wrong before anything is served. A program that
// serves ends without an error when the time is over.
func TestRunRefuses(t *testing.T) {
	// A folder and a file of another kind open without an error: only reading shows what they are.
	file, dir := demoFile(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text.sqlite"), []byte("not a database, though its name says so"), 0o600))
	words := strings.NewReplacer("{file}", file, "{dir}", dir)
	for _, c := range testkit.Table(t, "testdata/refused.tsv", 3) {
		token := testToken
		if strings.HasPrefix(c[0], "a short token") {
			token = "short"
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		err := run(ctx, strings.Fields(words.Replace(c[1])), environment(token), io.Discard, io.Discard)
		stop()
		require.ErrorContains(t, err, words.Replace(c[2]), c[0])
		assert.NotContains(t, err.Error(), "pw7c1e", c[0])
	}
}

// TestGraded grades the connector over a small database of each engine with the
// conformance program. SQLSOURCE_POSTGRES and SQLSOURCE_MYSQL name servers, and with
// _USER and _PASSWORD behind the name a user who may create databases.
func TestGraded(t *testing.T) {
	for engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s, credentials := demoOf(t, engine)
			served := testkit.Must(engines[engine].open(t.Context(), s))(t)
			t.Cleanup(func() { require.NoError(t, served.close()) })
			connectortest.Run(t, served.definition, served.source, &connectortest.Options{Credentials: credentials})
		})
	}
}

// servers are those of the engines, unless variables name others. admin is a database that each of them has.
var servers = map[string]struct {
	variable, address, user string
	driver, dsn, admin      string
	force                   string // behind DROP DATABASE
}{
	"postgres": {"SQLSOURCE_POSTGRES", "127.0.0.1:5432", "postgres",
		"pgx", "postgres://{user}:{escaped}@{server}/{database}?sslmode=disable", "postgres", " WITH (FORCE)"},
	"mysql": {"SQLSOURCE_MYSQL", "127.0.0.1:3306", "root",
		"mysql", "{user}:{password}@tcp({server})/{database}?multiStatements=true", "", ""},
}

// demoOf returns how the demo of an engine is reached. On a server it has the tables of testdata/ENGINE.sql, and is dropped
// when the test ends. Without a server the test is skipped, which fails in CI.
func demoOf(t *testing.T, engine string) (settings, map[string]string) {
	server, is := servers[engine]
	if !is {
		if testing.Short() {
			t.Skip("SQLite in Go takes minutes under the race detector; run without -short")
		}
		return settings{file: demoFile(t)}, nil
	}
	value := func(name, otherwise string) string {
		return cmp.Or(strings.TrimSpace(os.Getenv(server.variable+name)), otherwise)
	}
	name := fmt.Sprintf("connector_example_%016x", rand.Uint64())
	address, user, password := value("", server.address), value("_USER", server.user), os.Getenv(server.variable+"_PASSWORD")
	open := func(database string) *sql.DB {
		words := strings.NewReplacer("{user}", user, "{password}", password, "{escaped}", url.QueryEscape(password), "{server}", address,
			"{database}", database)
		db := testkit.Must(sql.Open(server.driver, words.Replace(server.dsn)))(t)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
	admin := open(server.admin)
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("in CI the server must run: %v", err)
		}
		t.Skipf("no server for tests: %v", err)
	}
	t.Cleanup(func() { // the test's context is over here
		testkit.Must(admin.ExecContext(context.Background(), "DROP DATABASE "+name+server.force))(t)
	})
	script := testkit.Must(os.ReadFile("testdata/" + engine + ".sql"))(t)
	testkit.Must(open(name).ExecContext(t.Context(), string(script)))(t)
	return settings{server: address}, map[string]string{"user": user, "password": password, "database": name}
}
