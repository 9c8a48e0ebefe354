// Package declared says what a connector declares: its routes and capabilities in the document, and its tables in
// discovery. Its conditions say why the document excludes a check, or "" if it does not.
package declared

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Document is the capability document.
type Document struct {
	exam.Declared
	// EmptyDialect is set if there is a dialect, and it is empty.
	EmptyDialect bool
}

// Parse reads a document, and returns what is wrong with its form.
func Parse(body []byte) (*Document, *check.Finding) {
	d := &Document{}
	if f := message.Check(body, "document", &d.Document); f != nil {
		return nil, f
	}
	var own struct{ Dialect *string }
	d.EmptyDialect = json.Unmarshal(body, &own) == nil && own.Dialect != nil && strings.TrimSpace(*own.Dialect) == ""
	return d, nil
}

// name returns what endpoints calls a route.
func name(path string) string { return strings.TrimPrefix(path, "/") }

// Offers reports whether the document offers a route: the optional ones have to be listed.
func (d *Document) Offers(path string) bool {
	r := routes.At(path)
	return r != nil && (r.Always || slices.Contains(d.Endpoints, wire.Endpoint(name(path))))
}

// Paths returns the paths of the routes that the document offers, or of those that it does not.
func (d *Document) Paths(offered bool) (paths []string) {
	for _, r := range routes.All {
		if d.Offers(r.Path) == offered {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// IsSlow reports whether a table is the corpus table slow. It compares the shape
// too, because anybody may have a table called slow.
func IsSlow(t *wire.Table) bool {
	slow := corpus.Slow()
	same := func(a, b wire.Field) bool { return a.Name == b.Name && a.Type == b.Type }
	return t.Name == slow.Name && slices.Equal(t.PrimaryKey, slow.PrimaryKey) && slices.EqualFunc(t.Fields, slow.Fields, same)
}

// Shape returns a discovered table without rows, for the oracle.
func Shape(t *wire.Table) *oracle.Table {
	return &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey}
}

// Values returns the values that discovery tells of a field: its samples, its least and its greatest one.
func Values(f *wire.Field) []wire.Value {
	list := slices.Clone(f.Samples)
	if f.Stats != nil {
		for _, v := range []*wire.Value{f.Stats.Min, f.Stats.Max} {
			if v != nil {
				list = append(list, *v)
			}
		}
	}
	return list
}

// AllRows returns the query for all rows and all columns of a table.
func AllRows(t *wire.Table) *wire.QueryRequest {
	req := &wire.QueryRequest{Table: t.Name}
	for _, f := range t.Fields {
		req.Fields = append(req.Fields, f.Name)
	}
	return req
}
