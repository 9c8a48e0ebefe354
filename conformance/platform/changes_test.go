package platform_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
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
		tabled(numbered(30, true), wire.Limits{PageSizeMax: 10}, connector.Omit{}),
		tabled(after, wire.Limits{PageSizeMax: 10, Concurrency: 2}, connector.Omit{Operators: []wire.Op{wire.OpIn}}),
	}}
	conn := connectTo(t, h, nil)
	answer, err := conn.Query(t.Context(), &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}})
	require.NoError(t, err)
	rows := 0
	var next *platform.Connection
	for _, err := range answer.All() {
		require.NoError(t, err)
		if rows++; rows == 1 {
			h.now.Store(1)
			next, err = conn.Refresh(t.Context())
			require.NoError(t, err)
		}
	}
	require.Equal(t, 30, rows, "the answer goes on as it began")
	require.Equal(t, []string{"the document: operator in is gone", "the document: concurrency was 4, is 2",
		`field "halved" of table "numbered" is new`, `field "half" of table "numbered" is gone`}, words(next.Changes(conn)))
	require.NotNil(t, conn.Table("numbered").Field("half"), "the earlier connection stays as it is")
	_, _, err = next.Cardinality(t.Context(), "numbered", "halved")
	require.NoError(t, err)
	same, err := next.Refresh(t.Context())
	require.NoError(t, err)
	require.Empty(t, same.Changes(next))
	whole, err := same.Query(t.Context(), &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Limit: 1})
	require.NoError(t, err)
	for _, err := range whole.All() {
		require.NoError(t, err)
		for _, err := range whole.All() {
			require.NoError(t, err)
			waiting, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
			_, _, err = next.Size(waiting, "numbered")
			end()
			require.ErrorIs(t, err, context.DeadlineExceeded, "both places are taken, also for whom has not refreshed")
		}
	}
}
