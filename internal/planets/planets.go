// Package planets is the smallest connector that the tests of several packages ask.
package planets

import (
	"log/slog"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Table returns some planets and the number of their moons.
func Table() memsource.Table {
	return memsource.Table{
		Table: wire.Table{
			Name: "planets", SourceDescription: "The rocky planets.", StoresRows: true, PrimaryKey: []string{"name"},
			Fields: []wire.Field{{Name: "name", Type: wire.TypeString, Unique: true}, {Name: "moons", Type: wire.TypeNumber}},
		},
		Rows: [][]wire.Value{{wire.Text("Earth"), wire.Int(1)}, {wire.Text("Mars"), wire.Int(2)}, {wire.Text("Venus"), wire.Int(0)}},
	}
}

// Source serves a table by every route.
func Source(t memsource.Table) connector.Source {
	src, err := memsource.New([]memsource.Table{t}, nil)
	if err != nil {
		panic(err)
	}
	return src
}

// ThreeMethods serves it by what every source has to have.
func ThreeMethods(t memsource.Table) connector.Source { return struct{ connector.Source }{Source(t)} }

// Handler returns the connector of a source that asks for credentials. It logs nothing.
func Handler(token string, src connector.Source, asks ...wire.CredentialField) http.Handler {
	secret, err := wire.NewToken(token)
	if err != nil {
		panic(err)
	}
	h, err := connector.New(connector.Definition{Slug: "planets", Credentials: asks}, src, secret,
		&connector.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	return h
}

// Key is a credential that it can ask for.
var Key = wire.CredentialField{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword}
