package memsource_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// company returns the source of the tests below: staff and their places, as in
// TestJoin, with what discovery needs.
func company(t testing.TB) *memsource.Source {
	t.Helper()
	no := false
	table := func(name string, key ...string) memsource.Table {
		rel := shared(t, name)
		table := memsource.Table{Table: wire.Table{Name: name, SourceDescription: "the " + name, PrimaryKey: key}}
		for _, c := range rel.Columns {
			table.Fields = append(table.Fields, wire.Field{Name: c.Name, Type: c.Type, SourceDescription: "its " + c.Name})
		}
		for r, err := range rel.Rows {
			require.NoError(t, err)
			table.Rows = append(table.Rows, r)
		}
		return table
	}
	people, towns, countries := table("staff", "id"), table("places"), table("lands", "code")
	people.ForeignKeys = []wire.ForeignKey{{Field: "boss", TargetTable: "staff", TargetField: "id"}}
	countries.Fields[1].Groupable, countries.Fields[1].Aggregatable = &no, &no
	return testkit.Must(memsource.New([]memsource.Table{people, towns, countries}, nil))(t)
}

// TestSourceThroughHTTP asks every route through the real handler: of a source of tables in
// memory, and of one that reads the same tables row by row.
func TestSourceThroughHTTP(t *testing.T) {
	src := company(t)
	t.Run("in memory", func(t *testing.T) { askRoutes(t, src) })
	t.Run("row by row", func(t *testing.T) {
		tables := &reading{Source: src, t: t}
		askRoutes(t, memsource.Over(tables, nil))
		assert.Positive(t, tables.opened)
		assert.Equal(t, tables.opened, tables.closed, "each table is closed")
	})
}

func askRoutes(t *testing.T, src *memsource.Source) {
	srv := connectortest.Start(t, connector.Definition{Slug: "company", KeysEnforced: true}, src, nil)
	testkit.AskRoutes(t, "testdata/routes.json", map[string]string{}, srv.Post)
}

// TestSourceDeclaresEverything but a dialect [rule document-1].
func TestSourceDeclaresEverything(t *testing.T) {
	srv := connectortest.Start(t, connector.Definition{Slug: "company"}, company(t), nil)
	w := httptest.NewRecorder()
	srv.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, wire.PathDocument, nil))
	var doc wire.Document
	require.NoError(t, wire.Decode(w.Body.Bytes(), &doc))
	assert.Len(t, doc.Endpoints, 5)
	assert.True(t, doc.Capabilities.Join)
	assert.True(t, doc.Capabilities.DateBucket)
	assert.True(t, doc.Capabilities.Offset)
	assert.Equal(t, wire.SortMulti, doc.Capabilities.Sort)
	assert.Len(t, doc.Capabilities.Operators, 13)
	assert.Empty(t, doc.Dialect)

	status, body := srv.Post(wire.PathDiscovery, `{"credentials":{},"timeoutMs":60000}`)
	require.Equal(t, 200, status, body)
	assert.JSONEq(t, string(testkit.Must(os.ReadFile("testdata/discovery.json"))(t)), body)
}

// TestSourceBudget: over budget an aggregate is declined, a column is null.
func TestSourceBudget(t *testing.T) {
	table := memsource.Table{Table: wire.Table{Name: "t", Fields: fields("a")}}
	for i := range 1000 {
		table.Rows = append(table.Rows, row(num(int64(i))))
	}
	src := testkit.Must(memsource.New([]memsource.Table{table}, &memsource.Options{Budget: 10_000}))(t)
	srv := connectortest.Start(t, connector.Definition{Slug: "budget"}, src, nil)
	rest := `,"credentials":{},"timeoutMs":60000}`
	status, _ := srv.Post(wire.PathAggregate,
		`{"table":"t","and":[],"groupBy":[],"measures":[{"fn":"count_distinct","field":"a","as":"n"}],"limit":1001`+rest)
	assert.Equal(t, http.StatusNoContent, status)
	status, body := srv.Post(wire.PathCardinality, `{"table":"t","columns":["a"]`+rest)
	assert.Equal(t, http.StatusOK, status)
	assert.JSONEq(t, `{"columns":{"a":null}}`, body)

	src = testkit.Must(memsource.New([]memsource.Table{table}, nil))(t)
	got := testkit.Must(src.Cardinality(context.Background(), &wire.CardinalityRequest{Table: "t", Columns: []string{"a"}}))(t)
	assert.NotNil(t, got["a"], "without options the default budget holds a thousand values")
}

// bare hides everything but the queries, so that nothing is refused before
// they are called.
type bare struct {
	connector.Source
	connector.Joiner
}

// TestSourceRefusesByItself what the library could not see [rule filter-11] [rule query-6].
func TestSourceRefusesByItself(t *testing.T) {
	srv := connectortest.Start(t, connector.Definition{Slug: "bare"}, bare{company(t), company(t)}, nil)
	testkit.AskRoutes(t, "testdata/bare.json", map[string]string{}, srv.Post)
}

// TestSourceQueryStopsWithItsContext, in a scan and in a sort [rule stream-5] [rule stream-8].
func TestSourceQueryStopsWithItsContext(t *testing.T) {
	got := make(chan error, 1) // the answer may be out before the call has returned
	srv := connectortest.Start(t, connector.Definition{Slug: "company"}, company(t), &connector.Options{
		Intercept: func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			if call.Method == "Query" {
				cancel()
				err := next(ctx)
				got <- err
				return err
			}
			return next(ctx)
		},
	})
	for _, sort := range []string{``, `{"field":"id","dir":"asc"}`} {
		status, _ := srv.Post(wire.PathQuery, `{"table":"staff","and":[],"sort":[`+sort+`],"fields":["id"],"credentials":{},"timeoutMs":60000}`)
		assert.Equal(t, 500, status)
		assert.ErrorIs(t, <-got, context.Canceled)
	}
}

// TestSourcePagesCompose: pages of any size are the whole, joined or not [rule query-3].
func TestSourcePagesCompose(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	table := memsource.Table{Table: wire.Table{Name: "t", Fields: fields("a", "b")}}
	cells := []wire.Value{null, num(1), dec("1.0"), text("01"), wire.Float(2.5), text("2.50"), num(0), dec("-0"), num(1 << 53)}
	for range 80 {
		table.Rows = append(table.Rows, row(num(int64(random.IntN(6))), cells[random.IntN(len(cells))]))
	}
	src := testkit.Must(memsource.New([]memsource.Table{table}, nil))(t)
	srv := connectortest.Start(t, connector.Definition{Slug: "pages"}, src, nil)
	read := func(window, joins string) string {
		status, body := srv.Post(wire.PathQuery,
			`{"table":"t","and":[{"field":"a","op":"neq","value":3}],"sort":[{"field":"a","dir":"desc"}],"fields":["a","b"]`+
				window+joins+`,"credentials":{},"timeoutMs":60000}`)
		require.Equal(t, 200, status, body)
		var rows []string
		for line := range strings.Lines(body) {
			if inner, ok := strings.CutPrefix(line, `{"rows":[`); ok {
				rows = append(rows, strings.TrimSuffix(inner, "]}\n"))
			}
		}
		return strings.Join(rows, ",")
	}
	join := `,"joins":[{"fromTable":"t","toTable":"t","fromField":"b","toField":"a","fields":[{"field":"b","as":"c","type":"string"}]}]`
	for _, joins := range []string{"", join} {
		whole := read("", joins)
		total := strings.Count(whole, "}")
		require.Greater(t, total, 50)
		for _, size := range []int{7, 50, 79} {
			var pages []string
			for offset := 0; offset < total; offset += size {
				pages = append(pages, read(fmt.Sprintf(`,"offset":%d,"limit":%d`, offset, size), joins))
			}
			require.Equal(t, whole, strings.Join(pages, ","), "pages of %d", size)
		}
		assert.Empty(t, read(fmt.Sprintf(`,"offset":%d`, total), joins), "nothing lies beyond the end")
		assert.Empty(t, read(`,"offset":9007199254740991,"limit":9007199254740991`, joins), "nor far beyond it")
	}
}

func ExampleNew() {
	src, err := memsource.New([]memsource.Table{{
		Table: wire.Table{
			Name:              "planets",
			SourceDescription: "The planets of the solar system",
			PrimaryKey:        []string{"name"},
			Fields:            []wire.Field{{Name: "name"}, {Name: "moons"}},
		},
		Rows: [][]wire.Value{
			{wire.Text("Earth"), wire.Int(1)},
			{wire.Text("Mars"), wire.Int(2)},
			{wire.Text("Venus"), wire.Int(0)},
		},
	}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	const secret = "an-example-token-of-32-characters-or-more"
	token, err := wire.NewToken(secret)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := connector.New(connector.Definition{Slug: "planets"}, src, token, nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	r := httptest.NewRequest(http.MethodPost, wire.PathAggregate, strings.NewReader(`{
		"table": "planets", "and": [{"field": "moons", "op": "gt", "value": 0}],
		"groupBy": [], "measures": [{"fn": "sum", "field": "moons", "as": "moons"}],
		"limit": 1001, "credentials": {}, "timeoutMs": 1000}`))
	r.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"rows":[{"moons":"3"}]}
}
