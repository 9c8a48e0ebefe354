// A connector over a SQL database. Tables, keys and types are read from the catalog, and
// the database does the work. Search for FILL IN, and change what stands there.
//
//	go run .                  # prints its URL, a token, and curl lines to paste
//	go run . -db my.sqlite    # the same over a database of yours
//	go test .                 # grades it with the conformance program, over schema.sql
package main

import (
	"database/sql"
	_ "embed"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // FILL IN the driver of your database

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

// FILL IN the slug.
//
// KeysEnforced is right for a database that enforces its keys.
var definition = connector.Definition{Slug: "my-database", KeysEnforced: true}

// options say what the catalog cannot.
//
// FILL IN, if needed, the schemas to serve, and in Tables the types, keys and
// descriptions that are not declared in the database.
var options = &sqlsource.Options{}

// open opens the database, to be read only.
//
// FILL IN the driver's name and its data source name. A user who may only read
// belongs to it. All tenants see this database: if each has one of their own, use
// sqlsource.NewPerTenant, which opens it with the tenant's credentials.
func open(file string) (*sql.DB, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("-db: %w", err)
	}
	dsn := url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: "mode=ro&_pragma=query_only(1)"}
	return sql.Open("sqlite", dsn.String())
}

// newSource returns the source.
//
// FILL IN the flavor: sqlsource.PostgreSQL(), sqlsource.MySQL() or sqlsource.SQLite().
func newSource(db *sql.DB) (connector.Source, error) {
	return sqlsource.New(db, sqlsource.SQLite(), options)
}

//go:embed schema.sql
var schema string

// demo opens a database in memory that holds schema.sql, for a start without a database.
//
// FILL IN: remove it, once there is a database of yours. The test has its own.
func demo() (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:demo?mode=memory&cache=shared")
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(schema)
	return db, err
}

func main() {
	file := flag.String("db", "", "the database `file` to serve (default: a demonstration in memory)")
	flag.Parse()
	db, err := demo()
	if *file != "" {
		db, err = open(*file)
	}
	if err != nil {
		log.Fatal(err)
	}
	source, err := newSource(db)
	if err != nil {
		log.Fatal(err)
	}
	standalone.Main(definition, source, nil)
}
