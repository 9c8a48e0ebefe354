// Command sqlite is a connector over a SQLite database: SQLite does discovery,
// filters, sorts, joins, counts and aggregates, with the platform's semantics.
//
//	go run -C examples/sqlite .                 # creates a demo database and serves it
//	go run -C examples/sqlite . -db my.sqlite   # your own; it is only read
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// newHandler returns the connector: a database of the host, the flavor of its
// engine, and no credentials.
func newHandler(db *sql.DB, token wire.Token) (*connector.Handler, error) {
	source, err := sqlsource.New(db, sqlsource.SQLite(), nil)
	if err != nil {
		return nil, err
	}
	return connector.New(connector.Definition{Slug: "sqlite", KeysEnforced: true}, source, token, nil)
}

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
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sqlite:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("sqlite", flag.ContinueOnError)
	file := flags.String("db", "", "the database `file` to serve (default: a demo, created on the first run)")
	if err := flags.Parse(args); err != nil {
		return err
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
	secret, shown := getenv("PLATFORM_CONNECTOR_TOKEN"), "$PLATFORM_CONNECTOR_TOKEN"
	if secret == "" {
		secret = rand.Text() + rand.Text()
		shown = secret
		_, _ = fmt.Fprintln(out, "Token:", secret, "(for this run; set PLATFORM_CONNECTOR_TOKEN to keep one)")
	}
	token, err := wire.NewToken(secret)
	if err != nil {
		return fmt.Errorf("PLATFORM_CONNECTOR_TOKEN: %w", err)
	}
	handler, err := newHandler(db, token)
	if err != nil {
		return err
	}
	port := getenv("PORT")
	if port == "" {
		port = "8080"
	}
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return fmt.Errorf("PORT: %w", err)
	}
	address := fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	_, _ = fmt.Fprintf(out, "Serving %s at %s\n\nTry it:\n\n", *file, address)
	_, _ = fmt.Fprintf(out, "curl -sS %s/discovery -H \"Authorization: Bearer %s\" -d '{\"credentials\":{},\"timeoutMs\":30000}'\n",
		address, shown)
	return connector.Serve(ctx, listener, handler)
}
