// Package connectors has the sources that tests bend, and the connectors that serve them. It is apart from package testkit,
// because Go compiles anew, for the tests of a package with tests inside it, all that they import and that imports it: the
// tests of package wire would compile package connector once more.
package connectors

import (
	"log/slog"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Planets returns some planets and the number of their moons.
func Planets() memsource.Table {
	return memsource.Table{
		Table: wire.Table{
			Name: "planets", SourceDescription: "The rocky planets.", StoresRows: true, PrimaryKey: []string{"name"},
			Fields: []wire.Field{{Name: "name", Type: wire.TypeString, Unique: true}, {Name: "moons", Type: wire.TypeNumber}},
		},
		Rows: [][]wire.Value{{wire.Text("Earth"), wire.Int(1)}, {wire.Text("Mars"), wire.Int(2)}, {wire.Text("Venus"), wire.Int(0)}},
	}
}

// Tables serves tables by every route.
func Tables(tables ...memsource.Table) connector.Source {
	src, err := memsource.New(tables, nil)
	if err != nil {
		panic(err)
	}
	return src
}

// ThreeMethods serves a table by what every source has to have.
func ThreeMethods(t memsource.Table) connector.Source { return struct{ connector.Source }{Tables(t)} }

// Handler returns the connector of a source that asks for credentials. It logs nothing.
func Handler(token string, src connector.Source, asks ...wire.CredentialField) http.Handler {
	return New(token, connector.Definition{Slug: "planets", Credentials: asks}, src, Quiet())
}

// New returns a connector.
func New(token string, def connector.Definition, src connector.Source, opts *connector.Options) *connector.Handler {
	secret, err := wire.NewToken(token)
	if err != nil {
		panic(err)
	}
	h, err := connector.New(def, src, secret, opts)
	if err != nil {
		panic(err)
	}
	return h
}

// Key is a credential that a connector can ask for.
var Key = wire.CredentialField{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword}

// Quiet returns options of a connector whose log nobody reads.
func Quiet() *connector.Options { return &connector.Options{Logger: slog.New(slog.DiscardHandler)} }

// Logging returns options of a connector that writes to a log.
func Logging(l *testkit.Log) *connector.Options { return &connector.Options{Logger: l.Logger()} }
