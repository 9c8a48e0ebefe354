package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// address returns the server that tests use.
func address() string {
	if a := os.Getenv("SQLSOURCE_MYSQL"); a != "" {
		return a
	}
	return "127.0.0.1:3306"
}

// administrator returns how the user connects who creates databases for tests.
func administrator(t testing.TB) *mysql.Config {
	t.Helper()
	config := mysql.NewConfig()
	config.Net, config.Addr, config.Timeout = "tcp", address(), 10*time.Second
	config.User = "root"
	if u := os.Getenv("SQLSOURCE_MYSQL_USER"); u != "" {
		config.User = u
	}
	config.Passwd = os.Getenv("SQLSOURCE_MYSQL_PASSWORD")
	return config
}

func open(t testing.TB, config *mysql.Config) *sql.DB {
	t.Helper()
	driver, err := mysql.NewConnector(config)
	require.NoError(t, err)
	return sql.OpenDB(driver)
}

// database creates an empty database and drops it when the test ends. Its
// collation ignores case, and sessions have settings that would spoil answers.
func database(t testing.TB) (*sql.DB, *mysql.Config) {
	t.Helper()
	config := administrator(t)
	admin := open(t, config)
	if err := admin.PingContext(t.Context()); err != nil {
		_ = admin.Close()
		if os.Getenv("CI") != "" {
			t.Fatalf("in CI a MySQL or MariaDB server must run: %v", err)
		}
		t.Skipf("no MySQL or MariaDB server answers at %s; set SQLSOURCE_MYSQL to its host:port, "+
			"and SQLSOURCE_MYSQL_USER and SQLSOURCE_MYSQL_PASSWORD to a user who may create databases", address())
	}
	name := fmt.Sprintf("sqlsource_test_%016x", rand.Uint64())
	_, err := admin.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	require.NoError(t, err)
	own := config.Clone()
	own.DBName = name
	own.Params = map[string]string{
		"time_zone": "'-03:30'", "sql_select_limit": "3", "sql_mode": "'ANSI,PAD_CHAR_TO_FULL_LENGTH'",
	}
	db := open(t, own)
	t.Cleanup(func() {
		_ = db.Close()
		_, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name)
		require.NoError(t, err)
		_ = admin.Close()
	})
	return db, own
}
