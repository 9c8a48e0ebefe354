package main

import (
	"context"
	"database/sql"
	_ "embed"
	"os"
)

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
