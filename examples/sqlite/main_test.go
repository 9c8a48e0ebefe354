package main

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testToken = "a-token-for-tests-0123456789abcdef"

// TestRun starts the program on a free port, follows the line that it prints,
// and stops it.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.sqlite")
	require.NoError(t, makeDemo(t.Context(), file))
	require.NoError(t, makeDemo(t.Context(), file), "a second run finds it made")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	stopped := make(chan error, 1)
	go func() {
		stopped <- run(ctx, []string{"-db", file}, func(name string) string {
			return map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": testToken}[name]
		}, in)
		_ = in.Close()
	}()
	var printed bytes.Buffer
	buffer := make([]byte, 4096)
	for !strings.Contains(printed.String(), "curl") {
		n, err := out.Read(buffer)
		require.NoError(t, err)
		printed.Write(buffer[:n])
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	_, line, _ := strings.Cut(printed.String(), "curl -sS ")
	url, _, _ := strings.Cut(line, " ")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"credentials":{},"timeoutMs":30000}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+testToken)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	var d wire.Discovery
	require.NoError(t, wire.Decode(body, &d))
	require.Len(t, d.Tables, 3)
	stop()
	require.NoError(t, <-stopped)
}

// TestRunRefuses says what is wrong before anything is served.
func TestRunRefuses(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.sqlite")
	err := run(t.Context(), []string{"-db", none}, func(string) string { return "" }, io.Discard)
	assert.ErrorContains(t, err, "-db: stat "+none)
	require.NoError(t, makeDemo(t.Context(), none))
	err = run(t.Context(), []string{"-db", none}, func(string) string { return "short" }, io.Discard)
	assert.ErrorContains(t, err, "PLATFORM_CONNECTOR_TOKEN: a token needs at least 32 characters")
}

// TestDemo exercises the demo database, and verifies every answer.
func TestDemo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.sqlite")
	require.NoError(t, makeDemo(t.Context(), file))
	db, err := open(file)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	src, err := sqlsource.New(sqlsource.Config{DB: db, Flavor: sqlsource.SQLite()})
	require.NoError(t, err)
	// The orders are more than 200 rows: under the race detector SQLite is slow.
	connectortest.Run(t, connector.Definition{Slug: "sqlite", KeysEnforced: true}, src, &connectortest.Options{Rows: 200})
}

// TestCatalog discovers keys and what is wrong with a database.
func TestCatalog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.sqlite")
	made, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = made.Exec(`
		CREATE TABLE a (x TEXT, y TEXT, z TEXT UNIQUE, w DATE UNIQUE, PRIMARY KEY (x, y));
		CREATE TABLE b (id INTEGER PRIMARY KEY, p TEXT NOT NULL, q TEXT NOT NULL, secret TEXT, FOREIGN KEY (p, q) REFERENCES A);
		CREATE TABLE c (k TEXT NOT NULL, l TEXT NOT NULL, b INTEGER REFERENCES b (ID), PRIMARY KEY (l, k)) WITHOUT ROWID;
		CREATE UNIQUE INDEX half ON b (p) WHERE q = 'x';
		CREATE TABLE gone (id INTEGER); CREATE VIEW broken AS SELECT * FROM gone; DROP TABLE gone;
		CREATE VIEW seen AS SELECT id AS number, q FROM b;
		CREATE TABLE odd (id INTEGER PRIMARY KEY, r REAL); INSERT INTO odd VALUES (1, 9e999), (2, 1.5)`)
	require.NoError(t, err)
	require.NoError(t, made.Close())
	db, err := open(file)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	src, err := sqlsource.New(sqlsource.Config{DB: db, Flavor: sqlsource.SQLite(), Tables: map[string]sqlsource.TableConfig{
		"seen": {PrimaryKey: []string{"number"}},
		"b":    {Name: "bees", Description: "Bees.", Columns: map[string]sqlsource.ColumnConfig{"secret": {Hidden: true}, "p": {Name: "pea", Type: wire.TypeReference}}},
	}})
	require.NoError(t, err)
	caller := connectortest.Start(t, connector.Definition{Slug: "sqlite", KeysEnforced: true}, src, nil).As(nil)
	d, err := caller.Discover()
	require.NoError(t, err)
	tables := map[string]*wire.Table{}
	for i := range d.Tables {
		tables[d.Tables[i].Name] = &d.Tables[i]
	}
	require.Len(t, tables, 5)
	assert.Empty(t, tables["a"].PrimaryKey, "SQLite lets nulls into a primary key")
	assert.True(t, tables["a"].Field("z").Unique)
	assert.False(t, tables["a"].Field("w").Unique, "one day may be spelled in several ways")
	assert.Equal(t, []string{"number"}, tables["seen"].PrimaryKey, "as the host says")
	assert.False(t, tables["seen"].StoresRows)
	bees := tables["bees"]
	assert.Equal(t, []string{"id"}, bees.PrimaryKey)
	assert.Equal(t, "Bees.", bees.SourceDescription)
	assert.Nil(t, bees.Field("secret"))
	assert.Equal(t, wire.TypeReference, bees.Field("pea").Type)
	assert.Equal(t, "p", bees.Field("pea").SourceColumn)
	assert.False(t, bees.Field("pea").Unique, "an index on some rows")
	assert.Equal(t, []wire.ForeignKey{{Field: "pea", TargetTable: "a", TargetField: "x"}, {Field: "q", TargetTable: "a", TargetField: "y"}}, bees.ForeignKeys)
	assert.Equal(t, []string{"l", "k"}, tables["c"].PrimaryKey)
	assert.Equal(t, []wire.ForeignKey{{Field: "b", TargetTable: "bees", TargetField: "id"}}, tables["c"].ForeignKeys)
	require.Len(t, d.Warnings, 2)
	assert.Contains(t, d.Warnings[0], `"broken" is left out`)
	assert.Contains(t, d.Warnings[1], `In table "odd", 1 values of the field "r" cannot be sent`)
	for _, name := range []string{"b", "B", "broken", "sqlite_schema", "none"} {
		_, err = caller.Size(name)
		require.ErrorIs(t, err, connector.ErrUnknownEntity, name)
	}
}

// TestNotADatabase says so to whoever connects it.
func TestNotADatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text.sqlite")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("no database ", 100)), 0o600))
	db, err := open(file)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	src, err := sqlsource.New(sqlsource.Config{DB: db, Flavor: sqlsource.SQLite()})
	require.NoError(t, err)
	err = connectortest.Start(t, connector.Definition{Slug: "sqlite"}, src, nil).As(nil).Check()
	require.ErrorIs(t, err, connector.ErrCheckFailed)
}
