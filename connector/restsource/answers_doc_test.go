package restsource_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var update = flag.Bool("update", false, "write ANSWERS.md anew")

// paging is a way to page through the twelve rows of lossy, five in a page.
type paging struct {
	name  string
	pages restsource.Pages
}

var pagings = []paging{
	{"cursor", sized(byCursor, 5)}, {"has more", sized(withMore(byCursor), 5)}, {"page", sized(byPage, 5)},
	{"offset", sized(byOffset, 5)}, {"url", sized(byURL, 5)}, {"link", sized(byLink, 5)}, {"last row", sized(withMore(byKey), 5)},
}

// bend changes an answer in the middle of a read.
type bend = func(l *lossy, body map[string]any) (*http.Response, error)

// lossy is an API of twelve rows, one of whose answers is bent.
type lossy struct {
	numbers *numbers
	at      int // the number of the answer that is bent
	bend    bend
	asked   int
	first   string // the first answer
}

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := testkit.Over(l.numbers).RoundTrip(r)
	if err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		return nil, err
	}
	if l.asked++; l.asked == l.at {
		return l.bend(l, body)
	}
	return l.answer(body), nil
}

func (l *lossy) answer(body map[string]any) *http.Response {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	if l.first == "" {
		l.first = string(text)
	}
	res := reply(200, string(text))
	if next, ok := body["next"].(string); ok {
		res.Header.Set("Link", "<"+next+`>; rel="next"`)
	}
	return res
}

// bends are what can be wrong with one answer in the middle of a read.
var bends = []struct {
	name string
	bend bend
}{
	{"nothing", func(l *lossy, body map[string]any) (*http.Response, error) {
		return l.answer(body), nil
	}},
	{"status 202", withStatus(202)}, {"status 204", withStatus(204)},
	{"status 206", func(l *lossy, body map[string]any) (*http.Response, error) {
		res := l.answer(body)
		res.StatusCode = 206
		return res, nil
	}},
	{"status 302", withStatus(302)}, {"status 400", withStatus(400)}, {"status 401", withStatus(401)}, {"status 403", withStatus(403)},
	{"status 404", withStatus(404)}, {"status 410", withStatus(410)}, {"status 416", withStatus(416)}, {"status 500", withStatus(500)},
	{"status 502, once", withStatus(502)}, {"status 503, once", withStatus(503)},
	{"status 429, once", withStatus(429)},
	{"status 429, for an hour", func(*lossy, map[string]any) (*http.Response, error) {
		return reply(429, "", "Retry-After: 3600"), nil
	}},
	{"the connection breaks, once", func(*lossy, map[string]any) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }},
	{"the body breaks off", func(l *lossy, _ map[string]any) (*http.Response, error) {
		res := reply(200, "")
		res.Body = io.NopCloser(io.MultiReader(strings.NewReader(l.first[:20]), brokenReader{io.ErrUnexpectedEOF}))
		return res, nil
	}},
	{"half of the JSON", text(func(l *lossy) string { return l.first[:len(l.first)/2] })},
	{"no body", text(func(*lossy) string { return "" })},
	{"a sentence", text(func(*lossy) string { return "upstream request timeout" })},
	{"HTML", func(*lossy, map[string]any) (*http.Response, error) {
		return reply(200, "<html>Please log in</html>", "Content-Type: text/html"), nil
	}},
	{"two answers in one", text(func(l *lossy) string { return l.first + l.first })},
	{"bad UTF-8", text(func(l *lossy) string { return strings.Replace(l.first, "n1", "\xff", 1) })},
	{"a duplicate member", text(func(l *lossy) string { return strings.Replace(l.first, `"rows"`, `"rows":[],"rows"`, 1) })},
	{"null", text(func(*lossy) string { return "null" })},
	{"an empty object", text(func(*lossy) string { return "{}" })},
	{"an empty list", text(func(*lossy) string { return "[]" })},
	{"rows are absent", without("rows")},
	{"rows are null", with("rows", nil)},
	{"rows are empty, and the place of the next page is right", with("rows", []any{})},
	{"rows are empty, and nothing else is there",
		text(func(*lossy) string { return `{"rows":[],"total":12,"more":false,"cursor":null,"next":null}` })},
	{"rows are a text", with("rows", "none")},
	{"rows are an object", with("rows", map[string]any{"items": []any{}})},
	{"a row is null", with("rows", []any{nil})},
	{"a row is a list", with("rows", []any{[]any{1}})},
	{"rows have another name", func(l *lossy, body map[string]any) (*http.Response, error) {
		body["Rows"] = body["rows"]
		delete(body, "rows")
		return l.answer(body), nil
	}},
	{"a row has no key", with("rows", []any{map[string]any{"name": "x"}})},
	{"a row has a key of another type", with("rows", []any{map[string]any{"id": map[string]any{}}})},
	{"a key is there twice in a page", with("rows", []any{map[string]any{"id": 6}, map[string]any{"id": 6}})},
	{"the first page again", func(l *lossy, _ map[string]any) (*http.Response, error) {
		return reply(200, l.first), nil
	}},
	{"one row is missing", func(l *lossy, body map[string]any) (*http.Response, error) {
		rows := body["rows"].([]any)
		body["rows"] = slices.Delete(rows, 1, 2)
		return l.answer(body), nil
	}},
	{"the last rows are missing", func(l *lossy, body map[string]any) (*http.Response, error) {
		body["rows"] = body["rows"].([]any)[:3]
		return l.answer(body), nil
	}},
	{"an error beside the rows", with("error", "some shards failed")},
	{"errors beside the rows", with("errors", []any{"some shards failed"})},
	{"an error in place of the rows", text(func(*lossy) string { return `{"error": {"code": 429}}` })},
	{"an empty error beside the rows", with("error", nil)},
	{"success is false", with("success", false)},
	{"the rows are said to be a part", with("partial", true)},
	{"the place of the next page is absent", without("cursor", "next")},
	{"the place of the next page is null", with("cursor", nil, "next")},
	{"the place of the next page is empty", with("cursor", "", "next")},
	{"the place of the next page is an object", with("cursor", map[string]any{"x": 1}, "next")},
	{"the place of the next page is a number of another page", with("cursor", "0")},
	{"the next page is at another host", with("next", "https://evil.example/rows")},
	{"more is absent", without("more")},
	{"more is null", with("more", nil)},
	{"more is a text", with("more", "true")},
	{"more is false", with("more", false)},
	{"more is true, and there is no place", func(l *lossy, body map[string]any) (*http.Response, error) {
		body["more"], body["cursor"], body["next"] = true, nil, nil
		return l.answer(body), nil
	}},
	{"the total is absent", without("total")},
	{"the total is null", with("total", nil)},
	{"the total is a text", with("total", "12")},
	{"the total is smaller", with("total", 11)},
	{"the total is larger", with("total", 13)},
	{"the total is that of the page", with("total", 5)},
}

func withStatus(status int) bend {
	return func(*lossy, map[string]any) (*http.Response, error) { return reply(status, ""), nil }
}

func text(make func(l *lossy) string) bend {
	return func(l *lossy, _ map[string]any) (*http.Response, error) {
		return reply(200, make(l)), nil
	}
}

func without(names ...string) bend {
	return func(l *lossy, body map[string]any) (*http.Response, error) {
		for _, name := range names {
			delete(body, name)
		}
		return l.answer(body), nil
	}
}

func with(name string, value any, others ...string) bend {
	return func(l *lossy, body map[string]any) (*http.Response, error) {
		for _, name := range append(others, name) {
			body[name] = value
		}
		return l.answer(body), nil
	}
}

var saidCause = regexp.MustCompile(`cause="((?:[^"\\]|\\.)*)"`)

// TestBentAnswers bends the second answer of a read in every way, and requires that the rows
// are all there or that the read fails. ANSWERS.md tells what is said.
func TestBentAnswers(t *testing.T) {
	var doc strings.Builder
	doc.WriteString("# What an answer means\n\nThe second of three pages is bent, for each way to page. " +
		"A read has all twelve rows, or it fails. " +
		"None ends early in silence.\n" +
		"The tables declare `Total`, so that an API which states its end too early is found out; " +
		"without one, an end that it states is believed. " +
		"Tables of one page are bent in `answers_test.go` and `end_test.go`; lists in rows, GraphQL, " +
		"bodies that tell of errors, and token endpoints are bent " +
		"in `embed_test.go`, `graphql_test.go`, `judge_test.go` and `oauth_test.go`.\n\n" +
		"The table is written by `go test ./connector/restsource -run TestBentAnswers -update`.\n\n" +
		"| The second answer | What the connector does, and what its log says |\n|---|---|\n")
	scenarios := 0
	for _, b := range bends {
		said := map[string][]string{}
		var order []string
		for _, p := range pagings {
			text := p.ask(t, b.bend, b.name)
			if said[text] == nil {
				order = append(order, text)
			}
			said[text] = append(said[text], p.name)
			scenarios++
		}
		var cells []string
		for _, text := range order {
			if len(order) > 1 {
				text = "*" + strings.Join(said[text], ", ") + ":* " + text
			}
			cells = append(cells, text)
		}
		fmt.Fprintf(&doc, "| %s | %s |\n", b.name, strings.Join(cells, "<br>"))
	}
	fmt.Fprintf(&doc, "\n%d scenarios, 0 silent losses.\n", scenarios)
	if *update {
		require.NoError(t, os.WriteFile("ANSWERS.md", []byte(doc.String()), 0o644))
	}
	want := testkit.Must(os.ReadFile("ANSWERS.md"))(t)
	assert.Equal(t, string(want), doc.String(), "run the test with -update")
}

// ask reads the rows, and returns what is said. Rows that are not all there and no error
// fail the test.
func (p *paging) ask(t *testing.T, bend bend, name string) (said string) {
	t.Helper()
	table := restsource.Table{
		Name: "rows", Path: "/rows", Rows: "rows", Key: []string{"id"}, Pages: p.pages, Total: "total",
		Columns: []restsource.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString}},
	}
	answer, log, err := query(t, []restsource.Table{table}, &lossy{numbers: numbersTo(12, 5), at: 2, bend: bend},
		wire.QueryRequest{Table: "rows", Fields: []string{"id"}})
	if err == nil {
		assert.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, idsOf(answer), "%s, by %s: rows are lost in silence", name, p.name)
		return "all rows"
	}
	cause := saidCause.FindStringSubmatch(log)
	if cause == nil {
		return err.Error()
	}
	text := strings.ReplaceAll(cause[1], `\"`, `"`)
	return "fails: " + strings.TrimPrefix(strings.TrimPrefix(text, `restsource: table "rows": `), "restsource: ")
}
