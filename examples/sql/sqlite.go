package main

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
)

// sqliteDefinition asks for no credentials: the file is the host's, and every tenant
// sees the same tables.
var sqliteDefinition = connector.Definition{Slug: "shop", KeysEnforced: true}

// openSQLite serves a file, or a demo.
func openSQLite(ctx context.Context, s settings) (*served, error) {
	if s.file == "" {
		s.file = filepath.Join(os.TempDir(), "connector-demo.sqlite")
		if err := createDemo(ctx, s.file); err != nil {
			return nil, err
		}
	}
	db, err := readOnly(ctx, s.file)
	if err != nil {
		return nil, fmt.Errorf("-file: %w", err)
	}
	source, err := sqlsource.New(db, sqlsource.SQLite(), &s.options)
	if err != nil {
		return nil, err
	}
	return &served{sqliteDefinition, source, s.file, db.Close}, nil
}

// readOnly opens a database to be read, and fails if the file is not a database.
func readOnly(ctx context.Context, file string) (*sql.DB, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	// Opening reads nothing yet. A folder, or a file of another kind, fails here.
	if _, err := db.ExecContext(ctx, "SELECT count(*) FROM sqlite_master"); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("%s cannot be read as a SQLite database: %w", file, err)
	}
	return db, nil
}

//go:embed demo.sql
var demo string

// createDemo creates the demo database unless it exists.
func createDemo(ctx context.Context, file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	unfinished := file + ".new" // so that an interrupted run leaves nothing unfinished
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", unfinished)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, demo)
	if closed := db.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(unfinished, file)
}
