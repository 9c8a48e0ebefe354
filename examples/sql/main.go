// Command sql is a connector over a SQL database: the database does discovery,
// filters, sorts, joins, counts and aggregates, with the platform's semantics.
//
//	go run -C examples/sql .                                             # makes a demo in SQLite, and serves it
//	go run -C examples/sql . -file /data/my.sqlite                       # your own; it is only read
//	go run -C examples/sql . -db postgres -server db.internal:5432 -tls  # each tenant has a user and a database
//	go run -C examples/sql . -db mysql -server db.internal:3306 -tls     # MariaDB too
//
// Each engine has a file that shows how its database becomes a source; your program
// needs only one of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// settings are what the flags say of the database.
type settings struct {
	file    string // of SQLite
	server  string // of the other engines, as host:port
	tls     bool
	options sqlsource.Options
}

// served is a source and what the program needs to serve it.
type served struct {
	definition connector.Definition
	source     connector.Source
	name       string // what is served, for the person who started the program
	close      func() error
}

// engine is one of the values of -db.
type engine struct {
	flags []string // the flags that mean something to it, beside those that every engine has
	open  func(context.Context, settings) (*served, error)
}

var engines = map[string]engine{
	"sqlite":   {[]string{"file"}, openSQLite},
	"postgres": {[]string{"server", "tls", "schema"}, openPostgreSQL},
	"mysql":    {[]string{"server", "tls", "schema"}, openMySQL},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sql:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, getenv func(string) (string, bool), out, plans io.Writer) error {
	flags := flag.NewFlagSet("sql", flag.ContinueOnError)
	db := flags.String("db", "sqlite", "the `engine`: sqlite, postgres or mysql")
	file := flags.String("file", "", "sqlite: the database `file` (default: a demo, made on the first run)")
	server := flags.String("server", "", "postgres, mysql: `host:port` of the server (default: the engine's port on localhost)")
	tls := flags.Bool("tls", false, "postgres, mysql: encrypt, and verify the server's certificate")
	schema := flags.String("schema", "", "postgres, mysql: the `schemas` to serve, separated by commas "+
		"(default: public; with mysql, the database of the tenant)")
	cert := flags.String("cert", "", "a `file` with the certificate and its chain, for https")
	key := flags.String("key", "", "the `file` with its key")
	explained := flags.Bool("explain", false, "print how each request is answered, to stderr")
	if err := flags.Parse(args); err != nil {
		return err
	}
	// What was given is not repeated: a URL may hold a password.
	if flags.NArg() > 0 {
		return errors.New("give flags only: -file names a database of SQLite, -server the server of another engine")
	}
	engine, known := engines[*db]
	if !known {
		return errors.New("-db: give sqlite, postgres or mysql; -file or -server says which database")
	}
	if err := engine.refuse(flags, *db); err != nil {
		return err
	}
	options := sqlsource.Options{Schemas: func(wire.Credentials) []string { return names(*schema) }}
	if *explained {
		options.Observe = explain(plans)
	}
	s, err := engine.open(ctx, settings{file: *file, server: *server, tls: *tls, options: options})
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	program := standalone.Program{
		Definition: s.definition,
		Source:     s.source,
		CertFile:   *cert,
		KeyFile:    *key,
		Serving:    s.name,
		Getenv:     getenv,
		Out:        out,
	}
	return program.Run(ctx)
}

// refuse reports a flag that was given and means nothing to the engine.
func (e engine) refuse(flags *flag.FlagSet, name string) error {
	var err error
	flags.Visit(func(f *flag.Flag) {
		for _, other := range engines {
			if slices.Contains(other.flags, f.Name) && !slices.Contains(e.flags, f.Name) {
				err = fmt.Errorf("-%s does not go with -db %s", f.Name, name)
			}
		}
	})
	return err
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
