package memsource_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// company returns the source of the tests below: staff and their places, as in TestJoin, with what discovery needs.
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

// bare hides everything but the queries, so that nothing is refused before they are called.
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

// reading are the company's tables, which are read row by row and no more than once. If they
// are unsized, they do not tell their row counts, but the counts of the column id.
type reading struct {
	*memsource.Source
	t              testing.TB
	unsized        bool
	opened, closed int
	read           []string
}

func (r *reading) Open(_ context.Context, _ wire.Credentials, name string) (*memsource.OpenTable, error) {
	n, ok := map[string]int64{"staff": 4, "places": 4, "lands": 2}[name]
	if !ok {
		return nil, connector.UnknownEntity("there is no table %s", name)
	}
	rel := shared(r.t, name)
	r.opened++
	table := &memsource.OpenTable{RowCount: &n, Close: func() { r.closed++ }}
	if r.unsized {
		table.RowCount = nil
		table.Counted = func(column string) (wire.Cardinality, bool) {
			return wire.Cardinality{NonNull: 1000, Distinct: 10}, column == "id"
		}
	}
	rows, again := rel.Rows, false
	rel.Rows = func(yield func([]wire.Value, error) bool) {
		if again {
			yield(nil, errors.New("the rows are read again"))
			return
		}
		again = true
		r.read = append(r.read, name)
		rows(yield)
	}
	table.Columns, table.Rows = rel.Columns, rel.Rows
	return table, nil
}

// TestOverKnowsWithoutReading: what a table tells when it is opened is not read for.
func TestOverKnowsWithoutReading(t *testing.T) {
	tables := &reading{Source: company(t), t: t}
	src := memsource.Over(tables, nil)
	assert.Equal(t, &wire.Size{Rows: 4, Exact: true}, testkit.Must(src.Size(t.Context(), &wire.SizeRequest{Table: "staff"}))(t))
	n := testkit.Must(src.Count(t.Context(), &wire.CountRequest{Table: "staff"}))(t)
	assert.EqualValues(t, 4, n)
	assert.Empty(t, tables.read)

	tables.unsized = true
	size, err := src.Size(t.Context(), &wire.SizeRequest{Table: "staff"})
	assert.ErrorIs(t, err, connector.ErrDecline, "not known")
	assert.Nil(t, size)
	n = testkit.Must(src.Count(t.Context(), &wire.CountRequest{Table: "staff"}))(t)
	assert.EqualValues(t, 4, n)
	assert.Equal(t, []string{"staff"}, tables.read)
	tables.read = nil
	known := &wire.Cardinality{NonNull: 1000, Distinct: 10}
	counts := testkit.Must(src.Cardinality(t.Context(), &wire.CardinalityRequest{Table: "staff", Columns: []string{"id"}}))(t)
	assert.Equal(t, map[string]*wire.Cardinality{"id": known}, counts)
	assert.Empty(t, tables.read)
	counts = testkit.Must(src.Cardinality(t.Context(), &wire.CardinalityRequest{Table: "staff", Columns: []string{"work", "id"}}))(t)
	assert.Equal(t, map[string]*wire.Cardinality{"id": known, "work": {NonNull: 2, Distinct: 1}}, counts)
	assert.Equal(t, tables.opened, tables.closed)
}

// TestOverBudget: a join that does not fit is refused, and what was opened is closed.
func TestOverBudget(t *testing.T) {
	tables := &reading{Source: company(t), t: t}
	srv := connectortest.Start(t, connector.Definition{Slug: "company"}, memsource.Over(tables, &memsource.Options{Budget: 100}), nil)
	joins := `"joins":[{"fromTable":"staff","toTable":"places","fromField":"home","toField":"town","fields":[]},` +
		`{"fromTable":"staff","toTable":"lands","fromField":"home","toField":"code","fields":[]}],"credentials":{},"timeoutMs":60000}`
	status, body := srv.Post(wire.PathQuery, `{"table":"staff","and":[],"sort":[],"fields":["id"],`+joins)
	assert.Equal(t, 422, status)
	assert.Contains(t, body, `table \"places\" is too large to hold`)
	status, _ = srv.Post(wire.PathAggregate, `{"table":"staff","and":[],"groupBy":[],"measures":[{"fn":"count","as":"n"}],"limit":9,`+joins)
	assert.Equal(t, 422, status)
	assert.Equal(t, 6, tables.opened)
	assert.Equal(t, 6, tables.closed)
}

// logbook is a table that grows while it is served: it is read anew for each request.
type logbook struct{ lines []string }

func (l *logbook) Check(context.Context, *wire.CheckRequest) error { return nil }

func (l *logbook) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	t, err := l.Describe(ctx, req.Credentials, "log")
	return &wire.Discovery{Tables: []wire.Table{*t}}, err
}

func (l *logbook) Describe(context.Context, wire.Credentials, string) (*wire.Table, error) {
	return &wire.Table{Name: "log", Fields: []wire.Field{{Name: "line", Type: wire.TypeNumber}, {Name: "text", Type: wire.TypeString}}}, nil
}

func (l *logbook) Open(ctx context.Context, _ wire.Credentials, _ string) (*memsource.OpenTable, error) {
	columns := []wire.Column{{Name: "line"}, {Name: "text"}} // Describe knows their types
	lines := l.lines                                         // as they are now
	rows := func(yield func([]wire.Value, error) bool) {
		for i, text := range lines {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !yield([]wire.Value{wire.Int(int64(i + 1)), wire.Text(text)}, nil) {
				return
			}
		}
	}
	return &memsource.OpenTable{Columns: columns, Rows: rows}, nil
}

// TestOverTypes: texts that look like numbers are compared as the texts that Describe says they are.
func TestOverTypes(t *testing.T) {
	src := memsource.Over(&logbook{[]string{"007", "7", "7.0"}}, nil)
	is7 := []wire.Filter{{Field: "text", Op: wire.OpEq, Value: wire.Text("7")}}
	assert.EqualValues(t, 1, testkit.Must(src.Count(t.Context(), &wire.CountRequest{Table: "log", Where: wire.Where{And: is7}}))(t))
	counts := testkit.Must(src.Cardinality(t.Context(), &wire.CardinalityRequest{Table: "log", Columns: []string{"text"}}))(t)
	assert.EqualValues(t, 3, counts["text"].Distinct)
}

// A source of rows that are read for each request.
func ExampleOver() {
	source := memsource.Over(&logbook{[]string{"started", "ready", "started"}}, nil)
	counts, err := source.Cardinality(context.Background(), &wire.CardinalityRequest{Table: "log", Columns: []string{"text"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(*counts["text"])
	// Output: {3 2}
}

// TestWideTables asks for each of many columns in each list of a request.
func TestWideTables(t *testing.T) { wideTable(t, 2_000, func(t *testing.T, ask func()) { ask() }) }

// BenchmarkWideTables shows that the time for a column does not grow with their number.
func BenchmarkWideTables(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			wideTable(b, n, func(b *testing.B, ask func()) {
				for b.Loop() {
					ask()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/column")
			})
		})
	}
}

// wideTable calls run with requests that name each of n columns in their lists.
func wideTable[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, n int, run func(t T, ask func())) {
	table := memsource.Table{Rows: [][]wire.Value{make([]wire.Value, n)}}
	table.Name = "t"
	for i := range n {
		table.Fields = append(table.Fields, wire.Field{Name: fmt.Sprint("c", i), Type: wire.TypeString, Nullable: true})
	}
	source := testkit.Must(memsource.New([]memsource.Table{table, {Table: wire.Table{Name: "u", Fields: table.Fields}}}, nil))(t)
	h := connectors.New(connectortest.Token, connector.Definition{Slug: "wide"}, source,
		&connector.Options{MaxRequestBytes: 1 << 30, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})

	// each returns a list with one item for each column.
	each := func(item string) string {
		var list strings.Builder
		for i := range n {
			if i > 0 {
				list.WriteByte(',')
			}
			fmt.Fprintf(&list, item, i)
		}
		return "[" + list.String() + "]"
	}
	filters := each(`{"field":"c%d","op":"isnull"}`)
	joins := `"joins":[{"fromTable":"t","fromField":"c1","toTable":"u","toField":"c1","fields":` +
		each(`{"field":"c%[1]d","as":"u%[1]d"}`) + `}],`
	for _, c := range []struct{ why, path, body, want string }{
		{"fields, filters, a sort with a limit", "/query", `"and":` + filters + `,"or":[` + filters + `],"sort":` +
			each(`{"field":"c%d","dir":"asc"}`) + `,"limit":1,"fields":` + each(`"c%d"`), fmt.Sprintf(`"c%d":null}`, n-1)},
		{"the fields of a join", "/query", joins + `"and":[],"sort":[],"fields":` + each(`"c%d"`), fmt.Sprintf(`"u%d":null}`, n-1)},
		{"group keys, measures and texts", "/aggregate", `"and":[],"groupBy":` + each(`{"field":"c%[1]d","as":"g%[1]d"}`) +
			`,"measures":` + each(`{"fn":"count","field":"c%[1]d","as":"m%[1]d"}`) + `,"stringFields":` + each(`"c%d"`) + `,"limit":1001`,
			fmt.Sprintf(`"m%d":0`, n-1)},
		{"measured columns", "/cardinality", `"columns":` + each(`"c%d"`), fmt.Sprintf(`"c%d":{"nonNull":0,"distinct":0}`, n-1)},
	} {
		t.Run(c.why, func(t T) {
			run(t, func() {
				w := testkit.Post(h, connectortest.Token, c.path, `{"table":"t",`+c.body+`,"credentials":{},"timeoutMs":600000}`)
				answer := w.Body.String()
				assert.Equal(t, 200, w.Code, answer[:min(300, len(answer))])
				assert.True(t, strings.Contains(answer, c.want), "the last column is in the answer")
			})
		})
	}
}
