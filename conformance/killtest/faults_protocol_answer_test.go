package killtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// forTable sends the requests that name the table to another connector than h.
func forTable(table string, h, other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chosen := h
		between(func(_ http.ResponseWriter, _ *http.Request, body *[]byte) bool {
			if tree := parsed(*body); tree["table"] == table || tree["fromTable"] == table {
				chosen = other
			}
			return false
		})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { chosen.ServeHTTP(w, r) })).ServeHTTP(w, r)
	})
}

// ofTable puts a layer in front of what is asked of one table.
func ofTable(table string, l layer) layer {
	return func(h http.Handler) http.Handler { return forTable(table, h, l(h)) }
}

// streamFaults break the form of the streams of one small table, which is read
// whole by one check and asked little else.
func streamFaults() []fault {
	const table = "code_links"
	// insteadOf replaces the lines of a kind.
	insteadOf := func(k string, texts ...string) func() http.Handler {
		return over(usual, ofTable(table, linesOf(k, func(_ []byte, emit func(...string)) { emit(texts...) })))
	}
	rows := func(text func(row json.RawMessage) string) func() http.Handler {
		return over(usual, ofTable(table, linesOf("rows", func(line []byte, emit func(...string)) {
			var list []string
			for _, row := range rowsOf(line) {
				list = append(list, text(row))
			}
			emit(`{"rows":[` + strings.Join(list, ",") + "]}\n")
		})))
	}
	return []fault{
		{name: "streams as JSON", why: "content type application/x-ndjson", kills: []string{"P3.6a"},
			build: over(usual, headers(func(h http.Header) {
				if strings.HasPrefix(h.Get("Content-Type"), terms.MediaNDJSON) {
					h.Set("Content-Type", terms.MediaJSON)
				}
			}))},
		{name: "a progress line", why: "the kinds of lines are five", kills: []string{"P3.6b"},
			build: insteadOf("end", `{"progress":100}`+"\n", `{"end":1}`+"\n")},
		{name: "served at the end", why: "served is the first line, before any row", kills: []string{"P3.6b"},
			build: insteadOf("end", `{"served":{"filters":true,"sort":true,"window":true}}`+"\n", `{"end":1}`+"\n")},
		{name: "served as an array", why: "booleans telling which parts were applied", kills: []string{"P3.6b"},
			build: insteadOf("served", `{"served":["filters"]}`+"\n")},
		{name: "an empty batch", why: "between 1 and 5,000 rows", kills: []string{"P3.6c"},
			build: insteadOf("end", `{"rows":[]}`+"\n", `{"end":1}`+"\n")},
		{name: "everything in one batch", why: "between 1 and 5,000 rows", kills: []string{"P3.6c"}, build: func() http.Handler {
			h := usual()
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var all []string
				lines(func(line []byte, emit func(...string)) {
					switch kind(line) {
					case "rows":
						for _, row := range rowsOf(line) {
							all = append(all, string(row))
						}
					case "end", "error":
						if len(all) > 0 {
							emit(`{"rows":[`+strings.Join(all, ",")+"]}\n", string(line))
							return
						}
						emit(string(line))
					default:
						emit(string(line))
					}
				})(h).ServeHTTP(w, r)
			})
		}},
		{name: "a line of 17 MiB", why: "a line is at most 16 MiB", kills: []string{"P3.6d"},
			build: insteadOf("end", `{"end":`, strings.Repeat(" ", 17<<20), "1}\n")},
		{name: "a ping after the end", why: "nothing follows the end", kills: []string{"P3.6e"},
			build: insteadOf("end", `{"end":1}`+"\n", `{"ping":1}`+"\n")},
		{name: "two ends", why: "end is written once", kills: []string{"P3.6e"}, build: insteadOf("end", `{"end":1}`+"\n", `{"end":1}`+"\n")},
		{name: "cells that are objects", why: "values are string, number, boolean or null", kills: []string{"P3.6f"},
			build: rows(func(row json.RawMessage) string { return strings.Replace(string(row), `{"id":`, `{"meta":{},"id":`, 1) })},
		{name: "a member twice in a row", why: "a row is an object, and its members stand once", kills: []string{"P3.6f"},
			build: rows(func(row json.RawMessage) string { return strings.Replace(string(row), `{"id":`, `{"id":0,"id":`, 1) })},
		{name: "rows as arrays", why: "a row is an object", kills: []string{"P3.6f"},
			build: rows(func(json.RawMessage) string { return `[1]` })},
		{name: "no end", why: "a stream that closes with neither end nor error is truncated", kills: []string{"P3.6g"}, build: insteadOf("end")},
		{name: "a stream that breaks off in a line", why: "a stream that closes with neither end nor error is truncated",
			kills: []string{"P3.6g"}, build: insteadOf("end", `{"rows":[{"id":`)},
	}
}

func answerFaults() []fault {
	// Of a table that no other check measures.
	changed := func(path string, edit func(body map[string]any) any) func() http.Handler {
		return func() http.Handler {
			h := usual()
			return forTable(manifestTable, h, answers(func(body map[string]any, status int) (any, int) {
				if status == 200 {
					return edit(body), status
				}
				return body, status
			}, path)(h))
		}
	}
	edited := func(path string, edit func(body map[string]any)) func() http.Handler {
		return changed(path, func(body map[string]any) any {
			edit(body)
			return body
		})
	}
	pads := func(path string) func() http.Handler {
		return over(usual, after(func(r *http.Request, rec *httptest.ResponseRecorder) {
			if r.URL.Path == path && rec.Code == 200 {
				rec.Body.Write(bytes.Repeat([]byte(" "), terms.MaxAnswerBytes))
			}
		}))
	}
	two := func(g *grading) {
		g.credentials = []map[string]string{{"apiKey": goodKey, "account": "acme"}, {"apiKey": otherKey, "account": "globex"}}
	}
	// quotes answers a body that does not parse with what edit makes of it.
	quotes := func(quote func(body []byte) string) func() http.Handler {
		return func() http.Handler {
			return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
				asked := r.Method == http.MethodPost && r.URL.Path == wire.PathCheck && r.Header.Get("Authorization") == "Bearer "+testToken
				if !asked || len(*body) == 0 || wire.Decode(*body, new(wire.CheckRequest)) == nil {
					return false
				}
				refuses(w, 400, "bad_request", "not a check: "+quote(*body))
				return true
			})(keyed(nil))
		}
	}
	return []fault{
		{name: "errors in plain text", why: "every non-2xx body is the envelope", kills: []string{"P3.10a"},
			build: over(usual, after(func(r *http.Request, rec *httptest.ResponseRecorder) {
				if r.URL.Path == wire.PathSize && rec.Code == 404 {
					rec.Body.Reset()
					rec.Body.WriteString("404 page not found")
				}
			}))},
		{name: "a 422 called bad_request", why: "status and code belong together", kills: []string{"P3.10b"},
			build: over(usual, after(func(r *http.Request, rec *httptest.ResponseRecorder) {
				if r.URL.Path == wire.PathCount && rec.Code == 422 {
					says(rec, 422, "bad_request", "no such field")
				}
			}))},
		{name: "check_failed on another route", why: "check_failed is for /check only", kills: []string{"P3.10b"},
			first: "P3.2: /size", because: "that refusal is the wrong answer",
			build: over(usual, after(func(r *http.Request, rec *httptest.ResponseRecorder) {
				if r.URL.Path == wire.PathSize && rec.Code == 404 {
					says(rec, 400, "check_failed", "no such table")
				}
			}))},
		{name: "an internal error that tells its cause", why: "the message is always internal error", kills: []string{"P3.10c"},
			first: "P3.3: not one JSON object", because: "that refusal is the wrong answer",
			harmless: "only a malformed request provokes it",
			build: over(usual, refusesWhere(500, "internal", "json: unexpected end of input at /srv/app/body.go:31",
				func(r *http.Request, body []byte) bool {
					return r.URL.Path == wire.PathCount && r.Header.Get("Authorization") == "Bearer "+testToken && len(body) > 0 && !json.Valid(body)
				}))},
		{name: "a count as text", why: "{ count: integer }", kills: []string{"P3.11a"},
			first: "P2.10: all rows", because: "it is the count of the first case",
			build: edited(wire.PathCount, func(body map[string]any) { body["count"] = fmt.Sprint(body["count"]) })},
		{name: "groups as a bare array", why: "every JSON answer is a wrapped object", kills: []string{"P3.11a"},
			build: changed(wire.PathAggregate, func(body map[string]any) any { return body["rows"] })},
		{name: "a column left out", why: "an answer for each column", kills: []string{"P3.11a"},
			build: edited(wire.PathCardinality, func(body map[string]any) { body["columns"] = map[string]any{} })},
		{name: "an answer of 33 MiB", why: "a JSON answer is at most 32 MiB", kills: []string{"P3.11b"},
			first: "P1.6", because: "it is the answer of /check", build: pads(wire.PathCheck)},
		{name: "a rate in percent", why: "orphanRate is orphanCount over fromNonNull", kills: []string{"P3.11c"},
			build: edited(wire.PathLinkHitRate, func(body map[string]any) {
				if rate, ok := body["orphanRate"].(json.Number); ok && rate != "0" {
					body["orphanRate"] = 0.5 * must(rate.Float64())
				}
			})},
		{name: "distinct counts rows", why: "distinct <= nonNull", kills: []string{"P3.11c"},
			build: edited(wire.PathCardinality, func(body map[string]any) {
				for _, c := range body["columns"].(map[string]any) {
					if c, ok := c.(map[string]any); ok {
						c["distinct"] = 1 + must(c["nonNull"].(json.Number).Int64())
					}
				}
			})},
		{name: "errors that quote the body", why: "no credential is echoed", kills: []string{"P3.12"}, options: two,
			build: quotes(func(body []byte) string { return string(body) })},
		{name: "errors that quote a credential in base64", why: "an encoding hides nothing", kills: []string{"P3.12"}, options: two,
			build: quotes(func([]byte) string { return base64.StdEncoding.EncodeToString([]byte(otherKey + ":")) })},
		{name: "the token in a header", why: "no answer holds the token", kills: []string{"P3.12"},
			build: over(usual, after(func(r *http.Request, rec *httptest.ResponseRecorder) {
				if r.URL.Path == wire.PathCheck && rec.Code == 200 {
					rec.Header().Set("X-Request", "authorization="+r.Header.Get("Authorization"))
				}
			}))},
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func adviceFaults() []fault {
	return []fault{
		{name: "plain http", why: "the base URL is https", kills: []string{"A.1"},
			options: func(g *grading) { g.url = "http://connector.example.com" }, build: usual},
		{name: "a private address", why: "the platform refuses private networks", kills: []string{"A.2"},
			options: func(g *grading) { g.url = "https://10.1.2.3/shop" }, build: func() http.Handler {
				return http.StripPrefix("/shop", usual())
			}},
		{name: "cardinality without size", why: "a connector serving /cardinality should serve /size too", kills: []string{"A.3"},
			build: func() http.Handler {
				return serve(connector.Definition{}, corpusSource(),
					&connector.Options{Omit: connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointSize}}})
			}},
		{name: "a ping before served", why: "only a slow source is pinged for before served", kills: []string{"A.4"},
			build: over(usual, linesOf("served", func(line []byte, emit func(...string)) { emit(`{"ping":1}`+"\n", string(line)) }))},
		{name: "a ceiling that is none", why: "answers exceed the declared rowsPerTableMax", kills: []string{"A.5"},
			build: func() http.Handler {
				return tablesOf(func(tables []any) []any {
					for _, t := range tables {
						delete(t.(map[string]any), "rowCount")
					}
					return tables
				})(serve(connector.Definition{Limits: wire.Limits{RowsPerTableMax: 10}}, corpusSource(), nil))
			}},
		{name: "the upstream's page size", why: "pageSizeMax bounds an answer, not a page of the upstream", kills: []string{"A.36"},
			build: func() http.Handler {
				return serve(connector.Definition{Limits: wire.Limits{PageSizeMax: 1000}}, corpusSource(), nil)
			}},
		{name: "decimals without their scale", why: "the scale is kept", kills: []string{"A.6"}, build: func() http.Handler {
			zeros := regexp.MustCompile(`^(-?\d+\.\d*?)0+$`)
			return cells(func(name string, v any) any {
				if text, ok := v.(string); ok && name == "amount" {
					return strings.TrimSuffix(zeros.ReplaceAllString(text, "$1"), ".")
				}
				return v
			})(usual())
		}},
		{name: "datetimes with an offset", why: "a datetime ends in Z", kills: []string{"A.7"}, build: func() http.Handler {
			zulu := regexp.MustCompile(`^(\d{4}-\d\d-\d\dT[\d:.]+)Z$`)
			return cells(func(name string, v any) any {
				if text, ok := v.(string); ok && name == "v_datetime" {
					return zulu.ReplaceAllString(text, "$1+00:00")
				}
				return v
			})(usual())
		}},
		{name: "rows with a further member", why: "row members are exactly the requested fields", kills: []string{"A.10"},
			build: over(usual, ofTable("codes", lines(func(line []byte, emit func(...string)) {
				emit(strings.Replace(string(line), `{"rows":[{`, `{"rows":[{"_row":1,`, 1))
			})))},
		{name: "unknown paths in plain text", why: "every refusal is the envelope", kills: []string{"A.11"},
			build: over(usual, between(func(w http.ResponseWriter, r *http.Request, _ *[]byte) bool {
				if strings.Contains(r.URL.Path, "no-such-route") {
					sends(w, 404, "text/plain", "404 page not found")
					return true
				}
				return false
			}))},
		{name: "the last of two members counts", why: "no duplicate member at any level", kills: []string{"A.12"},
			build: over(usual, requests(wire.PathQuery, func(map[string]any) bool { return true }))},
		{name: "answers that may be cached", why: "no-store", kills: []string{"A.13"},
			build: over(usual, headers(func(h http.Header) { h.Del("Cache-Control") }))},
		{name: "a token in the query string beside the header", why: "401 even beside a good header", kills: []string{"A.14"},
			build: lets(func(r *http.Request, presented string) bool {
				r.URL.RawQuery = ""
				return presented == "Bearer "+testToken
			})},
		{name: "a limit of 0 is none", why: "limit is an integer >= 1", kills: []string{"A.16"},
			build: over(usual, requests(wire.PathQuery, func(body map[string]any) bool {
				zero := body["limit"] == json.Number("0")
				if zero {
					delete(body, "limit")
				}
				return zero
			}))},
		{name: "unknown fields are 422 everywhere", why: "404 outside of filters", kills: []string{"A.17"},
			build: over(usual, refusesWhere(422, "unsupported", "no such field", func(r *http.Request, body []byte) bool {
				text := string(body)
				return r.URL.Path == wire.PathQuery && legal(r.URL.Path, body) && !unknownTable(body) &&
					strings.Contains(text, "no_such_field") && !strings.Contains(text, `"op"`)
			}))},
		{name: "answers with further members", why: "the protocol does not name them", kills: []string{"A.20"},
			build: over(usual, edits(func(body map[string]any) {
				body["took"] = 3
			}, wire.PathSize, wire.PathCount, wire.PathCheck, wire.PathDiscovery))},
	}
}
