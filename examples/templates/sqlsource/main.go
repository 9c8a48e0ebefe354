// Command sqlsource is a template: a connector over a SQL database. Tables, keys and
// types are read from the catalog, and the database does the work. Search for FILL
// IN, and change what stands there.
//
//	go test .                 # grades it with the conformance program, over schema.sql
//	go run . -db my.sqlite    # prints its URL, a token, and curl lines to paste
package main

import (
	"database/sql"
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

func main() {
	file := flag.String("db", "data.sqlite", "the database `file` to serve")
	flag.Parse()
	db, err := open(*file)
	if err != nil {
		log.Fatal(err)
	}
	source, err := newSource(db)
	if err != nil {
		log.Fatal(err)
	}
	standalone.Main(definition, source, nil)
}
