package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

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
