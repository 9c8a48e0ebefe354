// Command sqlite is a connector over a SQLite database: discovery, filters,
// sorts, joins, counts and aggregates are all done by SQLite, with the
// platform's semantics.
//
//	go run -C examples/sqlite .                 # makes a demo database and serves it
//	go run -C examples/sqlite . -db my.sqlite   # your own; it is only read
//
// The whole connector is the function serve. The rest makes a demo database, and
// starts and stops a server.
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// serve is a connector over a database of the host's: open, flavor, serve.
func serve(db *sql.DB, token wire.Token) (*connector.Handler, error) {
	src, err := sqlsource.New(sqlsource.Config{DB: db, Flavor: sqlsource.SQLite()})
	if err != nil {
		return nil, err
	}
	return connector.New(connector.Definition{Slug: "sqlite", KeysEnforced: true}, src, token, nil)
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
	file := flags.String("db", "", "the database `file` to serve (default: a demo, made on the first run)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *file == "" {
		*file = filepath.Join(os.TempDir(), "connector-demo.sqlite")
		if err := makeDemo(ctx, *file); err != nil {
			return err
		}
	}
	db, err := open(*file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	secret, bearer := getenv("PLATFORM_CONNECTOR_TOKEN"), "$PLATFORM_CONNECTOR_TOKEN"
	if secret == "" {
		b := make([]byte, 32)
		_, _ = rand.Read(b) // never fails
		secret = hex.EncodeToString(b)
		bearer = secret
		_, _ = fmt.Fprintln(out, "Token:", secret, "(made for this run; set PLATFORM_CONNECTOR_TOKEN to keep one)")
	}
	token, err := wire.NewToken(secret)
	if err != nil {
		return fmt.Errorf("PLATFORM_CONNECTOR_TOKEN: %w", err)
	}
	handler, err := serve(db, token)
	if err != nil {
		return err
	}
	port := getenv("PORT")
	if port == "" {
		port = "8080"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("", port))
	if err != nil {
		return fmt.Errorf("PORT: %w", err)
	}
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	_, _ = fmt.Fprintf(out, "Serving %s at http://localhost:%s\n\nTry it:\n\n", *file, port)
	_, _ = fmt.Fprintf(out, "curl -sS http://localhost:%s/discovery -H \"Authorization: Bearer %s\" -d '{\"credentials\":{},\"timeoutMs\":30000}'\n", port, bearer)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	stopped := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(stopped)
		late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close()
		}
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped // what is in flight has a moment to end
	return nil
}

// open opens a database to be read, and fails when there is none.
func open(file string) (*sql.DB, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("-db: %w", err)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("-db: %w", err)
	}
	source := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}
	return sql.Open("sqlite", source.String())
}
