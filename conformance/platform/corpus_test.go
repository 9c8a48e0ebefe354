package platform_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
func everything(def connector.Definition, omit connector.Omit) http.Handler {
	return built(def, testkit.Tables(corpusTables()...), omit)
}

func built(def connector.Definition, src connector.Source, omit connector.Omit) http.Handler {
	def.Slug = "corpus"
	opts := testkit.Quiet()
	opts.Omit = omit
	return testkit.New(testToken, def, src, opts)
}

// nothing hands out all rows of its tables.
var nothing = testkit.Source{Tables: corpusTables()}

// undeclared is what nothing's document leaves out besides the optional routes.
var undeclared = connector.Omit{
	Endpoints: []wire.Endpoint{wire.EndpointCount}, Operators: filter.Operators(), Sort: wire.SortNone, Offset: true,
}

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
			raw, err := json.Marshal(body)
			if err != nil {
				panic(err)
			}
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

// onPath answers one route by another handler.
func onPath(h http.Handler, path string, other http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			other(w, r)
			return
		}
		h.ServeHTTP(w, r)
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
	all := bodies(h, func(path string, body map[string]any) {
		if path == wire.PathQuery {
			body["and"], body["sort"] = []any{}, []any{}
			delete(body, "or")
			delete(body, "limit")
			delete(body, "offset")
		}
	})
	return onPath(all, wire.PathQuery, func(w http.ResponseWriter, r *http.Request) {
		all.ServeHTTP(&servedWriter{ResponseWriter: w, served: served}, r)
	})
}

// servedWriter replaces the served line. The library writes it in one piece.
type servedWriter struct {
	http.ResponseWriter
	served string
}

func (w *servedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *servedWriter) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, []byte(`{"served"`)) {
		return w.ResponseWriter.Write(p)
	}
	end := bytes.IndexByte(p, '\n') + 1
	if _, err := io.WriteString(w.ResponseWriter, w.served); err != nil {
		return 0, err
	}
	n, err := w.ResponseWriter.Write(p[end:])
	return end + n, err
}

// connectTo connects a handler, and reads no previews.
func connectTo(t testing.TB, h http.Handler, opts *platform.ConnectionOptions) *platform.Connection {
	t.Helper()
	own := platform.ConnectionOptions{DiscoverOnly: true}
	if opts != nil {
		own.Reach, own.Budget = opts.Reach, opts.Budget
	}
	return testkit.Must(platform.Connect(t.Context(), connect(t, h, platform.Options{}), wire.Credentials{}, &own))(t)
}

type connectorCase struct {
	name, why string
	build     func() http.Handler
}

// unserving serves the corpus but for what its document leaves out, and answers every query
// with all rows behind this line.
func unserving(omit connector.Omit, served string) func() http.Handler {
	return func() http.Handler { return unclaimed(everything(connector.Definition{}, omit), served) }
}

// omitting serves the corpus but for what its document leaves out.
func omitting(omit connector.Omit) func() http.Handler {
	return func() http.Handler { return everything(connector.Definition{}, omit) }
}

const noneServed = `{"served":{"filters":false,"sort":false,"window":false}}` + "\n"

// connectors are the ways in which the corpus is served: the less a connector
// does, the more is finished here.
var connectors = []connectorCase{
	{"everything", "tenant-9: what is declared is left to the connector", omitting(connector.Omit{})},
	{"nothing", "tenant-9: a connector without any capability is correct", func() http.Handler {
		return built(connector.Definition{}, nothing, undeclared)
	}},
	{"nothing served", "stream-11: what is declared need not be served",
		unserving(connector.Omit{Operators: filter.Operators()}, noneServed)},
	{"no served line", "stream-12: then nothing counts as served",
		unserving(connector.Omit{Operators: filter.Operators(), Join: true}, "")},
	{"declared and not served", "stream-11: filters too are applied here where they are not served",
		unserving(connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointCount, wire.EndpointAggregate}}, noneServed)},
	{"no joins", "document-13: the window is cut after the joins", omitting(connector.Omit{Join: true})},
	{"no operators", "document-9: the window is cut after the filters",
		omitting(connector.Omit{Operators: filter.Operators()})},
	{"some", "a request is divided", omitting(connector.Omit{
		Endpoints:  []wire.Endpoint{wire.EndpointSize, wire.EndpointLinkHitRate},
		Operators:  []wire.Op{wire.OpNeq, wire.OpIn, wire.OpContains, wire.OpLt, wire.OpIsNull},
		DateBucket: true, Join: true, Offset: true, Sort: wire.SortSingle,
	})},
	{"pages", "document-15: reads are planned within the limits", func() http.Handler {
		return bodies(everything(connector.Definition{Limits: wire.Limits{PageSizeMax: 900, RowsPerTableMax: 13_000}}, connector.Omit{}),
			atMost(900))
	}},
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
	for n, served := range connectors {
		t.Run(served.name, func(t *testing.T) {
			t.Parallel()
			recorder := record(served.build())
			c := connectTo(t, recorder, nil)
			for i, test := range cases {
				if !testrun.Runs(i+n, 3) {
					continue
				}
				if err := casetest.Ask(t.Context(), c, test); err != nil {
					t.Errorf("%s (%s): %v", test.Name, test.Why, err)
				}
			}
			requests, faults := recorder.seen()
			require.Greater(t, len(requests), map[bool]int{true: 100, false: 30}[testrun.InFull()], served.why)
			require.Empty(t, faults, "the document declares what is asked (route-6, document-15)")
		})
	}
}
