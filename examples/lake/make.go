package main

import (
	"context"
	"database/sql"
	_ "embed"
	"os"
	"path/filepath"

	_ "github.com/duckdb/duckdb-go/v2"
)

//go:embed data.sql
var script string

// southPassword is the password of the tenant south.
const southPassword = "demo-password"

// makeData writes the data into a folder.
func makeData(ctx context.Context, dir string) error {
	for _, tenant := range []string{"north", "south"} {
		if err := os.MkdirAll(filepath.Join(dir, tenant), 0o755); err != nil {
			return err
		}
	}
	db, err := sql.Open("duckdb", "?threads=1") // so that the files are the same each time
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := os.Chdir(dir); err != nil { // the paths of the script are relative
		return err
	}
	if _, err := db.ExecContext(ctx, script); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("south", ".password"), []byte(southPassword+"\n"), 0o644)
}
