package platform_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
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
func everything(words string) http.Handler { return built(testkit.Tables(corpusTables()...), words) }

// nothing hands out all rows of its tables.
var nothing = testkit.Source{Tables: corpusTables()}

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

// connectors are the ways in which the corpus is served: the less a connector
// does, the more is finished here.
var connectors = []connectorCase{
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
