package main

import (
	"context"
	"database/sql"
	_ "embed"
	"os"
)

//go:embed demo.sql
var demo string

// makeDemo makes the demo database unless it is there.
func makeDemo(ctx context.Context, file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	made := file + ".new" // so that an interrupted run leaves nothing half made
	if err := os.RemoveAll(made); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", made)
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
	return os.Rename(made, file)
}
