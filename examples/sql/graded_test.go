package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
)

// TestGraded grades the connector over a small database of each engine with the
// conformance program. SQLSOURCE_POSTGRES and SQLSOURCE_MYSQL name servers, and with
// _USER and _PASSWORD behind the name a user who may create databases.
func TestGraded(t *testing.T) {
	for _, c := range []struct {
		engine  string
		prepare func(*testing.T) (settings, map[string]string)
	}{
		{"sqlite", demoSQLite},
		{"postgres", demoPostgreSQL},
		{"mysql", demoMySQL},
	} {
		t.Run(c.engine, func(t *testing.T) {
			t.Parallel()
			s, credentials := c.prepare(t)
			served, err := engines[c.engine].open(t.Context(), s)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, served.close()) })
			connectortest.Run(t, served.definition, served.source, &connectortest.Options{Credentials: credentials})
		})
	}
}

func demoSQLite(t *testing.T) (settings, map[string]string) {
	if testing.Short() {
		t.Skip("SQLite in Go takes minutes under the race detector; run without -short")
	}
	return settings{file: demoFile(t)}, nil
}

func demoPostgreSQL(t *testing.T) (settings, map[string]string) {
	s, credentials := tenant("SQLSOURCE_POSTGRES", "127.0.0.1:5432", "postgres")
	connect := func(database string) *sql.DB {
		at, err := parseAddress(s.server, 0)
		require.NoError(t, err)
		config, err := postgresServer(at, s.tls)
		require.NoError(t, err)
		config.User, config.Password, config.Database = credentials["user"], credentials["password"], database
		db := stdlib.OpenDB(*config)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
	createDatabase(t, connect("postgres"), credentials["database"], " WITH (FORCE)")
	execute(t, connect(credentials["database"]), `
		CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL);
		CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint REFERENCES customers, amount numeric(10,2), placed timestamptz NOT NULL);
		INSERT INTO customers SELECT n, 'customer ' || n FROM generate_series(1, 20) n;
		INSERT INTO orders SELECT n, nullif(n % 21, 0), n * 1.25, timestamptz '2024-01-01 00:00:00Z' + n * interval '1 hour'
			FROM generate_series(1, 100) n`)
	return s, credentials
}

func demoMySQL(t *testing.T) (settings, map[string]string) {
	s, credentials := tenant("SQLSOURCE_MYSQL", "127.0.0.1:3306", "root")
	at, err := parseAddress(s.server, 0)
	require.NoError(t, err)
	config := mysqlServer(at, s.tls)
	config.User, config.Passwd = credentials["user"], credentials["password"]
	driver, err := mysql.NewConnector(config)
	require.NoError(t, err)
	db, name := sql.OpenDB(driver), credentials["database"]
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	createDatabase(t, db, name, "")
	execute(t, db, fmt.Sprintf("CREATE TABLE %s.customers (id BIGINT PRIMARY KEY, name VARCHAR(40) NOT NULL)", name))
	execute(t, db, fmt.Sprintf("CREATE TABLE %[1]s.orders (id BIGINT PRIMARY KEY, customer BIGINT REFERENCES %[1]s.customers (id), "+
		"amount DECIMAL(10,2), placed DATETIME NOT NULL)", name))
	for i := range 100 {
		if i < 20 {
			execute(t, db, fmt.Sprintf("INSERT INTO %s.customers VALUES (%d, 'customer %d')", name, i+1, i+1))
		}
		execute(t, db, fmt.Sprintf("INSERT INTO %s.orders VALUES (%d, NULLIF(%d, 0), %d.25, '2024-01-%02d 12:00:00')",
			name, i+1, i%20, i, 1+i%31))
	}
	return s, credentials
}

// tenant returns a server, and the credentials of a tenant with a new database there.
func tenant(variable, server, user string) (settings, map[string]string) {
	value := func(name, otherwise string) string {
		if v := strings.TrimSpace(os.Getenv(name)); v != "" {
			return v
		}
		return otherwise
	}
	return settings{server: value(variable, server)}, map[string]string{
		"user":     value(variable+"_USER", user),
		"password": os.Getenv(variable + "_PASSWORD"),
		"database": fmt.Sprintf("connector_example_%016x", rand.Uint64()),
	}
}

// createDatabase creates a database and drops it when the test ends. It skips the test
// if there is no server, which fails in CI.
func createDatabase(t *testing.T, db *sql.DB, name, force string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("in CI the server must run: %v", err)
		}
		t.Skipf("no server for tests: %v", err)
	}
	t.Cleanup(func() { // the test's context is over here
		_, err := db.ExecContext(context.Background(), "DROP DATABASE "+name+force)
		require.NoError(t, err)
	})
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}
