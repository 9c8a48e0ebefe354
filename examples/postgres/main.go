// Command postgres is a connector over PostgreSQL: each tenant brings a user, a
// password and a database, on a server that the host has chosen.
//
//	go run -C examples/postgres . -server db.internal:5432
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
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// definition says what a tenant types into the connect form.
var definition = connector.Definition{
	Slug:         "postgres",
	KeysEnforced: true,
	Credentials: []wire.CredentialField{
		{Key: "user", Label: "User", Type: wire.CredentialText, Help: "A role that may only read: README.md says how to create one."},
		{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
		{Key: "database", Label: "Database", Type: wire.CredentialText},
	},
}

// newHandler returns the connector over the databases of a server.
func newHandler(server *pgx.ConnConfig, token wire.Token) (*connector.Handler, error) {
	open := func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := server.Copy()
		own.User, own.Password, own.Database = c.Get("user"), c.Get("password"), c.Get("database")
		return stdlib.OpenDB(*own), nil
	}
	source, err := sqlsource.NewPerTenant(open, sqlsource.PostgreSQL(), nil)
	if err != nil {
		return nil, err
	}
	return connector.New(definition, source, token, nil)
}

// serverConfig returns how the server is reached, and nothing of a tenant. It
// ignores users, passwords and service files of the host's environment.
func serverConfig(address string, tls bool) (*pgx.ConnConfig, error) {
	mode := "disable"
	if tls {
		mode = "verify-full"
	}
	const fixed = "host=localhost user=none password=none dbname=none connect_timeout=10 passfile=/dev/null servicefile=/dev/null"
	config, err := pgx.ParseConfig(fixed + " sslmode=" + mode)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("-server: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, errors.New("-server: the port must be a number, such as db.internal:5432")
	}
	config.Host, config.Port, config.Fallbacks = host, uint16(number), nil
	if config.TLSConfig != nil {
		config.TLSConfig.ServerName = host
	}
	return config, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "postgres:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("postgres", flag.ContinueOnError)
	address := flags.String("server", "localhost:5432", "`host:port` of the database server")
	tls := flags.Bool("tls", false, "encrypt, and verify the server's certificate")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server, err := serverConfig(*address, *tls)
	if err != nil {
		return err
	}
	secret := getenv("PLATFORM_CONNECTOR_TOKEN")
	if secret == "" {
		secret = rand.Text() + rand.Text()
		_, _ = fmt.Fprintln(out, "Token:", secret, "(for this run; set PLATFORM_CONNECTOR_TOKEN to keep one)")
	}
	token, err := wire.NewToken(secret)
	if err != nil {
		return fmt.Errorf("PLATFORM_CONNECTOR_TOKEN: %w", err)
	}
	handler, err := newHandler(server, token)
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
	_, _ = fmt.Fprintf(out, "Serving the databases of %s at http://%s\n", *address, listener.Addr())
	return connector.Serve(ctx, listener, handler)
}
