package platform_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
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
		requests, _ := r.seen()
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
		tabled(priced("1"), "pageSizeMax=5"),
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
