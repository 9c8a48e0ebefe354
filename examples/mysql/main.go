// Command mysql is a connector over MySQL or MariaDB: each tenant brings a user, a
// password and a database, on a server that the host has chosen.
//
//	go run -C examples/mysql . -server db.internal:3306
package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// definition says what a tenant types into the connect form.
var definition = connector.Definition{
	Slug:         "mysql",
	KeysEnforced: true,
	Credentials: []wire.CredentialField{
		{Key: "user", Label: "User", Type: wire.CredentialText, Help: "A user who may only read: README.md says how to create one."},
		{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
		{Key: "database", Label: "Database", Type: wire.CredentialText},
	},
}

// newHandler returns the connector over the databases of a server.
func newHandler(server *mysql.Config, token wire.Token) (*connector.Handler, error) {
	open := func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := server.Clone()
		own.User, own.Passwd, own.DBName = c.Get("user"), c.Get("password"), c.Get("database")
		driver, err := mysql.NewConnector(own)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(driver), nil
	}
	source, err := sqlsource.NewPerTenant(open, sqlsource.MySQL(), nil)
	if err != nil {
		return nil, err
	}
	return connector.New(definition, source, token, nil)
}

// serverConfig returns how the server is reached, and nothing of a tenant.
func serverConfig(address string, encrypt bool) (*mysql.Config, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("-server: %w", err)
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.Timeout = "tcp", address, 10*time.Second
	config.Logger = &mysql.NopLogger{} // its lines could hold what the server says of a tenant
	if encrypt {
		config.TLS = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	return config, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mysql:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("mysql", flag.ContinueOnError)
	address := flags.String("server", "localhost:3306", "`host:port` of the database server")
	encrypt := flags.Bool("tls", false, "encrypt, and verify the server's certificate")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server, err := serverConfig(*address, *encrypt)
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
