// Command postgres is a connector over PostgreSQL: each tenant brings the user,
// the password and the database, on the server that the host has fixed.
//
//	go run -C examples/postgres . -server db.internal:5432
//
// The whole connector is serve, definition and opener. The rest starts and stops a
// server.
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
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// serve is a connector over the server of base: open, flavor, serve.
func serve(base *pgx.ConnConfig, token wire.Token) (*connector.Handler, error) {
	src, err := sqlsource.New(sqlsource.Config{Flavor: sqlsource.PostgreSQL(), Open: opener(base)})
	if err != nil {
		return nil, err
	}
	return connector.New(definition, src, token, nil)
}

// definition is what a tenant types into the connect form.
var definition = connector.Definition{Slug: "postgres", KeysEnforced: true, Credentials: []wire.CredentialField{
	{Key: "user", Label: "User", Type: wire.CredentialText, Help: "A role that may only read: README.md says how to make one."},
	{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
	{Key: "database", Label: "Database", Type: wire.CredentialText},
}}

// opener fills a tenant's credentials into the server's configuration.
func opener(base *pgx.ConnConfig) func(context.Context, wire.Credentials) (*sql.DB, error) {
	return func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := base.Copy()
		own.User, own.Password, own.Database = c.Get("user"), c.Get("password"), c.Get("database")
		return stdlib.OpenDB(*own), nil
	}
}

// server is how the server is reached, and nothing of a tenant: no user,
// password or service file of the host's environment plays a part.
func server(address string, tls bool) (*pgx.ConnConfig, error) {
	mode := "disable"
	if tls {
		mode = "verify-full"
	}
	base, err := pgx.ParseConfig("host=localhost user=none password=none dbname=none connect_timeout=10 passfile=/dev/null servicefile=/dev/null sslmode=" + mode)
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
	base.Host, base.Port, base.Fallbacks = host, uint16(number), nil
	if base.TLSConfig != nil {
		base.TLSConfig.ServerName = host
	}
	return base, nil
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
	base, err := server(*address, *tls)
	if err != nil {
		return err
	}
	secret := getenv("PLATFORM_CONNECTOR_TOKEN")
	if secret == "" {
		b := make([]byte, 32)
		_, _ = rand.Read(b) // never fails
		secret = hex.EncodeToString(b)
		_, _ = fmt.Fprintln(out, "Token:", secret, "(made for this run; set PLATFORM_CONNECTOR_TOKEN to keep one)")
	}
	token, err := wire.NewToken(secret)
	if err != nil {
		return fmt.Errorf("PLATFORM_CONNECTOR_TOKEN: %w", err)
	}
	handler, err := serve(base, token)
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
	_, _ = fmt.Fprintf(out, "Serving the databases of %s at http://%s\n", *address, listener.Addr())
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
