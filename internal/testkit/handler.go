package testkit

import (
	"io"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
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

// JSON answers every request with a status and a body of JSON.
func JSON(status int, body string) http.HandlerFunc { return says(status, terms.MediaJSON, body) }

// NDJSON answers every request with the lines of a stream.
func NDJSON(lines string) http.HandlerFunc { return says(http.StatusOK, terms.MediaNDJSON, lines) }

// says answers a request when it has been read.
func says(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// OnPath answers one route by another handler.
func OnPath(h http.Handler, path string, other http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			other(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Key is a credential that a connector can ask for.
var Key = wire.CredentialField{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword}
