package platform_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
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
				_, spent, err := ask(t, c, test.Request)
				if err != nil {
					require.ErrorContains(t, err, "1001 groups", "which no row count tells before")
				}
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
	const joined = "query numbered id numbered.half>numbered.half>text"
	for _, c := range []struct {
		why, words string
		unknown    bool // discovery has no rowCount
		question   string
		want       string // work; -1: not known
	}{
		{"one request, of as many rows as discovery states", "", false, "query numbered id", "F S W 1 1000"},
		{"no limit of rows is known", "", true, "query numbered id", "F S W 1 -1"},
		{"... nor one of pages", "pageSizeMax=300", true, "query numbered id", "F S W -1 -1"},
		{"no more rows than can be read", "rowsPerTableMax=2000", true, "query numbered id offset=100", "F S W 1 1900"},
		{"pages, the last of which is short", "pageSizeMax=300", false, "query numbered id", "F S W 4 1000"},
		{"full pages, after which another is asked for", "pageSizeMax=250", false, "query numbered id", "F S W 5 1000"},
		{"a window of pages ends where it is full", "pageSizeMax=250", false, "query numbered id offset=100 limit=500", "F S W 2 500"},
		{"a window at the end of the table", "pageSizeMax=250", false, "query numbered id offset=900 limit=500", "F S W 1 100"},
		{"a filter that is not declared is applied here, and the window after it", "-notnull", false,
			"query numbered id text.notnull id.gt=900 limit=5", "S filtered windowed 1 1000"},
		{"a sort that is not declared", "sort=none", false, "query numbered id sort=half", "F sorted 1 1000"},
		{"a count that is declared reads no rows", "", true, "count numbered text.notnull id.gt=900", "F 1 0"},
		{"a count of rows", "-/count", false, "count numbered text.notnull id.gt=900", "F S W counted 1 1000"},
		{"an aggregate may be declined, and takes the rows then", "pageSizeMax=300", false, "aggregate numbered by=text:k", "F 5 1000"},
		{"an aggregate of rows", "-/aggregate", true, "aggregate numbered by=text:k", "F S W folded 1 -1"},
		{"joined rows have no row count", "", false, joined, "F S W 1 -1"},
		{"a join executed here reads both tables", "-join", false, joined, "F S W joined 2 2000"},
	} {
		conn := connectTo(t, tabled(numbered(1000, !c.unknown), c.words), nil)
		_, most, err := conn.Explain(question(c.question))
		require.NoError(t, err, c.why)
		require.Equal(t, c.want, workOf(most), c.why)
		if strings.HasPrefix(c.question, "query") {
			answered(t, conn, c.question)
		}
	}
	conn := connectTo(t, tabled(numbered(3, true), ""), nil)
	for _, words := range []string{"query missing", "count missing", "aggregate numbered", "size numbered"} {
		_, _, err := conn.Explain(question(words))
		require.ErrorAs(t, err, new(*platform.RequestError), "%s has no answer", words)
	}
}
