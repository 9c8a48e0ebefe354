package restsource_test

import (
	"encoding/json"
	"flag"
	"fmt"
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

// lossy returns an API of twelve rows, the second answer of which is bent.
func lossy(bend string) *remote {
	numbers, first := numbersTo(12, 5), ""
	return &remote{answer: func(r *http.Request) string {
		members := numbers.page(r)
		if numbers.count == 2 {
			return bent(bend, members, first)
		}
		answer := withLink(members)
		if first == "" {
			first = answer[strings.Index(answer, `{"`):]
		}
		return answer
	}}
}

// bent returns what is answered in place of some members: the text behind "answer", the members with others, as in
// `set "more":true` and "drop more", or one of the cases below. It may repeat the body of the first answer.
func bent(bend string, members map[string]any, first string) string {
	verb, rest, _ := strings.Cut(bend, " ")
	rows := members["rows"].([]any)
	switch verb {
	case "answer":
		return rest
	case "set":
		if err := json.Unmarshal([]byte("{"+rest+"}"), &members); err != nil {
			panic(err)
		}
	case "drop":
		for name := range strings.FieldsSeq(rest) {
			delete(members, name)
		}
	case "206":
		return "206 " + withLink(members)
	case "half":
		return first[:len(first)/2]
	case "two":
		return first + first
	case "first":
		return first
	case "bytes":
		return strings.Replace(first, "n1", "\xff", 1)
	case "duplicate":
		return strings.Replace(first, `"rows"`, `"rows":[],"rows"`, 1)
	case "renamed":
		members["Rows"] = rows
		delete(members, "rows")
	case "one-row-less":
		members["rows"] = slices.Delete(rows, 1, 2)
	case "short":
		members["rows"] = rows[:3]
	default:
		panic("there is no bend " + bend)
	}
	return withLink(members)
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
			text := p.ask(t, b[1], b[0])
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
func (p *paging) ask(t *testing.T, bend, name string) (said string) {
	t.Helper()
	tables := declared("bent")
	tables[0].Pages = p.pages
	answer, log, err := query(t, tables, lossy(bend), wire.QueryRequest{Table: "rows", Fields: []string{"id"}})
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
