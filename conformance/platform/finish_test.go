package platform_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestWork says of each part of a query whether the connector or this side has done
// it.
func TestWork(t *testing.T) {
	t.Parallel()
	req := wire.QueryRequest{Table: "orders", Fields: []string{"id"},
		Where: where("status", wire.OpEq, wire.Text("paid")),
		Joins: joins("orders", "customer_id", "customers", "id", wire.JoinField{Field: "name", As: "customer"}),
		Sort:  by("-total"), Offset: 1, Limit: 3}
	served := wire.Served{Filters: true, Sort: true, Window: true}
	for _, c := range []struct {
		name  string
		build func() http.Handler
		req   wire.QueryRequest
		work  platform.Stats // without RowsRead
		rows  int64
	}{
		{"all is served", connectors[0].build, req, platform.Stats{Served: served, Requests: 1}, 3},
		{"nothing is asked", connectors[1].build, req,
			platform.Stats{Served: served, Filtered: true, Sorted: true, Windowed: true, Joined: true, Requests: 2}, 48 + 22},
		{"nothing is served", connectors[2].build, req,
			platform.Stats{Served: wire.Served{Filters: true}, Filtered: true, Sorted: true, Windowed: true, Requests: 1}, 48},
		{"no window", connectors[0].build, wire.QueryRequest{Table: "orders", Fields: []string{"id"}},
			platform.Stats{Served: served, Requests: 1}, 48},
		{"a window that stops the reading", connectors[1].build, wire.QueryRequest{Table: "orders", Fields: []string{"id"}, Offset: 2, Limit: 3},
			platform.Stats{Served: served, Windowed: true, Requests: 1}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := connectTo(t, c.build(), nil)
			answer := testkit.Must(conn.Query(t.Context(), &c.req))(t)
			for range 2 { // each reading asks again
				counted(t, answer.All())
				got := answer.Stats
				assert.Equal(t, c.rows, got.RowsRead)
				got.RowsRead = 0
				assert.Equal(t, c.work, got)
			}
		})
	}
}

// TestTies sorts rows here by a field that repeats. The table's key orders the rest,
// wherever it stands among the fields, so that pages fit together.
func TestTies(t *testing.T) {
	t.Parallel()
	conn := connectTo(t, tabled(numbered(6, true), wire.Limits{}, connector.Omit{Sort: wire.SortNone}), nil)
	rows := rowsOf(t, conn, &wire.QueryRequest{Table: "numbered", Fields: []string{"text", "id"}, Sort: by("half")})
	require.Equal(t, "[[row 6 6] [null 4] [row 5 5] [row 2 2] [row 3 3] [null 1]]", fmt.Sprint(rows))
}

// TestJoinedNames joins a field under the name of a base field by which this side
// filters. On the wire it has another name.
func TestJoinedNames(t *testing.T) {
	t.Parallel()
	conn, r := recording(t, everything(connector.Definition{}, connector.Omit{Operators: []wire.Op{wire.OpEq}}))
	country := func(as string) *wire.QueryRequest {
		return &wire.QueryRequest{
			Table: "orders", Fields: []string{"id"}, Limit: 2, Sort: by("id"),
			Where: where("status", wire.OpEq, wire.Text("paid")),
			Joins: joins("orders", "customer_id", "customers", "id", wire.JoinField{Field: "country", As: as},
				wire.JoinField{Field: "name", As: as + "_2"}, wire.JoinField{Field: "id", As: as + "_4"}),
		}
	}
	rows, columns, err := casetest.Rows(t.Context(), conn, country("status"))
	require.NoError(t, err)
	require.Equal(t, []string{"id", "status", "status_2", "status_4"}, columns)
	plain := rowsOf(t, connectTo(t, connectors[0].build(), nil), country("land"))
	require.Equal(t, fmt.Sprint(plain), fmt.Sprint(rows))
	requests, faults := r.seen()
	require.Empty(t, faults)
	joined := fmt.Sprint(requests[0].body.Joins)
	for _, name := range []string{"as:status_3 field:country", "as:status_2 field:name", "as:status_4 field:id"} {
		require.Contains(t, joined, name, "no two names on the wire are the same")
	}
}

// TestRefusedRequests asks what the discovered tables cannot answer. The connector
// never sees it.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	joined := func(hops ...wire.JoinHop) wire.QueryRequest {
		return wire.QueryRequest{Table: "orders", Fields: []string{"id"}, Joins: hops}
	}
	customers, back := hop("orders", "customer_id", "customers", "id"), hop("customers", "id", "orders", "id")
	colour := where("colour", wire.OpNotNull, wire.Null())
	ids := func(field wire.JoinField) wire.QueryRequest {
		return joined(hop("orders", "id", "customers", "id", field))
	}
	conn, r := recording(t, connectors[0].build())
	for problem, req := range map[string]wire.QueryRequest{
		`limit and offset must not be negative`:                     {Table: "orders", Limit: -1},
		`offset must not be negative`:                               {Table: "orders", Offset: -1},
		`there is no table "order"`:                                 {Table: "order"},
		`there is no table "Orders"`:                                {Table: "Orders"},
		`fields: table "orders" has no field "colour"`:              {Table: "orders", Fields: []string{"colour"}},
		`filter: table "orders" has no field "colour"`:              {Table: "orders", Where: colour},
		`sort: table "orders" has no field "colour"`:                {Table: "orders", Sort: by("colour")},
		`the direction of the sort by "id" is neither asc nor desc`: {Table: "orders", Sort: []wire.SortKey{{Field: "id", Dir: "up"}}},
		`two columns are named "id"`:                                {Table: "orders", Fields: []string{"id", "id"}},
		`joins[0].fields: the name "id" is taken; give`:             ids(wire.JoinField{Field: "id"}),
		`joins[0].fromField: table "orders" has no field "colour"`:  joined(hop("orders", "colour", "customers", "id")),
		`joins[0].toField: table "customers" has no field "colour"`: joined(hop("orders", "id", "customers", "colour")),
		`joins[0].fields: table "customers" has no field "colour"`:  ids(wire.JoinField{Field: "colour"}),
		`there is no table "colours"`:                               joined(hop("orders", "id", "colours", "id")),
		`joins[0].fromTable: must be the base table`:                joined(back),
		`joins[0].fromTable: must be the base table or`:             joined(hop("Orders", "id", "customers", "id")),
		`joins[2].fromTable: several hops reach table "customers"`:  joined(customers, customers, back),
	} {
		_, err := conn.Query(t.Context(), &req)
		var refusal *platform.RequestError
		require.ErrorAs(t, err, &refusal, problem)
		require.ErrorContains(t, err, problem)
	}
	requests, _ := r.seen()
	require.Empty(t, requests)
}

// TestBudget asks for more than may be kept in memory. The refusal names the
// budget.
func TestBudget(t *testing.T) {
	t.Parallel()
	conn := connectTo(t, built(connector.Definition{}, nothing, undeclared), &platform.ConnectionOptions{Budget: 20_000})
	ask := func(req wire.QueryRequest) error {
		_, _, err := casetest.Rows(t.Context(), conn, &req)
		return err
	}
	byID := by("-id")
	require.NoError(t, ask(wire.QueryRequest{Table: "many", Fields: []string{"id"}}), "rows that pass through are not kept")
	require.NoError(t, ask(wire.QueryRequest{Table: "many", Fields: []string{"id"}, Sort: byID, Limit: 10}), "nor is more than the window")
	over := func(err error, problem string) {
		require.ErrorIs(t, err, platform.ErrBudget)
		require.EqualError(t, err, problem)
	}
	over(ask(wire.QueryRequest{Table: "many", Fields: []string{"id"}, Sort: byID}),
		`the rows to sort need more than the budget of 20000 bytes; ask for fewer with a limit, or filter more`)
	over(ask(wire.QueryRequest{Table: "orders", Fields: []string{"id"}, Joins: joins("orders", "id", "many", "id")}),
		`the joined rows of table "many" need more than the budget of 20000 bytes; join a smaller table`)
	_, err := conn.Aggregate(t.Context(), &wire.AggregateRequest{Table: "many",
		Measures: []wire.Measure{{Fn: wire.AggCountDistinct, Field: "id", As: "n"}}})
	over(err, `the groups and distinct values of table "many" need more than the budget of 20000 bytes; `+
		`group by fewer or coarser fields`)
	_, _, err = conn.Cardinality(t.Context(), "many", "id")
	over(err, `the distinct values of table "many" need more than the budget of 20000 bytes; count fewer columns at once`)
	_, _, err = conn.LinkHitRate(t.Context(), &wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "id", ToTable: "many", ToColumn: "id"})
	over(err, `the distinct values of column "id" of table "many" need more than the budget of 20000 bytes; measure a smaller table`)
}

// TestBrokenReadings asks questions whose rows break off, by an error line and by the
// end of the connection. None is answered from the rows that came.
func TestBrokenReadings(t *testing.T) {
	t.Parallel()
	h := tabled(numbered(9, true), wire.Limits{}, connector.Omit{Operators: filter.Operators(), Sort: wire.SortNone, Join: true, Offset: true,
		Endpoints: []wire.Endpoint{wire.EndpointCount, wire.EndpointAggregate, wire.EndpointSize, wire.EndpointCardinality,
			wire.EndpointLinkHitRate}})
	rows := func(req wire.QueryRequest) func(*platform.Connection) error {
		req.Table, req.Fields = "numbered", []string{"id"}
		return func(c *platform.Connection) error {
			_, _, err := casetest.Rows(t.Context(), c, &req)
			return err
		}
	}
	questions := map[string]func(*platform.Connection) error{
		"rows":          rows(wire.QueryRequest{}),
		"sorted rows":   rows(wire.QueryRequest{Sort: by("id"), Limit: 1}),
		"joined rows":   rows(wire.QueryRequest{Joins: joins("numbered", "id", "numbered", "id")}),
		"filtered rows": rows(wire.QueryRequest{Limit: 2, Where: where("id", wire.OpGt, wire.Int(0))}),
		"a window":      rows(wire.QueryRequest{Offset: 1, Limit: 2}),
		"a count": func(c *platform.Connection) error {
			_, _, err := c.Count(t.Context(), &wire.CountRequest{Table: "numbered"})
			return err
		},
		"a size": func(c *platform.Connection) error {
			_, _, err := c.Size(t.Context(), "numbered")
			return err
		},
		"a cardinality": func(c *platform.Connection) error {
			_, _, err := c.Cardinality(t.Context(), "numbered", "id")
			return err
		},
		"a link": func(c *platform.Connection) error {
			_, _, err := c.LinkHitRate(t.Context(), &wire.LinkHitRateRequest{
				FromTable: "numbered", FromColumn: "id", ToTable: "numbered", ToColumn: "id"})
			return err
		},
		"groups": func(c *platform.Connection) error {
			_, err := c.Aggregate(t.Context(), perID)
			return err
		},
		"the first groups": func(c *platform.Connection) error {
			_, err := c.Top(t.Context(), perID, nil, 1)
			return err
		},
		"a grain": func(c *platform.Connection) error {
			_, err := entityOf(c, "numbered").Grain(t.Context())
			return err
		},
	}
	for _, ending := range []string{`{"error":{"code":"timeout","message":"no row for 30 seconds"}}` + "\n", ""} {
		conn := connectTo(t, onPath(h, wire.PathQuery, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", terms.MediaNDJSON)
			_, _ = io.WriteString(w, `{"rows":[{"id":1,"half":1,"text":null}]}`+"\n"+ending)
		}), nil)
		for name, ask := range questions {
			err := ask(conn)
			if ending != "" {
				require.ErrorIs(t, err, &wire.Error{Code: wire.CodeTimeout}, name)
			} else {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
			}
		}
	}
}

// TestFilteringKeepsNothing filters rows here, and allocates for the lines but not for the rows.
func TestFilteringKeepsNothing(t *testing.T) {
	const lines, rows = 40, 5000
	h := tabled(numbered(1, false), wire.Limits{}, connector.Omit{Operators: filter.Operators()})
	var cells []string
	for i := range rows {
		cells = append(cells, fmt.Sprintf(`{"half":%d,"text":"row %d"}`, i%1000, i))
	}
	line := `{"rows":[` + strings.Join(cells, ",") + "]}\n"
	conn := connectTo(t, onPath(h, wire.PathQuery, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", terms.MediaNDJSON)
		for range lines {
			_, _ = io.WriteString(w, line)
		}
		_, _ = fmt.Fprintln(w, `{"end":1}`)
	}), nil)
	answer := testkit.Must(conn.Query(t.Context(), &wire.QueryRequest{Table: "numbered", Fields: []string{"half", "text"},
		Where: where("half", wire.OpGte, wire.Int(500))}))(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.Equal(t, int64(lines*rows/2), counted(t, answer.All()))
	runtime.ReadMemStats(&after)
	require.Less(t, after.Mallocs-before.Mallocs, uint64(lines*rows/10), "allocations for 200,000 rows")
}

// staff is a table that refers to itself, with keys of both kinds.
func staff(omit connector.Omit, limits wire.Limits) http.Handler {
	people := memsource.Table{Table: wire.Table{Name: "people", StoresRows: true, PrimaryKey: []string{"id"}, ForeignKeys: []wire.ForeignKey{
		{Field: "boss", TargetTable: "people", TargetField: "id"}}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber, Unique: true},
		{Name: "boss", Type: wire.TypeNumber, Nullable: true},
		{Name: "boss_text", Type: wire.TypeString, Nullable: true},
		{Name: "name", Type: wire.TypeString},
	}}, Rows: [][]wire.Value{
		{wire.Int(1), wire.Null(), wire.Null(), wire.Text("Ada")},
		{wire.Int(2), wire.Int(1), wire.Text("1"), wire.Text("Bo")},
		{wire.Int(3), wire.Int(2), wire.Text("02"), wire.Text("Cy")},
		{wire.Int(4), wire.Int(9), wire.Text("1.0"), wire.Text("Di")},
		{wire.Int(5), wire.Int(1), wire.Text("1"), wire.Text("Ed")},
	}}
	return several(limits, omit, people)
}

// TestJoinedRowsBeyondTheLimit does not take the base table's number of rows for
// that of the joined ones.
func TestJoinedRowsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	h := bodies(staff(connector.Omit{}, wire.Limits{RowsPerTableMax: 5}), func(path string, body map[string]any) {
		if path == wire.PathQuery {
			body["limit"] = 5 // a source that reads no further
		}
	})
	_, _, err := casetest.Rows(t.Context(), connectTo(t, h, nil), &wire.QueryRequest{Table: "people", Fields: []string{"id"},
		Joins: joins("people", "id", "people", "boss")})
	require.ErrorIs(t, err, platform.ErrReach, "there are six joined rows of five people")
}
