package declared

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
