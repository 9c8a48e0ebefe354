// Command lake serves a folder of Parquet, CSV and JSON files, a sub-folder for each
// tenant: DuckDB does filters, sorts, joins, counts and aggregates over the files.
//
//	go run -C examples/lake .                    # the bundled data
//	go run -C examples/lake . -dir /data/lake    # your own; it is only read
//	go run -C examples/lake . -make ./mydata     # writes the bundled data anew
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "lake:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) (string, bool), out io.Writer) error {
	flags := flag.NewFlagSet("lake", flag.ContinueOnError)
	dir := flags.String("dir", "", "the `folder` with a sub-folder for each tenant (default: the bundled data)")
	memory := flags.String("memory", "1GB", "how much memory all requests of one tenant may take together")
	into := flags.String("make", "", "write the bundled data into this `folder`, and end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("give flags only: -dir names the folder")
	}
	if *into != "" {
		return makeData(ctx, *into)
	}
	program := standalone.Program{
		Definition: connector.Definition{Slug: "lake", Credentials: filesource.Credentials()},
		Serving:    *dir,
		Getenv:     getenv,
		Out:        out,
	}
	if *dir == "" {
		*dir, program.Serving = bundled(), "the bundled data"
		program.Credentials = map[string]string{filesource.CredentialTenant: "north"}
	}
	var err error
	if program.Source, err = duckdb.Folder(*dir, &duckdb.FolderOptions{PerTenant: true, Memory: *memory}); err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	return program.Run(ctx)
}

// bundled returns the folder of the bundled data, which lies beside this file.
func bundled() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "data")
}
