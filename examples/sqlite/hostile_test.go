package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
)

// TestHostile keeps R9: no text of a request is ever part of a statement.
func TestHostile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.sqlite")
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: sqlsource.SQLite(), DB: db, Key: "INTEGER"}, connects{db.Driver(), file})
}

// connects is a driver that knows where to go.
type connects struct {
	driver driver.Driver
	name   string
}

func (c connects) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }
func (c connects) Driver() driver.Driver                        { return c.driver }
