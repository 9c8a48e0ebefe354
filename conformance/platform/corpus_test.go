package platform_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// corpusTables returns the corpus for a source.
func corpusTables() (list []memsource.Table) {
	for _, t := range corpus.Tables() {
		list = append(list, memsource.Table(t))
	}
	return list
}

// everything serves all that the protocol has.
func everything(words string) http.Handler { return built(connectors.Tables(corpusTables()...), words) }

// nothing hands out all rows of its tables.
var nothing = connectors.Source{Tables: corpusTables()}

// undeclared is what nothing's document leaves out besides the optional routes.
const undeclared = "-/count -operators sort=none -offset"

// bodies calls change with each body on its way to a handler.
func bodies(h http.Handler, change func(path string, body map[string]any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var body map[string]any
			decoder := json.NewDecoder(r.Body)
			decoder.UseNumber()
			if err := decoder.Decode(&body); err != nil {
				panic(err)
			}
			change(r.URL.Path, body)
			raw, _ := json.Marshal(body) // as it was read
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		}
		h.ServeHTTP(w, r)
	})
}

// choosing passes each request to the handler that choose returns for its body.
func choosing(h http.Handler, choose func(path string, body map[string]any) http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chosen := h
		bodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { chosen.ServeHTTP(w, r) }),
			func(path string, body map[string]any) { chosen = choose(path, body) }).ServeHTTP(w, r)
	})
}

// offsetOf returns the offset of a query.
func offsetOf(body map[string]any) int64 {
	number, _ := body["offset"].(json.Number)
	offset, _ := number.Int64()
	return offset
}

// unclaimed answers every query with all rows of its table, or with those joined,
// whatever the document declares. It states what was served, or nothing.
func unclaimed(h http.Handler, served string) http.Handler {
	return testkit.OnPath(h, wire.PathQuery, restating(bodies(h, func(_ string, body map[string]any) {
		body["and"], body["sort"] = []any{}, []any{}
		delete(body, "or")
		delete(body, "limit")
		delete(body, "offset")
	}), served))
}

// restating replaces the served line, or leaves it out.
func restating(h http.Handler, served string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		own := httptest.NewRecorder()
		h.ServeHTTP(own, r)
		text := own.Body.String()
		if own.Code != http.StatusOK {
			testkit.JSON(own.Code, text)(w, r)
			return
		}
		testkit.NDJSON(served+text[strings.IndexByte(text, '\n')+1:])(w, r)
	}
}

// connectTo connects a handler, and reads no previews.
func connectTo(t testing.TB, h http.Handler, opts *platform.ConnectionOptions) *platform.Connection {
	t.Helper()
	own := platform.ConnectionOptions{DiscoverOnly: true}
	if opts != nil {
		own.Reach, own.Budget = opts.Reach, opts.Budget
	}
	return testkit.Must(platform.Connect(t.Context(), connect(t, h, platform.Options{}), nobody, &own))(t)
}

type connectorCase struct {
	name, why, words string
	served           string // the line that stands before all rows, whatever is asked; "none": without a line
}

func (c connectorCase) build() http.Handler {
	switch {
	case c.name == "nothing":
		return built(nothing, c.words)
	case c.name == "pages":
		return bodies(everything(c.words), atMost(900))
	case c.served != "":
		return unclaimed(everything(c.words), strings.TrimPrefix(c.served, "none"))
	}
	return everything(c.words)
}

const noneServed = `{"served":{"filters":false,"sort":false,"window":false}}` + "\n"

// connectorCases are the ways in which the corpus is served: the less a connector
// does, the more is finished here.
var connectorCases = []connectorCase{
	{"everything", "tenant-9: what is declared is left to the connector", "", ""},
	{"nothing", "tenant-9: a connector without any capability is correct", undeclared, ""},
	{"nothing served", "stream-11: what is declared need not be served", "-operators", noneServed},
	{"no served line", "stream-12: then nothing counts as served", "-operators -join", "none"},
	{"declared and not served", "stream-11: filters too are applied here where they are not served", "-/count -/aggregate", noneServed},
	{"no joins", "document-13: the window is cut after the joins", "-join", ""},
	{"no operators", "document-9: the window is cut after the filters", "-operators", ""},
	{"some", "a request is divided", "-/size -/linkHitRate -neq -in -contains -lt -isnull -dateBucket -join -offset sort=single", ""},
	{"pages", "document-15: reads are planned within the limits", "pageSizeMax=900 rowsPerTableMax=13000", ""},
}

// atMost ends the answer to a query without a limit after so many rows, as a source
// with pages does.
func atMost(rows int) func(path string, body map[string]any) {
	return func(path string, body map[string]any) {
		if _, limited := body["limit"]; path == wire.PathQuery && !limited {
			body["limit"] = rows
		}
	}
}

// TestEveryCaseOfTheCorpus asks every case of each connector. The answers are those
// of the corpus, which another evaluation has computed.
func TestEveryCaseOfTheCorpus(t *testing.T) {
	t.Parallel()
	cases := corpus.Cases()
	for n, served := range connectorCases {
		t.Run(served.name, func(t *testing.T) {
			t.Parallel()
			recorder := record(served.build())
			c := connectTo(t, recorder, nil)
			tried := 0
			for i, test := range cases {
				if !testrun.Runs(i+n, 8) {
					continue
				}
				tried++
				assert.NoError(t, casetest.Ask(t.Context(), c, test), "%s (%s)", test.Name, test.Why)
			}
			requests, faults := recorder.seen()
			require.GreaterOrEqual(t, len(requests), max(tried, 1), served.why)
			require.Empty(t, faults, "the document declares what is asked (route-6, document-15)")
		})
	}
}

// TestExplainCorpus explains the questions of the corpus and then asks them. The requests
// come as they were foretold, what is left to this side too, and none costs more.
func TestExplainCorpus(t *testing.T) {
	t.Parallel()
	for n, served := range connectorCases {
		if slices.Contains([]string{"nothing", "nothing served", "no served line", "declared and not served"}, served.name) {
			continue // they do not serve what they are asked for
		}
		t.Run(served.name, func(t *testing.T) {
			t.Parallel()
			r := record(served.build())
			c := connectTo(t, r, nil)
			r.seen()
			tried, explained := 0, 0
			for i, test := range corpus.Cases() {
				if !testrun.Runs(i+n, 8) {
					continue
				}
				tried++
				asked, most, err := c.Explain(test.Request)
				require.Empty(t, r.asked(t), "explaining asks nothing")
				if err != nil {
					require.ErrorContains(t, err, "cannot be explained", test.Name)
					continue
				}
				explained++
				_, spent, err := ask(t, c, test.Request)
				if err != nil {
					require.ErrorContains(t, err, "1001 groups", "which no row count tells before")
				}
				requests := r.asked(t)
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
			require.Greater(t, explained, tried*9/10)
		})
	}
}

// same reports whether a request is the one that was recorded.
func same(t *testing.T, want wire.Request, got recorded) bool {
	t.Helper()
	var body sent
	require.NoError(t, json.Unmarshal(testkit.Must(wire.EncodeRequest(want))(t), &body))
	return reflect.DeepEqual(body, got.body)
}

// TestExplain explains questions about 1,000 rows within limits, and asks them.
func TestExplain(t *testing.T) {
	t.Parallel()
	for _, c := range testkit.Table(t, "testdata/explained.tsv", 5) {
		why, words, known, asked, want := c[0], c[1], c[2] != "unknown", c[3], c[4]
		conn := connectTo(t, tabled(numbered(1000, known), words), nil)
		_, most, err := conn.Explain(question(asked))
		require.NoError(t, err, why)
		require.Equal(t, want, workOf(most), why)
		if strings.HasPrefix(asked, "query") {
			answered(t, conn, asked)
		}
	}
	conn := connectTo(t, tabled(numbered(3, true), ""), nil)
	for _, words := range []string{"query missing", "count missing", "aggregate numbered", "size numbered"} {
		_, _, err := conn.Explain(question(words))
		require.ErrorAs(t, err, new(*platform.RequestError), "%s has no answer", words)
	}
}
