// Command sqlite is a connector over a SQLite database: SQLite does discovery,
// filters, sorts, joins, counts and aggregates, with the platform's semantics.
//
//	go run -C examples/sqlite .                 # creates a demo database and serves it
//	go run -C examples/sqlite . -db my.sqlite   # your own; it is only read
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

// definition asks for no credentials: the database is the host's.
var definition = connector.Definition{Slug: "shop", KeysEnforced: true}

// open opens a database to be read, and fails if there is none.
func open(file string) (*sql.DB, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("-db: %w", err)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("-db: %w", err)
	}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}
	return sql.Open("sqlite", dsn.String())
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sqlite:", err)
		os.Exit(1)
	}
}

// explain prints how each request is answered.
func explain(to io.Writer) func(context.Context, sqlsource.Plan) {
	var one sync.Mutex
	return func(_ context.Context, plan sqlsource.Plan) {
		one.Lock()
		defer one.Unlock()
		_, _ = fmt.Fprint(to, plan)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) (string, bool), out, plans io.Writer) error {
	flags := flag.NewFlagSet("sqlite", flag.ContinueOnError)
	file := flags.String("db", "", "the database `file` to serve (default: a demo, created on the first run)")
	cert := flags.String("cert", "", "a `file` with the certificate and its chain, for https")
	key := flags.String("key", "", "the `file` with its key")
	explained := flags.Bool("explain", false, "print how each request is answered, to stderr")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not a flag; to serve a database of your own, give -db %[1]s", flags.Arg(0))
	}
	if *file == "" {
		*file = filepath.Join(os.TempDir(), "connector-demo.sqlite")
		if err := createDemo(ctx, *file); err != nil {
			return err
		}
	}
	db, err := open(*file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	// Opening reads nothing yet. A folder, or a file of another kind, fails here.
	if _, err := db.ExecContext(ctx, "SELECT count(*) FROM sqlite_master"); err != nil {
		return fmt.Errorf("-db: %s cannot be read as a SQLite database: %w", *file, err)
	}
	var options sqlsource.Options
	if *explained {
		options.Observe = explain(plans)
	}
	source, err := sqlsource.New(db, sqlsource.SQLite(), &options)
	if err != nil {
		return err
	}
	program := standalone.Program{
		Definition: definition,
		Source:     source,
		CertFile:   *cert,
		KeyFile:    *key,
		Serving:    *file,
		Getenv:     getenv,
		Out:        out,
	}
	return program.Run(ctx)
}
