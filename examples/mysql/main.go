// Command mysql is a connector over MySQL or MariaDB: each tenant brings the user,
// the password and the database, on the server that the host has fixed.
//
//	go run -C examples/mysql . -server db.internal:3306
//
// The whole connector is serve, definition and opener. The rest starts and stops a
// server.
package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
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
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// serve is a connector over the server of base: open, flavor, serve.
func serve(base *mysql.Config, token wire.Token) (*connector.Handler, error) {
	src, err := sqlsource.New(sqlsource.Config{Flavor: sqlsource.MySQL(), Open: opener(base)})
	if err != nil {
		return nil, err
	}
	return connector.New(definition, src, token, nil)
}

// definition is what a tenant types into the connect form.
var definition = connector.Definition{Slug: "mysql", KeysEnforced: true, Credentials: []wire.CredentialField{
	{Key: "user", Label: "User", Type: wire.CredentialText, Help: "A user who may only read: README.md says how to make one."},
	{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
	{Key: "database", Label: "Database", Type: wire.CredentialText},
}}

// opener fills a tenant's credentials into the server's configuration.
func opener(base *mysql.Config) func(context.Context, wire.Credentials) (*sql.DB, error) {
	return func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := base.Clone()
		own.User, own.Passwd, own.DBName = c.Get("user"), c.Get("password"), c.Get("database")
		driver, err := mysql.NewConnector(own)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(driver), nil
	}
}

// server is how the server is reached, and nothing of a tenant.
func server(address string, encrypt bool) (*mysql.Config, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("-server: %w", err)
	}
	base := mysql.NewConfig()
	base.Net, base.Addr, base.Timeout = "tcp", address, 10*time.Second
	base.Logger = &mysql.NopLogger{} // its lines could hold what the server says of a tenant
	if encrypt {
		host, _, _ := net.SplitHostPort(address)
		base.TLS = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	return base, nil
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
	base, err := server(*address, *encrypt)
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
