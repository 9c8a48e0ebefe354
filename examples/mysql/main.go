// Command mysql is a connector over MySQL or MariaDB: each tenant brings a user, a
// password and a database, on a server that the host has chosen.
//
//	go run -C examples/mysql . -server db.internal:3306
package main

import (
	"context"
	"crypto/tls"
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
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// definition says what a tenant types into the connect form.
var definition = connector.Definition{
	Slug:         "shop-databases",
	KeysEnforced: true,
	Credentials: []wire.CredentialField{
		{Key: "user", Label: "User", Type: wire.CredentialText, Help: "A user who may only read: README.md says how to create one."},
		{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
		{Key: "database", Label: "Database", Type: wire.CredentialText},
	},
}

// newSource returns the source over the databases of a server.
func newSource(server *mysql.Config, options sqlsource.Options) (connector.Source, error) {
	open := func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := server.Clone()
		own.User, own.Passwd, own.DBName = c.Get("user"), c.Get("password"), c.Get("database")
		driver, err := mysql.NewConnector(own)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(driver), nil
	}
	return sqlsource.NewPerTenant(open, sqlsource.MySQL(), &options)
}

// serverConfig returns how the server is reached, and nothing of a tenant.
func serverConfig(address string, encrypt bool) (*mysql.Config, error) {
	host, port, err := net.SplitHostPort(address)
	_, notNumber := strconv.ParseUint(port, 10, 16)
	if err != nil || notNumber != nil || strings.ContainsAny(host, "/@") {
		// The text is not repeated: a URL may hold a password.
		return nil, errors.New("-server: give host:port, such as db.internal:3306, and no URL; " +
			"user, password and database are credentials of the tenants")
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
	if err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mysql:", err)
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
	flags := flag.NewFlagSet("mysql", flag.ContinueOnError)
	address := flags.String("server", "localhost:3306", "`host:port` of the database server")
	encrypt := flags.Bool("tls", false, "encrypt, and verify the server's certificate")
	schemas := flags.String("schema", "", "the `databases` that are served, separated by commas (default: the one that a tenant names)")
	explained := flags.Bool("explain", false, "print how each request is answered, to stderr")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("give flags only; the server is given by -server host:port")
	}
	server, err := serverConfig(*address, *encrypt)
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
