package conformance_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// unusual returns connectors that few would write and that break no rule of the
// protocol. None may fail anything.
var unusual = []struct {
	name  string
	why   string // the sentence that allows it
	mode  conformance.Mode
	build func() http.Handler
	// rowless connectors have no row that could be judged.
	rowless bool
}{
	{
		name: "no served line", why: "a stream without a served line counts as serving none of the three",
		build: over(usual, unwindowed, stating(func() string { return "" })),
	},
	{
		name: "nothing claimed", why: "serving none of the three is always safe",
		build: over(usual, unwindowed, serving(false, false)),
	},
	{
		name: "a superset of the rows", why: "a filter the connector does not push may be answered with a superset, with served.filters false",
		build: func() http.Handler { return everything(corpus.Tables()) },
	},
	{
		name: "one row a line", why: "between 1 and 5,000 rows",
		build: over(usual, batched(func() int { return 1 })),
	},
	{
		name: "pings before and between", why: "a ping is written after 10 seconds without a batch; nothing forbids another",
		build: over(usual, lines(func(line []byte, emit func(...string)) { emit(`{"ping":1}`+"\n", string(line)) })),
	},
	{
		name: "blanks and carriage returns", why: "one JSON object per line, and JSON allows blanks",
		build: over(usual, lines(func(line []byte, emit func(...string)) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			if kind(line) == "end" {
				emit(`{ "end" : 1.0 }`) // and no newline
				return
			}
			emit(" "+strings.Replace(string(line), ":", " : ", 1), " \r\n")
		})),
	},
	{
		name: "content types with parameters", why: "a parameter changes no content type",
		build: over(usual, headers(func(h http.Header) {
			if t := h.Get("Content-Type"); t != "" {
				h.Set("Content-Type", strings.ToUpper(t)+"; charset=utf-8")
			}
		})),
	},
	{
		name: "an unknown size", why: "{ size: null } means unknown",
		build: over(usual, ok(func(body map[string]any) {
			body["size"] = nil
		}, wire.PathSize)),
	},
	{
		name: "estimates", why: "exact is false when the source estimates",
		build: over(usual, ok(func(body map[string]any) {
			body["size"] = map[string]any{"rows": 1000, "exact": false}
		}, wire.PathSize)),
	},
	{
		name: "every aggregate declined", why: "204 with no body to decline",
		build: over(usual, answers(func(body map[string]any, status int) (any, int) {
			if status == http.StatusOK {
				return nil, http.StatusNoContent
			}
			return body, status
		}, wire.PathAggregate)),
	},
	{
		name: "too many groups declined", why: "a judge accepts either for an overflow",
		build: over(usual, answers(func(body map[string]any, status int) (any, int) {
			if status == http.StatusUnprocessableEntity {
				return nil, http.StatusNoContent
			}
			return body, status
		}, wire.PathAggregate)),
	},
	{
		name: "no column counted", why: "a column that cannot be counted distinctly answers null",
		build: over(usual, edits(func(body map[string]any) {
			if columns, ok := body["columns"].(map[string]any); ok {
				for name := range columns {
					columns[name] = nil
				}
			}
		}, wire.PathCardinality)),
	},
	{
		name: "no orphan samples", why: "an array of at most 20",
		build: over(usual, ok(func(body map[string]any) {
			body["orphanSamples"] = []any{}
		}, wire.PathLinkHitRate)),
	},
	{
		name: "unknown members in the document", why: "unknown top-level fields are stripped by the reader",
		build: over(usual, edits(func(body map[string]any) {
			body["vendor"] = map[string]any{"name": "Example", "tags": []any{1, nil}}
		}, wire.PathDocument)),
	},
	{
		name: "nothing declared", why: "a connector that pushes nothing is correct but slower",
		build: func() http.Handler {
			return serve(connector.Definition{}, corpusSource(), &connector.Options{Omit: connector.Omit{
				Endpoints: []wire.Endpoint{wire.EndpointSize, wire.EndpointCount, wire.EndpointAggregate,
					wire.EndpointCardinality, wire.EndpointLinkHitRate},
				Operators: filter.Operators(), Sort: wire.SortNone, Offset: true, Join: true, DateBucket: true,
			}})
		},
	},
	{
		name: "one sort key, no offset, few operators", why: "the document declares what it does",
		build: func() http.Handler {
			return serve(connector.Definition{Limits: wire.Limits{PageSizeMax: 500, RowsPerTableMax: 100_000,
				Concurrency: 1, OffsetMax: 100}}, corpusSource(), &connector.Options{Omit: connector.Omit{
				Operators: []wire.Op{wire.OpContains, wire.OpIncludes, wire.OpStartsWith, wire.OpNin}, Sort: wire.SortSingle, Offset: true,
			}})
		},
	},
	{
		name: "numbers as strings everywhere", why: "decimals and integers beyond 2^53 as digit-exact strings; a smaller number may be one too",
		build: over(usual, cells(func(_ string, v any) any {
			if n, ok := v.(json.Number); ok {
				return n.String()
			}
			return v
		})),
	},
	{
		name: "rows in another order each time", why: "a request without a sort names no order, and ties may stand in any",
		build: func() http.Handler { return serve(connector.Definition{}, shuffledSource(), nil) },
	},
	{
		name: "datetimes with +00:00", why: "ISO 8601 UTC, in any of its spellings",
		build: func() http.Handler {
			datetimes := map[string]bool{}
			for _, t := range corpus.Tables() {
				for _, f := range t.Fields {
					datetimes[f.Name] = f.Type == wire.TypeDatetime
				}
			}
			return cells(func(name string, v any) any {
				text, ok := v.(string)
				if bare, zulu := strings.CutSuffix(text, "Z"); ok && zulu && datetimes[name] {
					return bare + "+00:00"
				}
				return v
			})(usual())
		},
	},
	{
		name: "unknown fields are bad requests", why: "a judge accepts 400, 404 and 422",
		build: over(usual, answers(func(body map[string]any, status int) (any, int) {
			if status == http.StatusUnprocessableEntity {
				return map[string]any{"error": map[string]any{"code": "bad_request", "message": "no such field"}}, http.StatusBadRequest
			}
			return body, status
		}, wire.PathCount, wire.PathAggregate)),
	},
	{
		name: "no tables", why: "an array of tables, which may be empty", mode: conformance.ModeLive, rowless: true,
		build: func() http.Handler { return serve(connector.Definition{}, source(), nil) },
	},
	{
		name: "empty tables", why: "a table may hold no rows", mode: conformance.ModeLive, rowless: true,
		build: func() http.Handler {
			var tables []memsource.Table
			for _, t := range corpus.Tables() {
				t.Rows = nil
				for i := range t.Fields {
					t.Fields[i].Samples = nil
				}
				tables = append(tables, memsource.Table(t))
			}
			return serve(connector.Definition{KeysEnforced: true}, source(tables...), nil)
		},
	},
	{
		name: "a table without columns that can be compared",
		why:  "fields say of themselves whether they can be filtered, grouped, aggregated", mode: conformance.ModeLive,
		build: func() http.Handler {
			no := false
			t := corpus.Tables()[slices.IndexFunc(corpus.Tables(), func(t corpus.Table) bool { return t.Name == "customers" })]
			for i := range t.Fields {
				t.Fields[i].Filterable, t.Fields[i].Groupable, t.Fields[i].Aggregatable = &no, &no, &no
			}
			return serve(connector.Definition{}, source(memsource.Table(t)), nil)
		},
	},
}

// TestUnusual grades every unusual connector with the whole program.
func TestUnusual(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(unusual), 12)
	for i, u := range unusual {
		if !testrun.Runs(i, 12) {
			continue
		}
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, u.build(), grading{Options: conformance.Options{Mode: u.mode, Requests: testrun.Budget(200)}})
			for _, o := range r.Failures() {
				t.Errorf("%s: but %s %s: %s\nexpected %s\nreceived %s\n%+v", u.why, o.ID, o.Title, o.Detail, o.Expected, o.Received, o.Request)
			}
			want := conformance.ExitPass
			if u.rowless {
				want = conformance.ExitNotRun
			}
			require.Equal(t, want, r.Exit(), "%v", r.Err())
		})
	}
}

// usual returns the corpus served by the library in full.
func usual() http.Handler { return serve(connector.Definition{}, corpusSource(), nil) }

func source(tables ...memsource.Table) memsource.Source {
	src, err := memsource.New(tables, nil)
	if err != nil {
		panic(err)
	}
	return src
}

// headers edits the headers of every answer.
func headers(edit func(http.Header)) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&headerEditor{w, edit}, r) })
	}
}

type headerEditor struct {
	http.ResponseWriter
	edit func(http.Header)
}

func (w *headerEditor) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *headerEditor) WriteHeader(status int) {
	w.edit(w.Header())
	w.ResponseWriter.WriteHeader(status)
}

// unwindowed keeps limits and offsets from a connector, which so answers
// all rows that the filters keep.
func unwindowed(h http.Handler) http.Handler {
	return bodies(func(body map[string]any) {
		delete(body, "limit")
		delete(body, "offset")
	}, wire.PathQuery)(h)
}

// shuffledSource holds its rows in an order of its own.
func shuffledSource() connector.Source {
	var tables []memsource.Table
	random := rand.New(rand.NewPCG(7, 7))
	for _, t := range corpus.Tables() {
		random.Shuffle(len(t.Rows), func(i, j int) { t.Rows[i], t.Rows[j] = t.Rows[j], t.Rows[i] })
		tables = append(tables, memsource.Table(t))
	}
	return source(tables...)
}

// everything returns a connector without this SDK that answers every query with all
// rows of its table, and leaves the rest to the platform.
func everything(tables []corpus.Table) http.Handler {
	discovery := wire.Discovery{}
	streams := map[string][]byte{}
	for _, t := range tables {
		discovery.Tables = append(discovery.Tables, t.Table)
		var names []string
		for _, f := range t.Fields {
			names = append(names, f.Name)
		}
		var out bytes.Buffer
		w := ndjson.NewWriter(&out)
		if err := w.Begin(wire.Served{}, names...); err != nil {
			panic(err)
		}
		for _, row := range t.Rows {
			if err := w.Row(row...); err != nil {
				panic(err)
			}
		}
		if err := w.End(); err != nil {
			panic(err)
		}
		streams[t.Name] = out.Bytes()
	}
	refuse := func(w http.ResponseWriter, code wire.Code, message string) {
		w.WriteHeader(code.Status())
		body, _ := wire.EncodeAnswer(&wire.ErrorAnswer{Error: wire.Error{Code: code, Message: message}})
		_, _ = w.Write(body)
	}
	answer := func(w http.ResponseWriter, m wire.Answer) {
		body, err := wire.EncodeAnswer(m)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(body)
	}
	document := &wire.Document{ProtocolVersion: 1, Slug: "everything", Capabilities: wire.Capabilities{Sort: wire.SortNone}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", terms.MediaJSON)
		if r.URL.Path == wire.PathDocument {
			answer(w, document)
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+testToken || r.URL.RawQuery != "" {
			refuse(w, wire.CodeUnauthorized, "no")
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		switch r.URL.Path {
		case wire.PathCheck:
			if err := wire.Decode(body, new(wire.CheckRequest)); err != nil {
				refuse(w, wire.CodeBadRequest, err.Error())
				return
			}
			answer(w, &wire.CheckAnswer{OK: true})
		case wire.PathDiscovery:
			if err := wire.Decode(body, new(wire.DiscoveryRequest)); err != nil {
				refuse(w, wire.CodeBadRequest, err.Error())
				return
			}
			answer(w, &discovery)
		case wire.PathQuery:
			var req wire.QueryRequest
			if err := wire.Decode(body, &req); err != nil {
				refuse(w, wire.CodeBadRequest, err.Error())
				return
			}
			i := slices.IndexFunc(discovery.Tables, func(t wire.Table) bool { return t.Name == req.Table })
			if i < 0 {
				refuse(w, wire.CodeUnknownEntity, "no such table")
				return
			}
			for _, group := range append([][]wire.Filter{req.And}, req.Or...) {
				for _, f := range group {
					if discovery.Tables[i].Field(f.Field) == nil {
						refuse(w, wire.CodeUnsupported, "no such field")
						return
					}
				}
			}
			for _, name := range append(slices.Clone(req.Fields), sortFields(req.Sort)...) {
				if discovery.Tables[i].Field(name) == nil {
					refuse(w, wire.CodeUnknownEntity, "no such field")
					return
				}
			}
			if len(req.Joins) > 0 {
				refuse(w, wire.CodeUnsupported, "no joins")
				return
			}
			w.Header().Set("Content-Type", terms.MediaNDJSON)
			_, _ = w.Write(streams[req.Table])
		default:
			refuse(w, wire.CodeNotFound, "no such route")
		}
	})
}

func sortFields(keys []wire.SortKey) (names []string) {
	for _, k := range keys {
		names = append(names, k.Field)
	}
	return names
}
