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

// askedOf puts a layer in front of what is asked of one table.
func askedOf(table string, l layer) layer {
	return onlyFor("", func(body map[string]any) bool { return body["table"] == table || body["fromTable"] == table }, l)
}

const linksTable = "code_links"

// insteadOf replaces the lines of a kind.
func insteadOf(k string, texts ...string) func() http.Handler {
	return over(usual, askedOf(linksTable, linesOf(k, func(_ []byte, emit func(...string)) { emit(texts...) })))
}

func eachRowText(text func(row json.RawMessage) string) func() http.Handler {
	return over(usual, askedOf(linksTable, linesOf("rows", func(line []byte, emit func(...string)) {
		var list []string
		for _, row := range rowsOf(line) {
			list = append(list, text(row))
		}
		emit(`{"rows":[` + strings.Join(list, ",") + "]}\n")
	})))
}

// streamFaults break the form of the streams of one small table, which is read whole by one check and asked little else.
var streamFaults = []fault{
	broken("streams as JSON", "content type application/x-ndjson", "P3.6a", over(usual, headers(func(h http.Header) {
		if strings.HasPrefix(h.Get("Content-Type"), terms.MediaNDJSON) {
			h.Set("Content-Type", terms.MediaJSON)
		}
	}))),
	broken("a progress line", "the kinds of lines are five", "P3.6b", insteadOf("end", `{"progress":100}`+"\n", `{"end":1}`+"\n")),
	broken("served at the end", "served is the first line, before any row", "P3.6b",
		insteadOf("end", `{"served":{"filters":true,"sort":true,"window":true}}`+"\n", `{"end":1}`+"\n")),
	broken("served as an array", "booleans telling which parts were applied", "P3.6b",
		insteadOf("served", `{"served":["filters"]}`+"\n")),
	broken("an empty batch", "between 1 and 5,000 rows", "P3.6c", insteadOf("end", `{"rows":[]}`+"\n", `{"end":1}`+"\n")),
	broken("everything in one batch", "between 1 and 5,000 rows", "P3.6c", over(usual, withRequest(func(*http.Request) layer {
		var all []string
		return lines(func(line []byte, emit func(...string)) {
			switch k := kind(line); {
			case k == "rows":
				for _, row := range rowsOf(line) {
					all = append(all, string(row))
				}
				return
			case len(all) > 0 && (k == "end" || k == "error"):
				emit(`{"rows":[` + strings.Join(all, ",") + "]}\n")
			}
			emit(string(line))
		})
	}))),
	broken("a line of 17 MiB", "a line is at most 16 MiB", "P3.6d",
		insteadOf("end", `{"end":`, strings.Repeat(" ", 17<<20), "1}\n")),
	broken("a ping after the end", "nothing follows the end", "P3.6e", insteadOf("end", `{"end":1}`+"\n", `{"ping":1}`+"\n")),
	broken("two ends", "end is written once", "P3.6e", insteadOf("end", `{"end":1}`+"\n", `{"end":1}`+"\n")),
	broken("cells that are objects", "values are string, number, boolean or null", "P3.6f",
		eachRowText(func(row json.RawMessage) string { return strings.Replace(string(row), `{"id":`, `{"meta":{},"id":`, 1) })),
	broken("a member twice in a row", "a row is an object, and its members stand once", "P3.6f",
		eachRowText(func(row json.RawMessage) string { return strings.Replace(string(row), `{"id":`, `{"id":0,"id":`, 1) })),
	broken("rows as arrays", "a row is an object", "P3.6f", eachRowText(func(json.RawMessage) string { return `[1]` })),
	broken("no end", "a stream that closes with neither end nor error is truncated", "P3.6g", insteadOf("end")),
	broken("a stream that breaks off in a line", "a stream that closes with neither end nor error is truncated", "P3.6g",
		insteadOf("end", `{"rows":[{"id":`)),
}

// editedAnswer edits the answers about a table that no other check measures.
func editedAnswer(path string, edit func(body map[string]any)) func() http.Handler {
	return over(usual, askedOf(manifestTable, ok(edit, path)))
}

func twoKeys(g *grading) {
	g.credentials = []map[string]string{{"apiKey": goodKey, "account": "acme"}, {"apiKey": otherKey, "account": "globex"}}
}

// quotingBody answers a body that does not parse with what edit makes of it.
func quotingBody(quote func(body []byte) string) func() http.Handler {
	return over(keyed(nil), between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		asked := r.Method == http.MethodPost && r.URL.Path == wire.PathCheck && r.Header.Get("Authorization") == "Bearer "+testToken
		if !asked || len(*body) == 0 || legal(wire.PathCheck, *body) {
			return false
		}
		refuses(w, 400, "bad_request", "not a check: "+quote(*body))
		return true
	}))
}

var answerFaults = []fault{
	broken("errors in plain text", "every non-2xx body is the envelope", "P3.10a",
		over(usual, withStatus(404, func(_ *http.Request, rec *httptest.ResponseRecorder) {
			rec.Body = bytes.NewBufferString("404 page not found")
		}, wire.PathSize))),
	broken("a 422 called bad_request", "status and code belong together", "P3.10b",
		over(usual, withStatus(422, saying(422, "bad_request", "no such field"), wire.PathCount))),
	broken("check_failed on another route", "check_failed is for /check only", "P3.10b",
		over(usual, withStatus(404, saying(400, "check_failed", "no such table"), wire.PathSize))).
		behind("P3.2: /size", "that refusal is the wrong answer"),
	broken("an internal error that tells its cause", "the message is always internal error", "P3.10c",
		over(usual, refusesWhere(500, "internal", "json: unexpected end of input at /srv/app/body.go:31",
			func(r *http.Request, body []byte) bool {
				return r.URL.Path == wire.PathCount && r.Header.Get("Authorization") == "Bearer "+testToken && len(body) > 0 && !json.Valid(body)
			}))).behind("P3.3: not one JSON object", "that refusal is the wrong answer").
		accepted("only a malformed request provokes it"),
	broken("a count as text", "{ count: integer }", "P3.11a",
		editedAnswer(wire.PathCount, func(body map[string]any) { body["count"] = fmt.Sprint(body["count"]) })).
		behind("P2.10: all rows", "it is the count of the first case"),
	broken("groups as a bare array", "every JSON answer is a wrapped object", "P3.11a",
		over(usual, askedOf(manifestTable, barely("rows", wire.PathAggregate)))),
	broken("a column left out", "an answer for each column", "P3.11a",
		editedAnswer(wire.PathCardinality, sets("columns", map[string]any{}))),
	broken("an answer of 33 MiB", "a JSON answer is at most 32 MiB", "P3.11b",
		over(usual, withStatus(200, func(_ *http.Request, rec *httptest.ResponseRecorder) {
			rec.Body.Write(bytes.Repeat([]byte(" "), terms.MaxAnswerBytes))
		}, wire.PathCheck))).behind("P1.6", "it is the answer of /check"),
	broken("a rate in percent", "orphanRate is orphanCount over fromNonNull", "P3.11c",
		over(usual, askedOf(manifestTable, rated(func(rate float64) float64 { return rate / 2 })))),
	broken("distinct counts rows", "distinct <= nonNull", "P3.11c", editedAnswer(wire.PathCardinality,
		eachColumn(func(c map[string]any) { c["distinct"] = 1 + integer(c, "nonNull") }))),
	broken("errors that quote the body", "no credential is echoed", "P3.12",
		quotingBody(func(body []byte) string { return string(body) })).graded(twoKeys),
	broken("errors that quote a credential in base64", "an encoding hides nothing", "P3.12",
		quotingBody(func([]byte) string { return base64.StdEncoding.EncodeToString([]byte(otherKey + ":")) })).graded(twoKeys),
	broken("the token in a header", "no answer holds the token", "P3.12",
		over(usual, withStatus(200, func(r *http.Request, rec *httptest.ResponseRecorder) {
			rec.Header().Set("X-Request", "authorization="+r.Header.Get("Authorization"))
		}, wire.PathCheck))),
}

var lastZeros, zulu = regexp.MustCompile(`^(-?\d+\.\d*?)0+$`), regexp.MustCompile(`^(\d{4}-\d\d-\d\dT[\d:.]+)Z$`)

var adviceFaults = []fault{
	broken("plain http", "the base URL is https", "A.1", usual).graded(func(g *grading) { g.url = "http://connector.example.com" }),
	broken("a private address", "the platform refuses private networks", "A.2",
		over(usual, func(h http.Handler) http.Handler { return http.StripPrefix("/shop", h) })).
		graded(func(g *grading) { g.url = "https://10.1.2.3/shop" }),
	broken("cardinality without size", "a connector serving /cardinality should serve /size too", "A.3",
		ofCorpus(connector.Definition{}, connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointSize}})),
	broken("a ping before served", "only a slow source is pinged for before served", "A.4",
		over(usual, linesOf("served", func(line []byte, emit func(...string)) { emit(`{"ping":1}`+"\n", string(line)) }))),
	broken("a ceiling that is none", "answers exceed the declared rowsPerTableMax", "A.5",
		over(limited(wire.Limits{RowsPerTableMax: 10}), eachTable(drops("rowCount")))),
	broken("the upstream's page size", "pageSizeMax bounds an answer, not a page of the upstream", "A.36",
		limited(wire.Limits{PageSizeMax: 1000})),
	broken("decimals without their scale", "the scale is kept", "A.6", over(usual, textsOf("amount", func(text string) any {
		return strings.TrimSuffix(lastZeros.ReplaceAllString(text, "$1"), ".")
	}))),
	broken("datetimes with an offset", "a datetime ends in Z", "A.7",
		over(usual, textsOf("v_datetime", func(text string) any { return zulu.ReplaceAllString(text, "$1+00:00") }))).
		behind("A.7, or P2.17", "parts of a text are looked for in another spelling than is answered"),
	broken("rows with a further member", "row members are exactly the requested fields", "A.10",
		over(usual, askedOf("codes", lines(func(line []byte, emit func(...string)) {
			emit(strings.Replace(string(line), `{"rows":[{`, `{"rows":[{"_row":1,`, 1))
		})))),
	broken("unknown paths in plain text", "every refusal is the envelope", "A.11",
		over(usual, between(func(w http.ResponseWriter, r *http.Request, _ *[]byte) bool {
			if strings.Contains(r.URL.Path, "no-such-route") {
				sends(w, 404, "text/plain", "404 page not found")
				return true
			}
			return false
		}))),
	broken("the last of two members counts", "no duplicate member at any level", "A.12",
		over(usual, between(func(_ http.ResponseWriter, r *http.Request, body *[]byte) bool {
			if tree := parsed(*body); r.URL.Path == wire.PathQuery && tree != nil {
				*body = marshalled(tree)
			}
			return false
		}))),
	broken("answers that may be cached", "no-store", "A.13", over(usual, headers(func(h http.Header) { h.Del("Cache-Control") }))),
	broken("a token in the query string beside the header", "401 even beside a good header", "A.14",
		lets(func(r *http.Request, presented string) bool {
			r.URL.RawQuery = ""
			return presented == "Bearer "+testToken
		})),
	broken("a limit of 0 is none", "limit is an integer >= 1", "A.16",
		over(usual, requests(wire.PathQuery, func(body map[string]any) {
			if body["limit"] == json.Number("0") {
				delete(body, "limit")
			}
		}))),
	broken("unknown fields are 422 everywhere", "404 outside of filters", "A.17",
		over(usual, refusesWhere(422, "unsupported", "no such field", func(r *http.Request, body []byte) bool {
			text := string(body)
			return r.URL.Path == wire.PathQuery && legal(r.URL.Path, body) && !unknownTable(body) &&
				strings.Contains(text, "no_such_field") && !strings.Contains(text, `"op"`)
		}))),
	broken("answers with further members", "the protocol does not name them", "A.20", over(usual, edits(sets("took", 3),
		wire.PathSize, wire.PathCount, wire.PathCheck, wire.PathDiscovery))),
}
