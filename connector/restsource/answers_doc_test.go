package restsource_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// bends are what can be wrong with one answer in the middle of a read, beside what testdata/bends.tsv has.
var bends = map[string]bend{
	"nothing": func(l *lossy, body map[string]any) (*http.Response, error) { return l.answer(body), nil },
	"206": func(l *lossy, body map[string]any) (*http.Response, error) {
		res := l.answer(body)
		res.StatusCode = 206
		return res, nil
	},
	"broken": func(l *lossy, _ map[string]any) (*http.Response, error) {
		res := reply(200, "")
		res.Body = io.NopCloser(io.MultiReader(strings.NewReader(l.first[:20]), brokenReader{io.ErrUnexpectedEOF}))
		return res, nil
	},
	"half":      text(func(l *lossy) string { return l.first[:len(l.first)/2] }),
	"two":       text(func(l *lossy) string { return l.first + l.first }),
	"first":     text(func(l *lossy) string { return l.first }),
	"bytes":     text(func(l *lossy) string { return strings.Replace(l.first, "n1", "\xff", 1) }),
	"duplicate": text(func(l *lossy) string { return strings.Replace(l.first, `"rows"`, `"rows":[],"rows"`, 1) }),
	"capital": func(l *lossy, body map[string]any) (*http.Response, error) {
		body["Rows"] = body["rows"]
		delete(body, "rows")
		return l.answer(body), nil
	},
	"one row": func(l *lossy, body map[string]any) (*http.Response, error) {
		body["rows"] = slices.Delete(body["rows"].([]any), 1, 2)
		return l.answer(body), nil
	},
	"last rows": func(l *lossy, body map[string]any) (*http.Response, error) {
		body["rows"] = body["rows"].([]any)[:3]
		return l.answer(body), nil
	},
}

func text(make func(l *lossy) string) bend {
	return func(l *lossy, _ map[string]any) (*http.Response, error) { return reply(200, make(l)), nil }
}

// bendOf returns one of bends, or an answer in place of the right one, or the right one with other
// members: "answer 404", `set "more":true`, "drop more".
func bendOf(words string) bend {
	verb, rest, _ := strings.Cut(words, " ")
	return func(l *lossy, body map[string]any) (*http.Response, error) {
		switch verb {
		case "answer":
			return answering(rest)(httptest.NewRequest(http.MethodGet, "/", nil))
		case "drop":
			for name := range strings.FieldsSeq(rest) {
				delete(body, name)
			}
		case "set":
			if err := json.Unmarshal([]byte("{"+rest+"}"), &body); err != nil {
				return nil, err
			}
		default:
			return bends[words](l, body)
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
		"Tables of one page are bent in `testdata/whole.tsv` and `testdata/end.tsv`; lists in rows, GraphQL, " +
		"bodies that tell of errors, and token endpoints are bent " +
		"in `embedded.tsv`, `graphs.tsv`, `judged.tsv` and `tokens.tsv` there.\n\n" +
		"The table is written by `go test ./connector/restsource -run TestBentAnswers -update`.\n\n" +
		"| The second answer | What the connector does, and what its log says |\n|---|---|\n")
	scenarios := 0
	for _, b := range testkit.Table(t, "testdata/bends.tsv", 2) {
		said := map[string][]string{}
		var order []string
		for _, p := range pagings {
			text := p.ask(t, bendOf(b[1]), b[0])
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
		fmt.Fprintf(&doc, "| %s | %s |\n", b[0], strings.Join(cells, "<br>"))
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
