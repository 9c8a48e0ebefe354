package killtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// oddity is a connector that few would write and that breaks no rule. None may fail anything, whatever the generated queries.
type oddity struct {
	name string
	why  string // the sentence that allows it
	// The oddity is in front of the shop and of the corpus, or it serves data of its own, or the corpus.
	layer   layer
	build   func() http.Handler
	corpus  func() http.Handler
	options func(*grading)
	rowless bool // no row can be judged
	// unadvised is advice that it must not get, as others that look alike do.
	unadvised string
}

// oddities returns all of them.
func oddities() []oddity {
	return slices.Concat(oddTransports, oddSpellings, oddAnswers, oddDeclarations, oddDiscoveries, oddTables, oddCorpora,
		oddAtOnce, oddPlaces, oddJoins)
}

// TestOddities grades every oddity with one seed: those in front of any data over live data and over the corpus, and those
// that serve the corpus in both modes; by default the second of them only in full. With CONFORMANCE_MATRIX=whole, it takes
// 20 seeds and all requests, and all phases over the corpus.
func TestOddities(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(oddities()), 80)
	for i, odd := range oddities() {
		if !testrun.Runs(i, 32) {
			continue
		}
		t.Run(odd.name, func(t *testing.T) {
			t.Parallel()
			if odd.corpus != nil {
				odd.passes(t, odd.corpus(), conformance.ModeFixture, 1)
				if testrun.InFull() {
					odd.passes(t, odd.corpus(), conformance.ModeLive, 1)
				}
				return
			}
			h := odd.build
			if h == nil {
				h = over(untouched, odd.layer)
			}
			odd.passes(t, h(), conformance.ModeLive, 1)
			if testrun.InFull() && odd.layer != nil {
				odd.passes(t, odd.layer(usual()), conformance.ModeFixture, 1)
			}
			for seed := uint64(2); testrun.Whole() && seed <= 20; seed++ {
				odd.passes(t, h(), conformance.ModeLive, seed)
				if seed%5 == 1 && odd.layer != nil { // the corpus is the same each time
					odd.passes(t, odd.layer(usual()), conformance.ModeBoth, seed)
				}
			}
		})
	}
}

func (odd oddity) passes(t *testing.T, h http.Handler, mode conformance.Mode, seed uint64) {
	t.Helper()
	g := grading{Options: conformance.Options{Mode: mode, Seed: seed, Timeout: 24 * time.Hour}}
	if !testrun.Whole() {
		g.Requests = map[conformance.Mode]int{conformance.ModeLive: 150, conformance.ModeFixture: 300}[mode]
	}
	if odd.options != nil {
		odd.options(&g)
	}
	r := grade(t, h, g)
	r.nothingFound(t, fmt.Sprintf("%s (mode %s, seed %d)", odd.why, r.Mode, r.Seed), conformance.Blocked)
	if o := r.Outcome(odd.unadvised); o != nil {
		r.has(t, conformance.Pass, odd.unadvised)
	}
	want := check.ExitPass
	if odd.rowless {
		want = check.ExitNotRun
	}
	require.Equal(t, want, r.Exit(), "%v", r.Err())
}

// oddTransports are what is odd about HTTP.
var oddTransports = []oddity{
	{name: "a connection for each answer", why: "HTTP lets a server close",
		layer: headers(func(header http.Header) { header.Set("Connection", "close") })},
	{name: "cookies", why: "no header is forbidden",
		layer: headers(func(header http.Header) { header.Set("Set-Cookie", "lb=7; Path=/; HttpOnly") })},
	{name: "headers of a gateway", why: "no header is forbidden", layer: headers(func(header http.Header) {
		for _, name := range []string{"Server", "Via", "X-Request-Id", "Etag", "X-Powered-By", "Strict-Transport-Security"} {
			header.Set(name, `"7"`)
		}
	})},
	{name: "a challenge with each 401", why: "HTTP wants one",
		layer: headers(func(header http.Header) { header.Set("Www-Authenticate", `Bearer realm="connector"`) })},
	{name: "content types with parameters", why: "a parameter changes no content type", layer: headers(func(header http.Header) {
		if t := header.Get("Content-Type"); t != "" {
			header.Set("Content-Type", strings.ToUpper(t)+"; charset=utf-8")
		}
	})},
	{name: "early hints", why: "HTTP allows informational answers", layer: func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			h.ServeHTTP(w, r)
		})
	}},
	{name: "a byte at a time", why: "chunks are of any size", layer: func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&trickle{ResponseWriter: w, left: 300}, r) })
	}},
	{name: "streams in one piece", why: "a stream that is complete at once needs no chunks", // that of the table slow is not
		build: over(untouched, buffered)},
	{name: "a path of its own", why: "the base URL is any https prefix, path included",
		layer:   func(h http.Handler) http.Handler { return http.StripPrefix("/tenants/7", h) },
		options: func(g *grading) { g.url = "https://in-process.test/tenants/7" }},
	{name: "one after the other", why: "requests may wait for each other", // but not behind the table slow
		build: over(untouched, func(h http.Handler) http.Handler {
			turn := make(chan struct{}, 1)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				bodyOf(r)
				turn <- struct{}{}
				defer func() { <-turn }()
				h.ServeHTTP(w, r)
			})
		})},
	{name: "two seconds for each answer", why: "a source may be slow", layer: delayed(late(2 * time.Second))},
	{name: "a time of its own for each answer", why: "a source may be slow now and then", layer: func(h http.Handler) http.Handler {
		below := chance(3)
		return delayed(func(*http.Request) time.Duration { return time.Duration(below(1500)) * time.Millisecond })(h)
	}},
}

func numbers(edit func(json.Number) any) layer {
	return cells(func(_ string, v any) any {
		if n, ok := v.(json.Number); ok {
			return edit(n)
		}
		return v
	})
}

func instants(edit func(text string) any) layer {
	return func(h http.Handler) http.Handler {
		names := datetimeFields()
		return cellTexts(func(name, text string) any {
			if names[name] {
				return edit(text)
			}
			return text
		})(h)
	}
}

// oddSpellings are what is odd about JSON and cells.
var oddSpellings = []oddity{
	{name: "blanks and carriage returns", why: "one JSON object per line, and JSON allows blanks",
		layer: lines(func(line []byte, emit func(...string)) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			if kind(line) == "end" {
				emit(`{ "end" : 1.0 }`) // and no newline
				return
			}
			emit(" "+strings.Replace(string(line), ":", " : ", 1), " \r\n")
		})},
	{name: "blanks everywhere", why: "JSON allows blanks",
		layer: respelt(func(token string) string { return " \t " + token + " \t " })},
	{name: "escapes everywhere", why: "JSON allows escapes", layer: respelt(escaped)},
	{name: "members the other way round", why: "members have no order", layer: rewritten(backwards)},
	{name: "integers with a point", why: "5.0 is an integer, by value", layer: respelt(func(token string) string {
		if _, err := strconv.ParseInt(token, 10, 64); err != nil {
			return token
		}
		return token + ".0"
	})},
	{name: "numbers with exponents", why: "1.5e+01 is the JSON number 15", layer: numbers(func(n json.Number) any {
		return json.RawMessage(withExponent(n))
	})},
	{name: "numbers as texts, everywhere", why: "a number may be a digit string", layer: numbers(func(n json.Number) any {
		return n.String()
	})},
	{name: "a zero with a sign", why: "-0 is 0", layer: numbers(func(n json.Number) any {
		if n == "0" {
			return json.RawMessage("-0")
		}
		return n
	})},
	{name: "datetimes of nine digits", why: "ISO 8601 allows any fraction", layer: instants(func(text string) any {
		at, err := time.Parse("2006-01-02T15:04:05.999999999Z", text)
		if err != nil {
			return text
		}
		return at.Format("2006-01-02T15:04:05.000000000Z")
	})},
	{name: "datetimes with +00:00", why: "ISO 8601 UTC, in any of its spellings", layer: instants(func(text string) any {
		if bare, zulu := strings.CutSuffix(text, "Z"); zulu {
			return bare + "+00:00"
		}
		return text
	})},
	{name: "rows with a number of their own", why: "a member that was not asked for is advised against, not forbidden",
		layer: lines(func(line []byte, emit func(...string)) {
			emit(strings.ReplaceAll(string(line), `},{`, `,"_rownum":7},{`))
		})},
	{name: "groups in digits", why: "a number may be a digit string", layer: edits(eachOf(func(row map[string]any) {
		for name, v := range row {
			if n, ok := v.(json.Number); ok {
				row[name] = n.String()
			}
		}
	}, "rows"), wire.PathAggregate)},
}

// datetimeFields returns the names that only datetimes have, in the shop and in the corpus.
func datetimeFields() map[string]bool {
	names, others := map[string]bool{"since": true}, map[string]bool{}
	for _, t := range corpus.Tables() {
		for _, f := range t.Fields {
			if f.Type == wire.TypeDatetime {
				names[f.Name] = true
			} else {
				others[f.Name] = true
			}
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return others[name] })
	return names
}

// batched cuts the rows of a stream into batches of its own.
func batched(size func() int) layer {
	return linesOf("rows", func(line []byte, emit func(...string)) {
		for rows := rowsOf(line); len(rows) > 0; {
			n := min(size(), len(rows))
			emit(string(marshalled(map[string]any{"rows": rows[:n]})), "\n")
			rows = rows[n:]
		}
	})
}

// stating replaces the served line.
func stating(claims func() string) layer {
	return linesOf("served", func(_ []byte, emit func(...string)) { emit(claims()) })
}

// serving says that filters and sort are served or not, and never the window.
func serving(filters, sort bool) layer {
	return stating(func() string {
		return fmt.Sprintf(`{"served":{"filters":%t,"sort":%t,"window":false}}`+"\n", filters, sort)
	})
}

// unwindowedAnd puts a layer in front of an unwindowed connector.
func unwindowedAnd(outer layer) layer {
	return func(h http.Handler) http.Handler { return outer(unwindowed(h)) }
}

// oddAnswers are what is odd about streams and measurements.
var oddAnswers = []oddity{
	{name: "a row a line", why: "between 1 and 5,000 rows", layer: batched(func() int { return 1 })},
	{name: "seven rows a line", why: "between 1 and 5,000 rows", layer: batched(func() int { return 7 })},
	{name: "a ping behind each line", why: "a further ping is not forbidden", layer: lines(func(line []byte, emit func(...string)) {
		emit(string(line))
		if k := kind(line); k == "served" || k == "rows" {
			emit(`{"ping":1}` + "\n")
		}
	})},
	{name: "a ping before each line", why: "a ping is written after 10 seconds without a batch; nothing forbids another",
		layer: lines(func(line []byte, emit func(...string)) { emit(`{"ping":1}`+"\n", string(line)) })},
	{name: "no claims at all", why: "a stream without a served line serves none of the three",
		layer: unwindowedAnd(stating(func() string { return "" }))},
	{name: "the window is left to the platform", why: "served.window may be false, if all rows come",
		layer: unwindowedAnd(serving(true, true))},
	{name: "nothing claimed", why: "serving none of the three is always safe", layer: unwindowedAnd(serving(false, false))},
	{name: "filters alone", why: "each of the three is served or not", layer: unwindowedAnd(serving(true, false))},
	{name: "claims by chance", why: "what is served is said by each stream", layer: func(h http.Handler) http.Handler {
		below := chance(5)
		return stating(func() string {
			return fmt.Sprintf(`{"served":{"filters":%t,"sort":%t,"window":false}}`+"\n", below(2) == 0, below(2) == 0)
		})(unwindowed(h))
	}},
	{name: "no size", why: "null means unknown", layer: ok(sets("size", nil), wire.PathSize)},
	{name: "a size by estimate", why: "exact is false when the source estimates",
		layer: ok(sets("size", map[string]any{"rows": 77, "exact": false}), wire.PathSize)},
	{name: "no counted column", why: "a column that cannot be counted distinctly answers null",
		layer: ok(func(body map[string]any) {
			for name := range body["columns"].(map[string]any) {
				body["columns"].(map[string]any)[name] = nil
			}
		}, wire.PathCardinality)},
	{name: "one sample", why: "at most 20", layer: ok(func(body map[string]any) {
		samples := body["orphanSamples"].([]any)
		body["orphanSamples"] = samples[:min(1, len(samples))]
	}, wire.PathLinkHitRate)},
	{name: "no sample", why: "an array of at most 20", layer: ok(sets("orphanSamples", []any{}), wire.PathLinkHitRate)},
	{name: "too many groups declined", why: "a judge accepts either for an overflow",
		layer: replacing(http.StatusUnprocessableEntity, nil, http.StatusNoContent, wire.PathAggregate)},
	{name: "unknown fields are bad requests", why: "a judge accepts 400, 404 and 422",
		layer: replacing(http.StatusUnprocessableEntity, envelope("bad_request", "no such field"), http.StatusBadRequest,
			wire.PathCount, wire.PathAggregate)},
	{name: "groups by one key alone", why: "204 declines, whatever is asked otherwise",
		layer: refusing(wire.PathAggregate, asks("groupBy>1"), http.StatusNoContent)},
	{name: "nothing folded", why: "204 declines", layer: replacing(http.StatusOK, nil, http.StatusNoContent, wire.PathAggregate)},
	{name: "folded now and then", why: "204 declines, whatever was answered before", layer: func(h http.Handler) http.Handler {
		below := chance(9)
		return answers(func(body map[string]any, status int) (any, int) {
			if status == http.StatusOK && below(2) == 0 {
				return nil, http.StatusNoContent
			}
			return body, status
		}, wire.PathAggregate)(h)
	}},
	{name: "groups in any order", why: "no order of groups is promised", layer: ok(func(body map[string]any) {
		slices.Reverse(body["rows"].([]any))
	}, wire.PathAggregate)},
	{name: "refusals in another language", why: "a message is for people", layer: answers(func(body map[string]any, status int) (any, int) {
		if e, ok := body["error"].(map[string]any); ok && e["code"] != "internal" {
			e["message"] = fmt.Sprint("Das geht leider nicht: ", e["message"], " ☹")
		}
		return body, status
	}, wholePaths...)},
}

func declaring(def connector.Definition, omit connector.Omit) func() http.Handler {
	return func() http.Handler { return serve(def, liveShop(), &connector.Options{Omit: omit}) }
}

func onlyOperators(ops ...wire.Op) []wire.Op {
	return slices.DeleteFunc(filter.Operators(), func(op wire.Op) bool { return slices.Contains(ops, op) })
}

// oddDeclarations are connectors that declare little, and what they declare oddly.
var oddDeclarations = []oddity{
	{name: "eq alone", why: "the document declares what it does",
		build: declaring(connector.Definition{}, connector.Omit{Operators: onlyOperators(wire.OpEq)})},
	{name: "isnull alone", why: "the document declares what it does",
		build: declaring(connector.Definition{}, connector.Omit{Operators: onlyOperators(wire.OpIsNull)})},
	{name: "in and gte", why: "the document declares what it does",
		build: declaring(connector.Definition{}, connector.Omit{Operators: onlyOperators(wire.OpIn, wire.OpGte), Sort: wire.SortSingle})},
	{name: "neither sort nor offset nor join", why: "the document declares what it does",
		build: declaring(connector.Definition{}, connector.Omit{Sort: wire.SortNone, Offset: true, Join: true, DateBucket: true})},
	{name: "a count and nothing else", why: "endpoints lists what is served",
		build: declaring(connector.Definition{}, connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointAggregate, wire.EndpointSize,
			wire.EndpointCardinality, wire.EndpointLinkHitRate}})},
	{name: "a link hit rate and nothing else", why: "endpoints lists what is served",
		build: declaring(connector.Definition{}, connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointAggregate, wire.EndpointSize,
			wire.EndpointCardinality, wire.EndpointCount}})},
	{name: "ten rows a page", why: "limits are obeyed", build: func() http.Handler {
		def := connector.Definition{Limits: wire.Limits{PageSizeMax: 10, OffsetMax: 15}}
		return ceilings(10, 15)(serve(def, liveShop(), nil))
	}},
	{name: "one request at a time", why: "limits.concurrency is 1", build: func() http.Handler {
		return oneAtATime(serve(connector.Definition{Limits: wire.Limits{Concurrency: 1}}, liveShop(), nil))
	}},
	{name: "a key that is not looked at", why: "credentials are what the connector declares", build: declaring(connector.Definition{
		Credentials: []wire.CredentialField{{Key: "region", Label: "Region", Type: wire.CredentialText}}}, connector.Omit{}),
		options: func(g *grading) { g.credentials = []map[string]string{{"region": "eu"}} }},
	{name: "secrets that are common words", why: "a tenant's secret is what the tenant typed; the document says it too",
		build: declaring(connector.Definition{Credentials: []wire.CredentialField{
			{Key: "password", Label: "Password", Type: wire.CredentialPassword, Help: "Ask your Administrator."},
			{Key: "secret", Label: "Client secret", Type: wire.CredentialPassword},
		}}, connector.Omit{}),
		options: func(g *grading) {
			g.credentials = []map[string]string{{"password": "password", "secret": "Administrator"}}
		}},
	{name: "members of a vendor in the document", why: "unknown top-level fields are stripped",
		layer: document(sets("x-vendor", map[string]any{"build": []any{"7", 7, nil}}))},
	{name: "members of a vendor in capabilities and limits", why: "advice at most", layer: document(func(body map[string]any) {
		capabilities := body["capabilities"].(map[string]any)
		capabilities["x-batch"] = true
		capabilities["limits"].(map[string]any)["burst"] = 9
	})},
	{name: "the time of the answer in the document", why: "unknown top-level fields are stripped",
		layer: document(func(body map[string]any) { body["servedAt"] = time.Now().String() })},
	{name: "a page for browsers", why: "the document is for programs",
		layer: between(func(w http.ResponseWriter, r *http.Request, _ *[]byte) bool {
			if strings.Contains(r.UserAgent(), "Mozilla") {
				sends(w, 200, "text/html", "<!doctype html>")
				return true
			}
			return false
		})},
	{name: "operators in any order", why: "an array of names", layer: document(func(body map[string]any) {
		ops, _ := body["capabilities"].(map[string]any)["operators"].([]any)
		rand.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] }) // another one each time
		endpoints, _ := body["endpoints"].([]any)
		slices.Reverse(endpoints)
	})},
}

func together(name, why string, l layer) oddity {
	served := streamedRows([]memsource.Table{hostTable("parts", "acme", 1900)}, func(*streaming) {})
	return oddity{name: name, why: why, build: over(served, l), options: func(g *grading) { g.Match = `^P3\.16[cd]$` }}
}

func oneQuery(h http.Handler) http.Handler {
	turn := sync.OnceValue(func() chan bool { return make(chan bool, 1) }) // made where time is that of the test
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == wire.PathQuery {
			turn() <- true
			defer func() { <-turn() }()
		}
		h.ServeHTTP(w, r)
	})
}

// oddAtOnce are what is odd about answers that are under way together.
var oddAtOnce = []oddity{
	together("one query is answered at a time", "a busy source lets requests wait", oneQuery),
	together("a query that was left is answered to its end", "a source may not know how to cancel", func(h http.Handler) http.Handler {
		return oneQuery(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
		}))
	}),
	together("filters are left to the platform beside others", "what is served is said by each stream", func(h http.Handler) http.Handler {
		left := unwindowed(bodies(sets("and", []any{}), wire.PathQuery)(serving(false, true)(h)))
		var queries atomic.Int64
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			served := h
			if r.URL.Path == wire.PathQuery {
				defer queries.Add(-1)
				if queries.Add(1) > 1 {
					served = left
				}
			}
			served.ServeHTTP(w, r)
		})
	}),
}

func withoutBudget(g *grading) { g.Requests = 0 } // advice is asked last

// oddPlaces are what is odd at one place only, as faults of the same places are, and legal.
var oddPlaces = []oddity{
	{name: "measures beside a filter are declined", why: "204 declines, whatever is asked otherwise",
		layer: refusing(wire.PathAggregate, func(body map[string]any) bool {
			return asks("and>0")(body) && having("measures", asks("fn=sum|min|max|count_distinct"))(body)
		}, http.StatusNoContent)},
	{name: "aggregates under neq and nin are declined", why: "204 declines, whatever is asked otherwise",
		layer: refusing(wire.PathAggregate, having("and", asks("op=eq|neq|in|nin")), http.StatusNoContent)},
	{name: "two periods of one date are declined", why: "204 declines, whatever is asked otherwise",
		layer: refusing(wire.PathAggregate, func(body map[string]any) bool {
			keys := listOf(body, "groupBy")
			return len(keys) > 1 && keys[0]["field"] == keys[1]["field"]
		}, http.StatusNoContent)},
	{name: "a second key downwards is left to the platform", why: "each of the three is served or not",
		layer: onlyFor(wire.PathQuery, func(body map[string]any) bool {
			return asks("sort>1")(body) && listOf(body, "sort")[1]["dir"] == "desc"
		}, unsorted)},
	{name: "ties the other way round, in every window", why: "any fixed order of ties will do", unadvised: "A.15", options: withoutBudget,
		build: stocked(firstHotels, twist{order: func(req *connector.Query, t *oracle.Table) { eachTie(t, req.Sort, slices.Reverse) }})},
	{name: "decimals have several spellings", why: "they are values of one type", unadvised: "M31", options: withoutBudget,
		build: stocked(respeltPrices, twist{})},
	{name: "operands with an offset are refused", why: "how an operand that is not UTC is read is our decision",
		unadvised: "M30", options: withoutBudget,
		layer: refusing(wire.PathQuery, having("and", func(f map[string]any) bool {
			for _, v := range append(alternatives(f, "values"), f["value"]) {
				if text, ok := v.(string); ok && isOffset(text) {
					return true
				}
			}
			return false
		}), http.StatusBadRequest)},
}
