// A connector over a folder of Parquet, CSV and JSON files, a sub-folder for each tenant.
// DuckDB filters, sorts, joins and computes over the files. It needs a C and a C++
// compiler. Search for FILL IN, and change what stands there.
//
//	go run .                # prints its URL, a token, and curl lines to paste
//	go run . -dir ../lake   # the same over a folder of yours
//	go test .               # grades it with the conformance program
package main

import (
	"context"
	"flag"
	"log"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

// FILL IN the slug. A tenant gives the name of its folder, and the content of the file
// .password in it, if there is one.
var definition = connector.Definition{Slug: "my-lake", Credentials: filesource.Credentials()}

// demo are the credentials of the tenant in the folder data.
//
// FILL IN: leave them out of main, once tenants have passwords.
var demo = map[string]string{filesource.CredentialTenant: "acme"}

// newSource returns the source. A file is a table, and so is a folder of files that have
// the same columns: year=2025 below it is a column, by which files are left unread.
//
// FILL IN how much memory all requests of one tenant may take together.
func newSource(dir string) (*sqlsource.Source, error) {
	return duckdb.Folder(dir, &duckdb.FolderOptions{PerTenant: true, Memory: "1GB"})
}

func main() {
	// FILL IN the folder, with a sub-folder for each tenant.
	dir := flag.String("dir", "data", "the `folder` to serve; it is only read")
	flag.Parse()
	source, err := newSource(*dir)
	if err != nil {
		log.Fatal(err)
	}
	program := standalone.Program{Definition: definition, Source: source, Serving: *dir, Credentials: demo}
	if err := program.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
