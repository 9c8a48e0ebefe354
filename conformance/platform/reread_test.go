package platform_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// strict refuses operators that the document does not declare, as a connector may that was
// written without this library.
func strict(h http.Handler, gone wire.Op) http.Handler {
	return choosing(h, func(_ string, body map[string]any) http.Handler {
		list, _ := body["and"].([]any)
		if slices.ContainsFunc(list, func(f any) bool { return f.(map[string]any)["op"] == string(gone) }) {
			return refusal(http.StatusUnprocessableEntity, fmt.Sprintf(`{"error":{"code":"unsupported","message":"no %s here"}}`, gone))
		}
		return h
	})
}

// TestChangedConnector asks a connector whose document and tables are others than when the
// connection was made. The question is planned again, once, or refused by name.
func TestChangedConnector(t *testing.T) {
	t.Parallel()
	before := tabled(numbered(9, true), wire.Limits{}, connector.Omit{})
	renamed, retyped := numbered(9, true), numbered(9, true)
	renamed.Fields[1].Name, renamed.Fields[2].Name = "halved", "words"
	retyped.Fields[1].Type = wire.TypeDecimal
	other := numbered(9, true)
	other.Name = "counted"
	some := where("id", wire.OpGt, wire.Int(6))
	query := func(fields ...string) func(c *platform.Connection) (string, platform.Stats, error) {
		return func(c *platform.Connection) (string, platform.Stats, error) {
			req := &wire.QueryRequest{Table: "numbered", Fields: fields, Where: some}
			answer := testkit.Must(c.Query(t.Context(), req))(t)
			var rows []string
			for row, err := range answer.All() {
				if err != nil {
					return "", answer.Stats, err
				}
				rows = append(rows, fmt.Sprint(row))
			}
			return fmt.Sprint(rows), answer.Stats, nil
		}
	}
	count := func(c *platform.Connection) (string, platform.Stats, error) {
		n, stats, err := c.Count(t.Context(), &wire.CountRequest{Table: "numbered", Where: some})
		return fmt.Sprint(n), stats, err
	}
	for _, c := range []struct {
		why           string
		after         http.Handler
		ask           func(*platform.Connection) (string, platform.Stats, error)
		want, refused string
		asked         []string // besides the document
	}{
		{"an operator is gone, and the filter is applied here",
			strict(tabled(numbered(9, true), wire.Limits{}, connector.Omit{Operators: []wire.Op{wire.OpGt}}), wire.OpGt), query("id"),
			"[[7] [8] [9]]", "", []string{wire.PathQuery, wire.PathDiscovery, wire.PathQuery}},
		{"a route is gone, and the rows are counted",
			tabled(numbered(9, true), wire.Limits{}, connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointCount}}), count,
			"3", "", []string{wire.PathCount, wire.PathDiscovery, wire.PathQuery}},
		{"... of groups", tabled(numbered(9, true), wire.Limits{}, connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointAggregate}}),
			func(c *platform.Connection) (string, platform.Stats, error) {
				groups, err := c.Aggregate(t.Context(), &wire.AggregateRequest{Table: "numbered",
					Measures: []wire.Measure{{Fn: platform.Avg, Field: "id", As: "mean"}}})
				return fmt.Sprint(groups.Rows), groups.Stats, err
			}, "[[5]]", "", []string{wire.PathAggregate, wire.PathDiscovery, wire.PathQuery}},
		{"... of measurements", tabled(numbered(9, true), wire.Limits{}, connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointSize}}),
			func(c *platform.Connection) (string, platform.Stats, error) {
				size, stats, err := c.Size(t.Context(), "numbered")
				return fmt.Sprint(size.Rows), stats, err
			}, "9", "", []string{wire.PathSize, wire.PathDiscovery, wire.PathQuery}},
		{"a field is gone", tabled(renamed, wire.Limits{}, connector.Omit{}), query("half"), "",
			`table "numbered" has no field "half"; since this connection was made, field "halved" of table "numbered" is new`,
			[]string{wire.PathQuery, wire.PathDiscovery}},
		{"a table is gone", tabled(other, wire.Limits{}, connector.Omit{}), count, "",
			`there is no table "numbered"; since this connection was made`, []string{wire.PathCount, wire.PathDiscovery}},
		{"a column of the answer has another type", strict(tabled(retyped, wire.Limits{},
			connector.Omit{Operators: []wire.Op{wire.OpGt}}), wire.OpGt), query("half"), "",
			"the columns of the answer are others than before; since this connection was made, the document: operator gt is gone",
			[]string{wire.PathQuery, wire.PathDiscovery}},
		{"nothing has changed, and the refusal stands", strict(before, wire.OpGt), query("id"), "", "no gt here",
			[]string{wire.PathQuery, wire.PathDiscovery}},
		{"what has changed is not the cause", strict(strict(tabled(numbered(9, true), wire.Limits{},
			connector.Omit{Operators: []wire.Op{wire.OpIn}}), wire.OpGt), wire.OpGt), query("id"), "", "no gt here",
			[]string{wire.PathQuery, wire.PathDiscovery, wire.PathQuery}},
	} {
		r := record(before)
		h := &switched{handlers: []http.Handler{before, c.after}}
		r.handler = h
		conn := connectTo(t, r, nil)
		h.now.Store(1)
		r.seen()
		got, stats, err := c.ask(conn)
		requests, _ := r.seen()
		require.Equal(t, c.asked, paths(requests), c.why)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, c.why)
			continue
		}
		require.NoError(t, err, c.why)
		require.Equal(t, c.want, got, c.why)
		require.Equal(t, len(c.asked)+1, stats.Requests, c.why)
	}
}

// TestChangedAfterRows does not ask again once rows were passed on: they would come twice.
func TestChangedAfterRows(t *testing.T) {
	t.Parallel()
	h := &switched{handlers: []http.Handler{
		tabled(numbered(20, false), wire.Limits{PageSizeMax: 5}, connector.Omit{}),
		tabled(priced("1"), wire.Limits{PageSizeMax: 5}, connector.Omit{}),
	}}
	conn := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if r.URL.Path == wire.PathQuery {
			h.now.Store(1)
		}
	}), nil)
	rows, _, err := casetest.Rows(t.Context(), conn, &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}})
	require.ErrorIs(t, err, &wire.Error{Code: wire.CodeUnknownEntity})
	require.Len(t, rows, 5)
}
