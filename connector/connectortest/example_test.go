package connectortest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// This file is the package's example: a source, and its tests as an author
// would write them. Most cannot be Example functions, which have no testing.T.

var definition = connector.Definition{Slug: "planets"}

// planets is the source under test.
type planets struct{}

var table = wire.Table{
	Name: "planets", SourceDescription: "The planets of the sun.", StoresRows: true, PrimaryKey: []string{"name"},
	Fields: []wire.Field{
		{Name: "name", SourceColumn: "name", Type: wire.TypeString, Unique: true},
		{Name: "moons", SourceColumn: "moons", Type: wire.TypeNumber},
	},
}

func (planets) Check(context.Context, *wire.CheckRequest) error { return nil }

func (planets) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{table}}, nil
}

func (planets) Describe(_ context.Context, _ wire.Credentials, name string) (*wire.Table, error) {
	if name != table.Name {
		return nil, connector.UnknownEntity("there is no table %q", name)
	}
	return &table, nil
}

func (planets) Size(context.Context, *wire.SizeRequest) (*wire.Size, error) {
	return &wire.Size{Rows: 8, Exact: true}, nil
}

func (planets) Query(_ context.Context, _ *connector.Query, out *connector.Rows) error {
	w := out.Begin(table.Columns())
	for _, p := range []struct {
		name  string
		moons int64
	}{
		{"Mercury", 0}, {"Venus", 0}, {"Earth", 1}, {"Mars", 2},
		{"Jupiter", 97}, {"Saturn", 274}, {"Uranus", 28}, {"Neptune", 16},
	} {
		if err := w.Row(wire.Text(p.name), wire.Int(p.moons)); err != nil {
			return err
		}
	}
	return nil
}

func TestPlanets(t *testing.T) {
	connectortest.Run(t, definition, planets{}, nil)
}

func TestGasGiants(t *testing.T) {
	tenant := connectortest.Start(t, definition, planets{}, nil).As(nil)
	answer, err := tenant.Query(wire.QueryRequest{
		Table:  "planets",
		Where:  wire.Where{And: []wire.Filter{{Field: "moons", Op: wire.OpGt, Value: wire.Int(20)}}},
		Sort:   []wire.SortKey{{Field: "moons", Dir: wire.Desc}},
		Fields: []string{"name", "moons"},
		Limit:  2,
	})
	require.NoError(t, err)
	assert.JSONEq(t, `[{"name": "Saturn", "moons": 274}, {"name": "Jupiter", "moons": 97}]`, answer.JSON())
}

func TestUnknownTable(t *testing.T) {
	tenant := connectortest.Start(t, definition, planets{}, nil).As(nil)
	_, err := tenant.Size("comets")
	assert.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
}

// The text of an answer, for assert.JSONEq.
func ExampleAnswer_JSON() {
	answer := connectortest.Answer{
		Names: []string{"name", "moons"},
		Rows:  [][]wire.Value{{wire.Text("Saturn"), wire.Int(274)}, {wire.Text("Jupiter"), wire.Int(97)}},
	}
	fmt.Println(answer.JSON())
	// Output:
	// [{"name":"Saturn","moons":274},
	//  {"name":"Jupiter","moons":97}]
}

// The tests that the package's documentation shows are the ones above.
func TestDocumentationIsCompiled(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	compiled, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	var example strings.Builder
	shown := 0
	for line := range strings.Lines(string(doc)) {
		code, ok := strings.CutPrefix(line, "//\t")
		if ok && (strings.HasPrefix(code, "func ") || example.Len() > 0) {
			example.WriteString(code)
		}
		if code == "}\n" {
			assert.Contains(t, string(compiled), example.String())
			example.Reset()
			shown++
		}
	}
	assert.Equal(t, 3, shown, "the tests in doc.go")
}
