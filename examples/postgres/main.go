// Command postgres is a connector over PostgreSQL: each tenant brings a user, a
// password and a database, on a server that the host has chosen.
//
//	go run -C examples/postgres . -server db.internal:5432
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// definition says what a tenant types into the connect form.
var definition = connector.Definition{
	Slug:         "shop-databases",
	KeysEnforced: true,
	Credentials: []wire.CredentialField{
		{Key: "user", Label: "User", Type: wire.CredentialText, Help: "A role that may only read: README.md says how to create one."},
		{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
		{Key: "database", Label: "Database", Type: wire.CredentialText},
		{Key: "schema", Label: "Schema", Type: wire.CredentialText, Optional: true,
			Help: "Whose tables are read. Several are separated by commas; their tables are then named schema.table."},
	},
}

// newSource returns the source over the databases of a server.
func newSource(server *pgx.ConnConfig, options sqlsource.Options) (connector.Source, error) {
	open := func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := server.Copy()
		own.User, own.Password, own.Database = c.Get("user"), c.Get("password"), c.Get("database")
		return stdlib.OpenDB(*own), nil
	}
	options.SchemasOf = func(c wire.Credentials) []string { return names(c.Get("schema")) }
	return sqlsource.NewPerTenant(open, pgxrows.PostgreSQL(), &options)
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
	number, notNumber := strconv.ParseUint(port, 10, 16)
	if err != nil || notNumber != nil || strings.ContainsAny(host, "/@") {
		// The text is not repeated: a URL may hold a password.
		return nil, errors.New("-server: give host:port, such as db.internal:5432, and no URL; " +
			"user, password and database are credentials of the tenants")
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
	if err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "postgres:", err)
		os.Exit(1)
	}
}

// names splits a list at its commas.
func names(list string) []string {
	var all []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
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
	flags := flag.NewFlagSet("postgres", flag.ContinueOnError)
	address := flags.String("server", "localhost:5432", "`host:port` of the database server")
	tls := flags.Bool("tls", false, "encrypt, and verify the server's certificate")
	schemas := flags.String("schema", "", "the `schemas` that are served to tenants who name none, separated by commas (default: public)")
	explained := flags.Bool("explain", false, "print how each request is answered, to stderr")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("give flags only; the server is given by -server host:port")
	}
	server, err := serverConfig(*address, *tls)
	if err != nil {
		return err
	}
	options := sqlsource.Options{Schemas: names(*schemas)}
	if *explained {
		options.Observe = explain(plans)
	}
	source, err := newSource(server, options)
	if err != nil {
		return err
	}
	program := standalone.Program{
		Definition: definition,
		Source:     source,
		Serving:    "the databases of " + *address,
		Getenv:     getenv,
		Out:        out,
	}
	return program.Run(ctx)
}
