package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
)

// address returns the server that tests use.
func address() string {
	if a := os.Getenv("SQLSOURCE_POSTGRES"); a != "" {
		return a
	}
	return "127.0.0.1:5432"
}

// administrator returns how the user connects who creates databases for tests.
func administrator(t testing.TB) *pgx.ConnConfig {
	t.Helper()
	config := server(t, address())
	config.User, config.Database = "postgres", "postgres"
	if u := os.Getenv("SQLSOURCE_POSTGRES_USER"); u != "" {
		config.User = u
	}
	config.Password = os.Getenv("SQLSOURCE_POSTGRES_PASSWORD")
	return config
}

// server returns how a server is reached without TLS, and nothing of a tenant.
func server(t testing.TB, address string) *pgx.ConnConfig {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	config, err := pgx.ParseConfig("host=" + host + " port=" + port +
		" user=none password=none dbname=none connect_timeout=10 passfile=/dev/null servicefile=/dev/null sslmode=disable")
	require.NoError(t, err)
	return config
}

// database creates an empty database and drops it when the test ends. Sessions
// have a time zone that is far from UTC and has summer time.
func database(t testing.TB) (*sql.DB, *pgx.ConnConfig) {
	t.Helper()
	return databaseWith(t, "ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'")
}

// databaseWith creates an empty database with options of CREATE DATABASE.
func databaseWith(t testing.TB, options string) (*sql.DB, *pgx.ConnConfig) {
	t.Helper()
	config := administrator(t)
	admin := stdlib.OpenDB(*config)
	if err := admin.PingContext(t.Context()); err != nil {
		_ = admin.Close()
		if os.Getenv("CI") != "" {
			t.Fatalf("in CI a PostgreSQL server must run: %v", err)
		}
		t.Skipf("no PostgreSQL server answers at %s; set SQLSOURCE_POSTGRES to its host:port, "+
			"and SQLSOURCE_POSTGRES_USER and SQLSOURCE_POSTGRES_PASSWORD to a user who may create databases", address())
	}
	name := fmt.Sprintf("sqlsource_test_%016x", rand.Uint64())
	_, err := admin.Exec("CREATE DATABASE " + name + " TEMPLATE template0 " + options)
	require.NoError(t, err)
	own := config.Copy()
	own.Database = name
	own.RuntimeParams["timezone"] = "America/St_Johns"
	own.RuntimeParams["datestyle"] = "German, DMY"
	own.RuntimeParams["extra_float_digits"] = "-15"
	own.RuntimeParams["bytea_output"] = "escape"
	db := stdlib.OpenDB(*own)
	t.Cleanup(func() {
		_ = db.Close()
		_, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
		_ = admin.Close()
	})
	return db, own
}
