package platform_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// words returns changes in words.
func words(changes []platform.Change) []string {
	list := []string{}
	for _, c := range changes {
		list = append(list, c.String())
	}
	return list
}

// TestChanges changes one property of a connector after the other.
func TestChanges(t *testing.T) {
	t.Parallel()
	describe := func() *platform.Connection {
		return &platform.Connection{
			Document: &wire.Document{Slug: "shop", Endpoints: []wire.Endpoint{"size", "count"}, Capabilities: wire.Capabilities{
				Operators: []wire.Op{wire.OpEq, wire.OpGt}, Sort: wire.SortMulti, Limits: wire.Limits{PageSizeMax: 10}}},
			Tables: []wire.Table{{Name: "orders", PrimaryKey: []string{"id"}, Fields: []wire.Field{
				{Name: "id", Type: wire.TypeNumber, Unique: true}, {Name: "customer", Type: wire.TypeReference, Nullable: true}},
				ForeignKeys: []wire.ForeignKey{{Field: "customer", TargetTable: "customers", TargetField: "id"}}},
				{Name: "customers", Fields: []wire.Field{{Name: "id", Type: wire.TypeString}}}},
		}
	}
	yes, no, many := true, false, int64(9)
	for _, c := range []struct {
		why    string
		change func(d *wire.Document, orders *wire.Table)
		want   []string
	}{
		{"nothing", func(*wire.Document, *wire.Table) {}, nil},
		{"order, rows and words are no change", func(d *wire.Document, t *wire.Table) {
			d.Endpoints, d.Capabilities.Operators = []wire.Endpoint{"count", "size"}, []wire.Op{wire.OpGt, wire.OpEq}
			t.Fields[0], t.Fields[1] = t.Fields[1], t.Fields[0]
			t.RowCount, t.SourceDescription, t.Fields[0].Filterable = &many, "new words", &yes
		}, nil},
		{"a route goes, an operator comes", func(d *wire.Document, _ *wire.Table) {
			d.Endpoints, d.Capabilities.Operators = d.Endpoints[:1], append(d.Capabilities.Operators, wire.OpIn)
		}, []string{"the document: endpoint count is gone", "the document: operator in is new"}},
		{"the rest of the document", func(d *wire.Document, _ *wire.Table) {
			d.Slug, d.Dialect, d.CredentialSchema = "store", "postgres", []wire.CredentialField{{Key: "apiKey"}}
			d.Capabilities = wire.Capabilities{Operators: d.Capabilities.Operators, Sort: wire.SortNone, Offset: true, Join: true,
				DateBucket: true, KeysEnforced: true, Limits: wire.Limits{RowsPerTableMax: 3, OffsetMax: 2, Concurrency: 1}}
		}, []string{"the document: slug was shop, is store", "the document: dialect was none, is postgres",
			"the document: sort was multi, is none", "the document: offset was false, is true", "the document: join was false, is true",
			"the document: dateBucket was false, is true", "the document: keysEnforced was false, is true",
			"the document: pageSizeMax was 10, is none", "the document: rowsPerTableMax was none, is 3",
			"the document: offsetMax was none, is 2", "the document: concurrency was none, is 1",
			`the document: credential "apiKey" is new`}},
		{"keys", func(_ *wire.Document, t *wire.Table) {
			t.PrimaryKey, t.ForeignKeys[0].TargetField, t.StoresRows = []string{"customer", "id"}, "key", true
		}, []string{`table "orders": storesRows was false, is true`, `table "orders": primary key was "id", is "customer", "id"`,
			`table "orders": foreign key "customer" to "id" of "customers" is gone`,
			`table "orders": foreign key "customer" to "key" of "customers" is new`}},
		{"a key is gone", func(_ *wire.Document, t *wire.Table) { t.PrimaryKey = nil },
			[]string{`table "orders": primary key was "id", is none`}},
		{"fields", func(_ *wire.Document, t *wire.Table) {
			t.Fields = []wire.Field{{Name: "id", Type: wire.TypeString, Nullable: true, Filterable: &no, Groupable: &no, Aggregatable: &no},
				{Name: "Customer", Type: wire.TypeReference}}
		}, []string{`field "id" of table "orders": type was number, is string`, `field "id" of table "orders": nullable was false, is true`,
			`field "id" of table "orders": unique was true, is false`, `field "id" of table "orders": filterable was true, is false`,
			`field "id" of table "orders": groupable was true, is false`, `field "id" of table "orders": aggregatable was true, is false`,
			`field "Customer" of table "orders" is new`, `field "customer" of table "orders" is gone`}},
		{"a table has another name", func(_ *wire.Document, t *wire.Table) { t.Name = "sales" },
			[]string{`table "sales" is new`, `table "orders" is gone`}},
	} {
		before, after := describe(), describe()
		c.change(after.Document, &after.Tables[0])
		require.ElementsMatch(t, c.want, words(after.Changes(before)), c.why)
	}
	gone := describe()
	gone.Tables = gone.Tables[:1]
	require.Equal(t, []platform.Change{{Table: "customers", Before: "customers"}}, gone.Changes(describe()))
	require.Equal(t, []platform.Change{{Table: "customers", After: "customers"}}, describe().Changes(gone))
	gone.Document = nil
	require.Equal(t, []string{`table "customers" is gone`}, words(gone.Changes(describe())), "tables alone are compared")
}

// switched answers as one of several connectors.
type switched struct {
	handlers []http.Handler
	now      atomic.Int64
}

func (s *switched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handlers[s.now.Load()].ServeHTTP(w, r)
}

// TestRefresh discovers again while an answer is read, which goes on.
func TestRefresh(t *testing.T) {
	t.Parallel()
	after := numbered(30, true)
	after.Fields[1].Name = "halved"
	h := &switched{handlers: []http.Handler{
		tabled(numbered(30, true), "pageSizeMax=10"),
		tabled(after, "pageSizeMax=10 concurrency=2 -in"),
	}}
	conn := connectTo(t, h, nil)
	answer := testkit.Must(conn.Query(t.Context(), query("numbered id")))(t)
	var next *platform.Connection
	requireNumbers(t, answer, 30, func(n int, _ []wire.Value) { // the answer goes on as it began
		if n == 1 {
			h.now.Store(1)
			next = testkit.Must(conn.Refresh(t.Context()))(t)
		}
	})
	require.Equal(t, []string{"the document: operator in is gone", "the document: concurrency was 4, is 2",
		`field "halved" of table "numbered" is new`, `field "half" of table "numbered" is gone`}, words(next.Changes(conn)))
	require.NotNil(t, conn.Table("numbered").Field("half"), "the earlier connection stays as it is")
	answered(t, next, "cardinality numbered halved")
	same := testkit.Must(next.Refresh(t.Context()))(t)
	require.Empty(t, same.Changes(next))
	whole := testkit.Must(same.Query(t.Context(), query("numbered id limit=1")))(t)
	for _, err := range whole.All() {
		require.NoError(t, err)
		for _, err := range whole.All() {
			require.NoError(t, err)
			waiting, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
			_, _, err := next.Size(waiting, "numbered")
			end()
			require.ErrorIs(t, err, context.DeadlineExceeded, "both places are taken, also for whom has not refreshed")
		}
	}
}

// TestPagesByOffsetOverlap changes a table after its first page. Pages by offset show it where it moved
// the rows that are still to come: a row that nobody deleted is never missed without a word.
func TestPagesByOffsetOverlap(t *testing.T) {
	t.Parallel()
	row := func(id int64) []wire.Value { return []wire.Value{wire.Int(id), wire.Int(0), wire.Text("")} }
	drop := func(from, to int) func([][]wire.Value) [][]wire.Value {
		return func(rows [][]wire.Value) [][]wire.Value { return slices.Delete(rows, from, to) }
	}
	for _, c := range []struct {
		why     string
		change  func([][]wire.Value) [][]wire.Value
		rows    int // of the answer; 8: the table moved
		keyed   bool
		perPage int
	}{
		{"nothing changes", drop(0, 0), 100, false, 8},
		{"two rows a page are enough", drop(0, 0), 100, false, 2},
		{"a row that was read is deleted", drop(2, 3), 8, false, 8},
		{"and so from a table whose key has no filter", drop(2, 3), 8, true, 8},
		{"the last row that was read is deleted", drop(7, 8), 8, false, 8},
		{"a row is inserted before", func(rows [][]wire.Value) [][]wire.Value { return slices.Insert(rows, 0, row(-1)) }, 8, false, 8},
		{"all are deleted", drop(0, 100), 8, false, 8},
		{"a row that is still to come is deleted", drop(50, 51), 99, false, 8},
		{"a row that is still to come is inserted", func(rows [][]wire.Value) [][]wire.Value { return append(rows, row(101)) },
			101, false, 8},
	} {
		for _, concurrency := range []int{1, 8} {
			table := keylessNumbered(100, false)
			if c.keyed {
				table = numbered(100, false)
			}
			before := inMemory(table)
			table.Rows = c.change(slices.Clone(table.Rows))
			later := inMemory(table)
			r := record(built(&bent{Source: before, later: func(int) *memsource.Source { return later }},
				fmt.Sprintf("pageSizeMax=%d concurrency=%d -gt", c.perPage, concurrency)))
			conn := connectTo(t, r, nil)
			rows, _, err := casetest.Rows(t.Context(), conn, query("numbered id,text"))
			if c.rows == 8 {
				require.ErrorIs(t, err, platform.ErrMoved, c.why)
				require.ErrorContains(t, err, "deleted or inserted", c.why)
			} else {
				require.NoError(t, err, c.why)
			}
			require.Len(t, rows, c.rows, c.why)
			for i, row := range rows[:min(50, len(rows))] {
				require.Equal(t, fmt.Sprint(i+1), fmt.Sprint(row[0]), c.why)
			}
			r.asked(t)
		}
	}
	// A page of one row has no room for another row than the one that it repeats.
	conn := connectTo(t, tabled(keylessNumbered(3, false), "pageSizeMax=1"), nil)
	_, _, err := casetest.Rows(t.Context(), conn, query("numbered id"))
	require.ErrorIs(t, err, platform.ErrReach)
}

// TestRotated changes the token and the credentials while an answer is read. Its first page
// and its last come, and what is asked through the new connection carries the new ones.
func TestRotated(t *testing.T) {
	t.Parallel()
	const newToken = "the-token-that-comes-after-the-first-one"
	var mu sync.Mutex
	var tokens, keys []string
	h := tabled(numbered(20, true), "pageSizeMax=10 concurrency=1")
	conn := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := r.Clone(r.Context())
		own.Header.Set("Authorization", "Bearer "+testToken)
		bodies(h, func(_ string, body map[string]any) {
			mu.Lock()
			defer mu.Unlock()
			tokens = append(tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			key, _ := body["credentials"].(map[string]any)["apiKey"].(string)
			keys = append(keys, key)
		}).ServeHTTP(w, own)
	}), nil)
	tokens, keys = nil, nil
	answer := testkit.Must(conn.Query(t.Context(), query("numbered id")))(t)
	var next *platform.Connection
	requireNumbers(t, answer, 20, func(n int, _ []wire.Value) {
		if n == 1 {
			next = conn.Rotated(wire.NewBearer(newToken), wire.NewCredentials(map[string]string{"apiKey": "new-key"}))
		}
	})
	answered(t, next, "size numbered")
	testkit.Must(next.Refresh(t.Context()))(t)
	require.Equal(t, slices.Repeat([]string{testToken}, len(tokens)-2), tokens[:len(tokens)-2])
	require.Equal(t, []string{newToken, newToken}, tokens[len(tokens)-2:])
	require.Equal(t, []string{"", "new-key", "new-key"}, keys[len(keys)-3:])
}

// TestCopiesHideTheToken answers with the token, which no error and no step has to show
// through a connection that was made from another one.
func TestCopiesHideTheToken(t *testing.T) {
	t.Parallel()
	h := tabled(numbered(20, true), "")
	conn := connectTo(t, testkit.OnPath(h, wire.PathSize, func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":"bad_request","message":"you sent `+token+`"}}`)
	}), nil)
	var shown []string
	show := func(s platform.Step) { shown = append(shown, s.Text) }
	const newToken = "the-token-that-comes-after-the-first-one"
	for _, c := range []*platform.Connection{conn, conn.Observed(show),
		conn.Rotated(wire.NewBearer(newToken), nobody).Observed(show)} {
		_, _, err := c.Size(t.Context(), "numbered")
		require.ErrorContains(t, err, "you sent")
		require.NotContains(t, err.Error(), testToken)
		require.NotContains(t, err.Error(), newToken)
	}
	require.NotEmpty(t, shown)
	require.NotContains(t, strings.Join(shown, "\n"), testToken)
	require.NotContains(t, strings.Join(shown, "\n"), newToken)
}

// strict refuses operators that the document does not declare, as a connector may that was
// written without this library.
func strict(h http.Handler, gone wire.Op) http.Handler {
	return choosing(h, func(_ string, body map[string]any) http.Handler {
		list, _ := body["and"].([]any)
		if slices.ContainsFunc(list, func(f any) bool { return f.(map[string]any)["op"] == string(gone) }) {
			return testkit.JSON(http.StatusUnprocessableEntity, fmt.Sprintf(`{"error":{"code":"unsupported","message":"no %s here"}}`, gone))
		}
		return h
	})
}

// TestChangedConnector asks a connector whose document and tables are others than when the
// connection was made. The question is planned again, once, or refused by name.
func TestChangedConnector(t *testing.T) {
	t.Parallel()
	before := tabled(numbered(9, true), "")
	renamed, retyped := numbered(9, true), numbered(9, true)
	renamed.Fields[1].Name, renamed.Fields[2].Name = "halved", "words"
	retyped.Fields[1].Type = wire.TypeDecimal
	other := numbered(9, true)
	other.Name = "counted"
	for _, c := range []struct {
		why, question string
		after         http.Handler
		want, refused string
		asked         string // besides the document
	}{
		{"an operator is gone, and the filter is applied here", "query numbered id id.gt=6",
			strict(tabled(numbered(9, true), "-gt"), wire.OpGt), "[[7] [8] [9]]", "", "/query /discovery /query"},
		{"a route is gone, and the rows are counted", "count numbered id.gt=6", tabled(numbered(9, true), "-/count"),
			"3", "", "/count /discovery /query"},
		{"... of groups", "aggregate numbered avg(id):mean", tabled(numbered(9, true), "-/aggregate"),
			"[[5]]", "", "/aggregate /discovery /query"},
		{"... of measurements", "size numbered", tabled(numbered(9, true), "-/size"),
			`{"rows":9,"exact":true}`, "", "/size /discovery /query"},
		{"a field is gone", "query numbered half id.gt=6", tabled(renamed, ""), "",
			`table "numbered" has no field "half"; since this connection was made, field "halved" of table "numbered" is new`,
			"/query /discovery"},
		{"a table is gone", "count numbered id.gt=6", tabled(other, ""), "",
			`there is no table "numbered"; since this connection was made`, "/count /discovery"},
		{"a column of the answer has another type", "query numbered half id.gt=6", strict(tabled(retyped, "-gt"), wire.OpGt), "",
			"the columns of the answer are others than before; since this connection was made, the document: operator gt is gone",
			"/query /discovery"},
		{"nothing has changed, and the refusal stands", "query numbered id id.gt=6", strict(before, wire.OpGt), "", "no gt here",
			"/query /discovery"},
		{"what has changed is not the cause", "query numbered id id.gt=6", strict(tabled(numbered(9, true), "-in"), wire.OpGt), "",
			"no gt here", "/query /discovery /query"},
	} {
		r := record(before)
		h := &switched{handlers: []http.Handler{before, c.after}}
		r.handler = h
		conn := connectTo(t, r, nil)
		h.now.Store(1)
		r.seen()
		got, stats, err := ask(t, conn, question(c.question))
		requests := r.asked(t)
		require.Equal(t, c.asked, strings.Join(paths(requests), " "), c.why)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, c.why)
			continue
		}
		require.NoError(t, err, c.why)
		require.Equal(t, c.want, got, c.why)
		require.Equal(t, len(requests)+1, stats.Requests, c.why)
	}
}

// TestChangedAfterRows does not ask again once rows were passed on: they would come twice.
func TestChangedAfterRows(t *testing.T) {
	t.Parallel()
	h := &switched{handlers: []http.Handler{
		tabled(numbered(20, false), "pageSizeMax=5"),
		tabled(cells.TableOf(t, "priced", "amount:decimal | decimal:1"), "pageSizeMax=5"),
	}}
	conn := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if r.URL.Path == wire.PathQuery {
			h.now.Store(1)
		}
	}), nil)
	rows, _, err := casetest.Rows(t.Context(), conn, query("numbered id"))
	require.ErrorIs(t, err, &wire.Error{Code: wire.CodeUnknownEntity})
	require.Len(t, rows, 5)
}
