package restsource_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestWholeAnswers: an answer with a good status has its rows, or says that there are
// none. Whatever else it says is no end of the rows [rule error-10].
func TestWholeAnswers(t *testing.T) { readings(t, "whole.tsv") }

// TestRefusedBy200: an error with a good status is an answer to what was pushed, and
// tells the person at a form to look at the credentials.
func TestRefusedBy200(t *testing.T) {
	const refusal = `{"error": "` + secretText + `"}`
	const said = "The API answers these credentials with an error. Check them; they may have expired, or lack a permission."
	for _, c := range testkit.Table(t, "testdata/checks.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			for _, base := range []string{shopAPI.Base, "https://{token}.example/v1"} {
				err := serve(t, restsource.API{Base: base, Check: c[1]}, numbersTable(onePage), inTurn(c[2])).Check()
				if c[3] == "fine" {
					require.NoError(t, err)
					continue
				}
				saysAll(t, "check_failed: "+said, err, "")
			}
		})
	}
	t.Run("columns", func(t *testing.T) {
		for body, whole := range map[string]bool{
			`{"fields": ["x"], "errors": []}`: true, refusal: false, `{"errors": {"a": 1}, "fields": []}`: false,
		} {
			tables := numbersTable(onePage, func(t *restsource.Table) {
				t.ColumnsOf = func(_ context.Context, get func(string, url.Values) ([]byte, error)) ([]restsource.Column, error) {
					_, err := get("/fields", nil)
					return nil, err
				}
			})
			_, err := serve(t, shopAPI, tables, inTurn(body, bodyOfOne)).Query(allNumbers)
			assert.Equal(t, whole, err == nil, body)
		}
	})
	open := whereOf(t, `status eq "open"`)
	refusing := func(refuses func(status []string) bool) (*connectortest.Tenant, *shop) {
		api := newShopOf(13)
		api.change = func(r *http.Request) string { return map[bool]string{true: refusal}[refuses(r.URL.Query()["status"])] }
		return asTenant(t, api, declared("shop")).Unverified(), api
	}
	t.Run("what was pushed", func(t *testing.T) {
		tenant, api := refusing(func(status []string) bool { return len(status) > 0 })
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "orders", Where: open, Fields: []string{"id"}}))(t)
		assert.Len(t, answer.Column("id"), 3, "it is asked again without the filter")
		assert.Equal(t, 1, strings.Count(strings.Join(api.takeAsked(), " "), "status="))
		assert.Len(t, testkit.Must(tenant.Discover())(t).Tables, 3)
	})
	t.Run("what cannot be", func(t *testing.T) {
		tenant, api := refusing(func(status []string) bool { return len(status) > 0 && status[0] != "open" })
		assert.Equal(t, int64(3), testkit.Must(tenant.Count(wire.CountRequest{Table: "orders", Where: open}))(t))
		assert.Greater(t, len(api.takeAsked()), 2,
			"an error may be about anything, so the API's total is not believed and the rows are counted")
	})
}

const bodyOfRows = `{"rows": [{"x": 1}, {"x": 2}]}`

const bodyOfOne = `{"rows": [{"id": 1}]}`

// TestPathsThatNoRowHas: discovery warns of a column that is null everywhere because its path leads nowhere.
func TestPathsThatNoRowHas(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/paths.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			tables := numbersTable(onePage, func(t *restsource.Table) { t.Columns = append(t.Columns, pathsOf(c[1])...) })
			want := []string(nil)
			if c[3] != "" {
				want = []string{`Table "numbers": no row of the first page has ` + c[3] + `, so these columns may be null everywhere; check Path.`}
			}
			assert.Equal(t, want, testkit.Must(serve(t, shopAPI, tables, inTurn(c[2])).Discover())(t).Warnings)
		})
	}
	t.Run("of the parent", func(t *testing.T) {
		tables := append(numbersTable(onePage), children(pathsOf("x y")...))
		found := testkit.Must(serve(t, shopAPI, tables, inTurn(bodyOfOne, bodyOfRows)).Discover())(t)
		assert.Equal(t, []string{`Table "children": no row of the first page has "y", so these columns may be null everywhere; check Path.`},
			found.Warnings)
	})
}

// pathsOf returns columns of texts: "name" or "name=path".
func pathsOf(words string) (all []restsource.Column) {
	for word := range strings.FieldsSeq(words) {
		name, path, _ := strings.Cut(word, "=")
		c := restsource.Column{Name: name, Path: strings.TrimSuffix(path, "()"), Type: wire.TypeString}
		if c.Path != path {
			c.Type, c.Convert = wire.TypeNumber, one
		}
		all = append(all, c)
	}
	return all
}

// TestReportedLosses: what people reported of connectors that lost rows in silence, with an API that
// does what the report tells. A read is whole, or it fails and says why.
func TestReportedLosses(t *testing.T) { readings(t, "reports.tsv") }

// readJSON reads a file of testdata.
func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile("testdata/"+name))(t), into))
}

// TestOnePageOfMany: a table of one page whose answer says by any usual name that there are
// more rows fails; one whose answer says that these are all is whole.
func TestOnePageOfMany(t *testing.T) {
	type envelope struct{ Name, Rows, Body string }
	for _, file := range []string{"envelopes.json", "envelopes_public.json"} {
		var envelopes struct{ Continued, Whole []envelope }
		readJSON(t, file, &envelopes)
		for i, e := range append(envelopes.Continued, envelopes.Whole...) {
			t.Run(e.Name, func(t *testing.T) {
				tables := numbersTable(onePage, func(t *restsource.Table) { t.Rows = e.Rows })
				answer, log, err := query(t, tables, inTurn(e.Body), allNumbers)
				if i >= len(envelopes.Continued) {
					require.NoError(t, err, log)
					assert.Equal(t, []int64{1, 2, 3}, idsOf(answer))
					return
				}
				requireCode(t, wire.CodeInternal, err)
				assert.Contains(t, log, "says that there are more rows")
			})
		}
	}
}

// TestRefusedInAnEmptyPage: a page without rows that is not of the shape of the pages before
// ends no read, whatever it says, and in whatever words.
func TestRefusedInAnEmptyPage(t *testing.T) {
	const first = `{"items":[{"id":1},{"id":2}],"status":"ok","meta":{"code":200},"next":"c"}`
	const second = `{"items":[{"id":3},{"id":4}],"status":"ok","meta":{"code":200},"next":"d"}`
	var pages struct{ Refusals, Ends []json.RawMessage }
	readJSON(t, "refusals.json", &pages)
	for i, body := range append(pages.Refusals, pages.Ends...) {
		for name, by := range map[string]restsource.Pages{
			"cursor": {By: restsource.PagingCursor, Param: "c", Next: "next"},
			"page":   {By: restsource.PagingPage, Param: "p"},
			"offset": {By: restsource.PagingOffset, Param: "o"},
		} {
			for _, before := range [][]string{{first}, {first, second}} {
				tables := numbersTable(by, func(t *restsource.Table) { t.Rows = "items" })
				if name == "offset" {
					keyless(&tables[0])
				}
				_, log, err := query(t, tables, inTurn(append(before, string(body))...), allNumbers)
				if i >= len(pages.Refusals) {
					require.NoError(t, err, "%s by %s: %s", body, name, log)
				} else {
					assert.Error(t, err, "%s by %s", body, name)
				}
			}
		}
	}
}

// TestOneTablesTrouble: a table that cannot be read is left out of a discovery with the reason, which quotes no value,
// and the others are served. If none is left, the discovery fails. Trouble with the API itself is nobody's alone.
func TestOneTablesTrouble(t *testing.T) {
	changes := map[string]func(*restsource.Table){
		"Unwrap": func(t *restsource.Table) {
			t.Unwrap = func([]byte) ([]byte, error) { return nil, errors.New(secretText) }
		},
		"Convert": func(t *restsource.Table) {
			t.Columns[0].Convert = func(any) (wire.Value, error) { return wire.Null(), errors.New(secretText) }
		},
		"ColumnsOf": func(t *restsource.Table) {
			t.ColumnsOf = func(context.Context, func(string, url.Values) ([]byte, error)) ([]restsource.Column, error) {
				return nil, errors.New(secretText)
			}
		},
	}
	for _, c := range testkit.Table(t, "testdata/left_out.tsv", 3) {
		t.Run(c[0], func(t *testing.T) {
			tables := numbersTable(onePage, changes[c[0]])
			api := atPlaces("/numbers", c[1], "", bodyOfOne)
			other := numbersTable(onePage)[0]
			other.Name, other.Path = "others", "/others"
			tenant, log := logged(t, shopAPI, append(tables, other), api)
			found := testkit.Must(tenant.Discover())(t)
			require.Len(t, found.Tables, 1)
			assert.Equal(t, []string{`Table "numbers" is left out: ` + c[2]}, found.Warnings)
			if changes[c[0]] == nil {
				assert.NotContains(t, log.String(), secretText)
			}
			_, err := serve(t, shopAPI, tables, api).Discover()
			require.Error(t, err, "no table is left")
		})
	}
	for _, status := range []string{"401", "429"} {
		api := inTurn(bodyOfOne, status+" {Retry-After: 3600}")
		_, err := serve(t, shopAPI, append(numbersTable(onePage), children()), api).Discover()
		require.Error(t, err, "the status %s concerns every table", status)
	}
}

// TestPlaceholders: a name in a path is a column of the parent or a credential of the form.
func TestPlaceholders(t *testing.T) {
	src := testkit.Must(restsource.New(restsource.API{Base: "https://{shop}.example/v1", Check: "/{account}/me"},
		append(numbersTable(onePage, func(t *restsource.Table) { t.Path = "/{token}/numbers" }), children()), nil))(t)
	token := testkit.Must(wire.NewToken(connectortest.Token))(t)
	_, err := connector.New(shopDefinition, src, token, nil)
	require.ErrorContains(t, err, `source: it uses the credential "shop", which the form does not have`)
	require.ErrorContains(t, err, `"account"`)
	require.NotContains(t, err.Error(), `"id"`)
	require.NotContains(t, err.Error(), `"token"`)
}

// FuzzAnswer reads answers that hold anything. What is not JSON never becomes rows, and
// no address in an answer leads to another host.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"rows": [{"id": 1, "v": {"a": [1, 2.50, "x"]}}, {"id": 2}]}`), `<https://shop.example/v1/rows?p=2>; rel="next"`)
	f.Add([]byte(`{"rows": [{"id": 1}, {"id": 1}], "rows": null}`), `</rows>; rel=next, <//evil.example>; rel="prev next"`)
	f.Add([]byte(`{"rows": [{"id": 1e999999999}]}`), `<https://shop.example@evil.example/>; rel=next`)
	f.Add([]byte(`{"rows": [{"id": "\ud800"}]} x`), `<<>>;;,,rel=next`)
	f.Add([]byte("{\"rows\": [{\"id\": \"\xff\"}]}"), `<`)
	const secret = "a-token-of-at-least-32-characters"
	tables := declared("fuzzed")
	const query = `{"table": "rows", "fields": ["id", "v"], "and": [], "sort": [], "credentials": {"token": "k"}, "timeoutMs": 10000}`
	f.Fuzz(func(t *testing.T, body []byte, link string) {
		asked := 0
		upstream := testkit.Transport(func(r *http.Request) (*http.Response, error) {
			port := r.URL.Port()
			if r.URL.Scheme != "https" || !strings.EqualFold(r.URL.Hostname(), "shop.example") || port != "" && port != "443" {
				t.Errorf("another host was asked: %s", r.URL)
			}
			if asked++; asked > 1 {
				return reply(200, `{"rows": []}`), nil
			}
			res := reply(200, string(body))
			res.Header["Link"] = []string{link}
			return res, nil
		})
		src := testkit.Must(restsource.New(shopAPI, tables, &restsource.Options{Transport: upstream}))(t)
		w := testkit.Post(connectors.New(secret, shopDefinition, src, connectors.Quiet()), secret, wire.PathQuery, query)
		complete := bytes.Contains(w.Body.Bytes(), []byte(`{"end":1}`))
		assert.True(t, !complete || json.Valid(body), "rows of what is not JSON: %s", w.Body)
		assert.True(t, complete || strings.Contains(w.Body.String(), `"internal"`), "no end and no internal error: %s", w.Body)
	})
}

var update = flag.Bool("update", false, "write ANSWERS.md anew")

// pagings are ways to page through the twelve rows of lossy, five in a page.
var pagings = []struct {
	name  string
	pages restsource.Pages
}{
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
		first = cmp.Or(first, answer[strings.Index(answer, `{"`):])
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
			tables, text := declared("bent"), "all rows"
			tables[0].Pages = p.pages
			answer, log, err := query(t, tables, lossy(b[1]), wire.QueryRequest{Table: "rows", Fields: []string{"id"}})
			if err == nil {
				assert.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, idsOf(answer), "%s, by %s: rows are lost in silence", b[0], p.name)
			} else if cause := saidCause.FindStringSubmatch(log); cause == nil {
				text = err.Error()
			} else {
				text = strings.ReplaceAll(cause[1], `\"`, `"`)
				text = "fails: " + strings.TrimPrefix(strings.TrimPrefix(text, `restsource: table "rows": `), "restsource: ")
			}
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

// TestLargeAnswers: what stands beside the rows is read in a time that grows with its length and no faster. Nothing
// runs beside it that the race detector could see.
func TestLargeAnswers(t *testing.T) {
	if testrun.Race {
		t.Skip("takes ten times as long under the race detector")
	}
	var entries []string
	for i := range 40_000 {
		entries = append(entries, fmt.Sprintf(`"u%d":{"name":"x","next":"y","done":true}`, i))
	}
	included := `"included":{` + strings.Join(entries, ",") + "}"
	for name, answers := range map[string][]string{
		"a long name":              {`1-3 "` + strings.Repeat("next", 1<<20) + `":1`, ""},
		"a long name of no words":  {`1-3 "` + strings.Repeat("a", 1<<20) + `":1`, ""},
		"the same in one answer":   {"1-3 " + included, ""},
		"an object of many others": {`1-4 "page":{"next":"x"},` + included, `5-6 "page":{"next":null},` + included},
	} {
		t.Run(name, func(t *testing.T) {
			pages := map[bool]restsource.Pages{true: onePage, false: cursorPages}[answers[1] == ""]
			req := allNumbers
			req.TimeoutMS = 180_000
			testkit.Must(serve(t, shopAPI, numbersTable(pages), inTurn(answers...)).Query(req))(t)
		})
	}
}
