// A connector over a folder of CSV and NDJSON files: each sub-folder belongs to one
// tenant, and each file in it is a table. Search for FILL IN, and change what stands
// there.
//
//	go run .                # prints its URL, a token, and curl lines to paste
//	go run . -dir ../files  # the same over a folder of yours
//	go test .               # grades it with the conformance program
package main

import (
	"context"
	"flag"
	"log"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
)

// FILL IN the slug. A tenant gives the name of its folder, and the content of the file
// .password in it, if there is one.
var definition = connector.Definition{Slug: "my-files", Credentials: filesource.Credentials()}

// demo are the credentials of the tenant in the folder data.
//
// FILL IN: leave them out of main, once tenants have passwords.
var demo = map[string]string{filesource.CredentialTenant: "acme"}

// newSource returns the source. Types are found by reading; what a file cannot say, such
// as keys and descriptions, stands beside it in NAME.table.json.
func newSource(dir string) (*filesource.Source, error) {
	return filesource.Open(dir, nil)
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
