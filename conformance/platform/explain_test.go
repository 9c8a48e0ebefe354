package platform_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestExplainCorpus explains the questions of the corpus and then asks them. The requests
// come as they were foretold, what is left to this side too, and none costs more.
func TestExplainCorpus(t *testing.T) {
	t.Parallel()
	for n, served := range connectors {
		if slices.Contains([]string{"nothing", "nothing served", "no served line", "declared and not served"}, served.name) {
			continue // they do not serve what they are asked for
		}
		t.Run(served.name, func(t *testing.T) {
			t.Parallel()
			r := record(served.build())
			c := connectTo(t, r, nil)
			r.seen()
			explained := 0
			for i, test := range corpus.Cases() {
				if !testrun.Runs(i+n, 3) {
					continue
				}
				asked, most, err := c.Explain(test.Request)
				requests, _ := r.seen()
				require.Empty(t, requests, "explaining asks nothing")
				if err != nil {
					require.ErrorContains(t, err, "cannot be explained", test.Name)
					continue
				}
				explained++
				spent := ask(t, c, test.Request)
				requests, _ = r.seen()
				for _, one := range asked {
					at := slices.IndexFunc(requests, func(r recorded) bool { return same(t, one, r) })
					require.GreaterOrEqual(t, at, 0, "%s: this is not asked: %+v", test.Name, one)
					requests = requests[at+1:]
				}
				if most.Requests >= 0 {
					require.LessOrEqual(t, spent.Requests, most.Requests, test.Name)
				}
				if most.RowsRead >= 0 {
					require.LessOrEqual(t, spent.RowsRead, most.RowsRead, test.Name)
				}
				if spent.RowsRead > 0 && !(spent.Folded && !most.Folded) { // no aggregate that was declined
					spent.Requests, spent.RowsRead, spent.Served = most.Requests, most.RowsRead, most.Served
					require.Equal(t, most, spent, test.Name)
				}
			}
			require.Greater(t, explained, map[bool]int{true: 50, false: 20}[testrun.InFull()])
		})
	}
}

// ask asks a query, a count or an aggregate, and returns what it took.
func ask(t *testing.T, c *platform.Connection, question wire.Request) platform.Stats {
	t.Helper()
	switch q := question.(type) {
	case *wire.CountRequest:
		_, stats, err := c.Count(t.Context(), q)
		require.NoError(t, err)
		return stats
	case *wire.AggregateRequest:
		groups, err := c.Aggregate(t.Context(), q)
		if err != nil {
			require.ErrorContains(t, err, "1001 groups", "which no row count tells before")
			return platform.Stats{}
		}
		return groups.Stats
	}
	answer := testkit.Must(c.Query(t.Context(), question.(*wire.QueryRequest)))(t)
	counted(t, answer.All())
	return answer.Stats
}

// same reports whether a request is the one that was recorded.
func same(t *testing.T, want wire.Request, got recorded) bool {
	t.Helper()
	raw := testkit.Must(wire.EncodeRequest(want))(t)
	var body sent
	require.NoError(t, json.Unmarshal(raw, &body))
	a := testkit.Must(json.Marshal(body))(t)
	b := testkit.Must(json.Marshal(got.body))(t)
	return string(a) == string(b)
}

// TestExplain explains questions about 1,000 rows within limits, and asks them.
func TestExplain(t *testing.T) {
	t.Parallel()
	id := []string{"id"}
	all := &wire.QueryRequest{Table: "numbered", Fields: id}
	joined := &wire.QueryRequest{Table: "numbered", Fields: id,
		Joins: joins("numbered", "half", "numbered", "half", wire.JoinField{Field: "text"})}
	done := wire.Served{Filters: true, Sort: true, Window: true}
	text := wire.Where{And: []wire.Filter{{Field: "text", Op: wire.OpNotNull}, {Field: "id", Op: wire.OpGt, Value: wire.Int(900)}}}
	for _, c := range []struct {
		why     string
		limits  wire.Limits
		omit    connector.Omit
		unknown bool // discovery has no rowCount
		req     wire.Request
		want    platform.Stats
	}{
		{"one request, of as many rows as discovery states", wire.Limits{}, connector.Omit{}, false, all,
			platform.Stats{Served: done, Requests: 1, RowsRead: 1000}},
		{"no limit of rows is known", wire.Limits{}, connector.Omit{}, true, all,
			platform.Stats{Served: done, Requests: 1, RowsRead: -1}},
		{"... nor one of pages", wire.Limits{PageSizeMax: 300}, connector.Omit{}, true, all,
			platform.Stats{Served: done, Requests: -1, RowsRead: -1}},
		{"no more rows than can be read", wire.Limits{RowsPerTableMax: 2000}, connector.Omit{}, true,
			&wire.QueryRequest{Table: "numbered", Fields: id, Offset: 100},
			platform.Stats{Served: done, Requests: 1, RowsRead: 1900}},
		{"pages, the last of which is short", wire.Limits{PageSizeMax: 300}, connector.Omit{}, false, all,
			platform.Stats{Served: done, Requests: 4, RowsRead: 1000}},
		{"full pages, after which another is asked for", wire.Limits{PageSizeMax: 250}, connector.Omit{}, false, all,
			platform.Stats{Served: done, Requests: 5, RowsRead: 1000}},
		{"a window of pages ends where it is full", wire.Limits{PageSizeMax: 250}, connector.Omit{}, false,
			&wire.QueryRequest{Table: "numbered", Fields: id, Offset: 100, Limit: 500},
			platform.Stats{Served: done, Requests: 2, RowsRead: 500}},
		{"a window at the end of the table", wire.Limits{PageSizeMax: 250}, connector.Omit{}, false,
			&wire.QueryRequest{Table: "numbered", Fields: id, Offset: 900, Limit: 500},
			platform.Stats{Served: done, Requests: 1, RowsRead: 100}},
		{"a filter that is not declared is applied here, and the window after it", wire.Limits{},
			connector.Omit{Operators: []wire.Op{wire.OpNotNull}}, false,
			&wire.QueryRequest{Table: "numbered", Fields: id, Where: text, Limit: 5},
			platform.Stats{Served: wire.Served{Sort: true}, Filtered: true, Windowed: true, Requests: 1, RowsRead: 1000}},
		{"a sort that is not declared", wire.Limits{}, connector.Omit{Sort: wire.SortNone}, false,
			&wire.QueryRequest{Table: "numbered", Fields: id, Sort: by("half")},
			platform.Stats{Served: wire.Served{Filters: true}, Sorted: true, Requests: 1, RowsRead: 1000}},
		{"a count that is declared reads no rows", wire.Limits{}, connector.Omit{}, true, &wire.CountRequest{Table: "numbered", Where: text},
			platform.Stats{Served: wire.Served{Filters: true}, Requests: 1}},
		{"a count of rows", wire.Limits{}, connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointCount}}, false,
			&wire.CountRequest{Table: "numbered", Where: text}, platform.Stats{Served: done, Counted: true, Requests: 1, RowsRead: 1000}},
		{"an aggregate may be declined, and takes the rows then", wire.Limits{PageSizeMax: 300}, connector.Omit{}, false,
			&wire.AggregateRequest{Table: "numbered", GroupBy: []wire.GroupKey{{Field: "text", As: "k"}}},
			platform.Stats{Served: wire.Served{Filters: true}, Requests: 5, RowsRead: 1000}},
		{"an aggregate of rows", wire.Limits{}, connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointAggregate}}, true,
			&wire.AggregateRequest{Table: "numbered", GroupBy: []wire.GroupKey{{Field: "text", As: "k"}}},
			platform.Stats{Served: done, Folded: true, Requests: 1, RowsRead: -1}},
		{"joined rows have no row count", wire.Limits{}, connector.Omit{}, false, joined,
			platform.Stats{Served: done, Requests: 1, RowsRead: -1}},
		{"a join executed here reads both tables", wire.Limits{}, connector.Omit{Join: true}, false, joined,
			platform.Stats{Served: done, Joined: true, Requests: 2, RowsRead: 2000}},
	} {
		conn := connectTo(t, tabled(numbered(1000, !c.unknown), c.limits, c.omit), nil)
		_, most, err := conn.Explain(c.req)
		require.NoError(t, err, c.why)
		require.Equal(t, c.want, most, c.why)
		if q, ok := c.req.(*wire.QueryRequest); ok {
			_, _, err := casetest.Rows(t.Context(), conn, q)
			require.NoError(t, err, c.why)
		}
	}
}

// TestExplainRefuses explains questions without an answer.
func TestExplainRefuses(t *testing.T) {
	conn := connectTo(t, tabled(numbered(3, true), wire.Limits{}, connector.Omit{}), nil)
	for _, req := range []wire.Request{
		&wire.QueryRequest{Table: "missing"},
		&wire.CountRequest{Table: "missing"},
		&wire.AggregateRequest{Table: "numbered"},
		&wire.SizeRequest{Table: "numbered"},
	} {
		_, _, err := conn.Explain(req)
		var refused *platform.RequestError
		require.ErrorAs(t, err, &refused, "%T", req)
	}
}
