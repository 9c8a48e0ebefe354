package faulttest

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Token is the bearer token of every connector here.
const Token = "realistic-faults-0123456789-abcdef"

// handler serves a source that uses the library, without what is omitted.
func handler(src connector.Source, omit connector.Omit) http.Handler {
	token, err := wire.NewToken(Token)
	if err != nil {
		panic(err)
	}
	h, err := connector.New(connector.Definition{Slug: "faulty", KeysEnforced: true}, src, token, &connector.Options{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), // faults fail requests on purpose
		Omit:   omit,
	})
	if err != nil {
		panic(err)
	}
	return h
}

// describe returns one table as a connector with a fault describes it.
func describe(set *Set, defect func(*wire.Table), name string) (*wire.Table, error) {
	for _, t := range described(set, defect) {
		if t.Name == name {
			return &t, nil
		}
	}
	return nil, connector.UnknownEntity("no table %s", wire.QuoteName(name))
}
