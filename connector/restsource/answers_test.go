package restsource_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// inTurn answers 200 with the given bodies in turn, the last one for ever.
func inTurn(bodies ...string) testkit.Transport {
	asked := 0
	return func(*http.Request) (*http.Response, error) {
		asked++
		return reply(200, bodies[min(asked, len(bodies))-1]), nil
	}
}

// secretText is what no log and no message may quote.
const secretText = "text-of-the-body"

// TestWholeAnswers: an answer with a good status has its rows, or says that there are
// none. Whatever else it says is no end of the rows [rule error-10].
func TestWholeAnswers(t *testing.T) {
	cursor := restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "next"}
	many := "" // members, more than are compared one by one
	for i := range 100 {
		many += fmt.Sprintf(`"m%d": {"n": %d}, `, 99-i, i)
	}
	in := func(rows string) func(*restsource.Table) { return func(t *restsource.Table) { t.Rows = rows } }
	for _, c := range []struct {
		name   string
		pages  restsource.Pages
		change func(*restsource.Table)
		bodies []string
		want   []int64
		log    string // "": the rows are whole
		why    string
	}{
		{"null", cursor, keyed, []string{`{"rows": null}`}, nil, "", "some APIs write an empty list so"},
		{"null at the end", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "next": "c"}`, `{"rows": null, "next": null}`}, []int64{1}, "", "likewise"},
		{"null beside no error", cursor, keyed,
			[]string{`{"rows": null, "error": null, "errors": null}`}, nil, "", "null is no error"},
		{"null beside its total", cursor, withTotal,
			[]string{`{"rows": [{"id": 1}], "next": "c", "total": 1}`, `{"rows": null, "total": 1}`}, []int64{1}, "",
			"all rows were read before"},
		{"absent", cursor, keyed, []string{`{}`}, nil, "no list of rows", "no row may be there, or Rows is misspelled"},
		{"absent below null", cursor, in("data.rows"),
			[]string{`{"data": null}`}, nil, "no list of rows", "the list itself is not there"},
		{"absent on a later page", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "next": "c"}`, `{"next": null}`}, nil, "no list of rows", ""},
		{"null beside an error", cursor, keyed, []string{`{"error": "` + secretText + `", "rows": null}`},
			nil, "and the member", "a limit of requests"},
		{"null beside an error on a later page", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "next": "c"}`, `{"error": "` + secretText + `", "rows": null}`},
			nil, "and the member", "a limit of requests"},
		{"null beside an empty error", cursor, keyed,
			[]string{`{"errors": [], "rows": null}`}, nil, "and the member",
			"where rows are missing, any word of errors counts"},
		{"null beside errors", cursor, keyed, []string{`{"rows": null, "errors": [{"message": "` + secretText + `"}]}`},
			nil, "and the member", ""},
		{"absent below null, beside errors", cursor, in("data.rows"),
			[]string{`{"data": null, "errors": [{"message": "` + secretText + `"}]}`}, nil,
			"and the member", "as GraphQL says it"},
		{"an error beside the list", cursor, in("data.rows"),
			[]string{`{"data": {"rows": null, "error": 7}}`}, nil, "and the member",
			"it stands where the rows stand"},
		{"rows beside errors", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "errors": [{"message": "` + secretText + `"}]}`}, nil,
			"and the member", "GraphQL answers the part that did not fail"},
		{"no rows beside an error", cursor, keyed,
			[]string{`{"rows": [], "error": true}`}, nil, "and the member", ""},
		{"rows beside empty errors", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "error": false, "errors": [ ]}`}, []int64{1}, "", "no error, said in full"},
		{"rows beside other empty errors", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "error": "", "errors": {}}`}, []int64{1}, "", "likewise"},
		{"rows beside zero errors", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "error": 0, "errors": null}`}, []int64{1}, "", "likewise"},
		{"rows that are errors", cursor, in("errors"),
			[]string{`{"errors": [{"id": 1}]}`}, []int64{1}, "", "the table lists errors"},
		{"errors of a row", cursor, keyed,
			[]string{`{"rows": [{"id": 1, "error": "x"}]}`}, []int64{1}, "", "they are data"},
		{"null beside a next page", cursor, keyed,
			[]string{`{"rows": null, "next": "c"}`, `{"rows": []}`}, nil, "Rows is null", "there is more"},
		{"null beside more", restsource.Pages{By: restsource.PagingPage, Param: "page", HasMore: "more"}, keyed,
			[]string{`{"rows": null, "more": true}`}, nil, "Rows is null", "there is more"},
		{"null beside a total", cursor, withTotal,
			[]string{`{"rows": null, "total": 2}`}, nil, "Rows is null", "there are two rows"},
		{"null beside a total on a later page", cursor, withTotal,
			[]string{`{"rows": [{"id": 1}], "next": "c", "total": 3}`, `{"rows": null, "total": 2}`}, nil, "Rows is null",
			"there is one row more, and totals that change are not compared otherwise"},
		{"one record", onePage, keyed,
			[]string{`{"rows": {"id": 1}}`}, []int64{1}, "", "an endpoint of one page may answer one record"},
		{"another object", onePage, keyless,
			[]string{`{"rows": {"items": [{"id": 1}]}}`}, nil, "no member of a row", "the list is one member deeper"},
		{"an object with an error", onePage, keyless,
			[]string{`{"rows": {"error": "` + secretText + `"}}`}, nil, "no member of a row", "it is no row"},
		{"one record of many pages", cursor, keyed, []string{`{"rows": {"id": 1}}`}, nil, "no list of rows", ""},
		{"a text", cursor, keyed, []string{`{"rows": "` + secretText + `"}`}, nil, "no list of rows", ""},
		{"rows that are null", cursor, keyed, []string{`{"rows": [{"id": 1}, null]}`}, nil, "not an object", ""},
		{"rows that are lists", cursor, keyed, []string{`{"rows": [[1]]}`}, nil, "not an object", ""},
		{"success that is none", cursor, keyed,
			[]string{`{"success": false, "rows": []}`}, nil, `\"success\"`, "the list is empty because nothing was read"},
		{"success that is none on a later page", cursor, keyed,
			[]string{`{"ok": true, "rows": [{"id": 1}], "next": "c"}`, `{"ok": false, "rows": []}`}, nil, `\"ok\"`, ""},
		{"a part of the results", cursor, keyed,
			[]string{`{"incomplete_results": true, "rows": [{"id": 1}]}`}, nil, `\"incomplete_results\"`, "a search that ran out of time"},
		{"a part of the rows", cursor, in("data.rows"),
			[]string{`{"data": {"partial": true, "rows": [{"id": 1}]}}`}, nil, `\"data.partial\"`, "it stands beside the list"},
		{"success in other words", cursor, keyed,
			[]string{`{"ok": 1, "success": true, "partial": null, "timed_out": false, "rows": [{"id": 1}]}`}, []int64{1}, "", ""},
		{"one page that has more", onePage, keyed,
			[]string{`{"rows": [{"id": 1}], "has_more": true}`}, nil, `\"has_more\"`, "Pages was forgotten"},
		{"one page and the place of another", onePage, in("data.rows"),
			[]string{`{"data": {"rows": [{"id": 1}], "next_cursor": 7}}`}, nil, `\"data.next_cursor\"`, "beside the list"},
		{"one page and the place of another at the top", onePage, in("data.rows"),
			[]string{`{"data": {"rows": [{"id": 1}]}, "meta": {"next": "/2"}}`}, nil, `\"meta.next\"`, ""},
		{"one page of many", onePage, keyed,
			[]string{`{"rows": [{"id": 1}], "pagination": {"total_pages": 4}}`}, nil, `\"pagination.total_pages\"`, ""},
		{"one page of many, in a box", onePage, keyed,
			[]string{`{"rows": [{"id": 1}], "meta": {"pages": 2}}`}, nil, `\"meta.pages\"`, ""},
		{"one page that is smaller than a total", onePage, keyed,
			[]string{`{"rows": [{"id": 1}], "meta": {"total": 2}}`}, nil, `\"meta.total\"`, ""},
		{"one page beside a sum", onePage, keyed,
			[]string{`{"rows": [{"id": 1}], "total": 250.5}`}, []int64{1}, "", "it is no number of rows"},
		{"one page, selected from a total", onePage, func(t *restsource.Table) {
			t.Filters = []restsource.Param{{Column: "id", Op: wire.OpGte, Name: "from"}}
		}, []string{`{"rows": [{"id": 1}], "totalCount": 2}`}, []int64{1}, "", "the total may be that of the rows that are not selected"},
		{"one page that is all", onePage, keyed,
			[]string{`{"rows": [{"id": 1}], "total": 1, "has_more": false, "next": null, "links": {"next": ""}, "meta": {"pages": 1}}`},
			[]int64{1}, "", ""},
		{"one page whose next is a row", onePage, in("next"), []string{`{"next": [{"id": 1}]}`}, []int64{1}, "", "it is the list"},
		{"a cursor that is elsewhere", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "meta": {"next_cursor": "c"}}`}, nil, `\"meta.next_cursor\"`, "Next is misspelled"},
		{"a cursor that ends, beside more", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "next": "c"}`, `{"rows": [{"id": 2}], "next": null, "pagination": {"has_more": true}}`}, nil,
			`\"pagination.has_more\"`, "the two contradict each other"},
		{"an empty page that is not the last", restsource.Pages{By: restsource.PagingPage, Param: "page"}, keyed,
			[]string{`{"rows": [{"id": 1}], "isLast": false}`, `{"rows": [], "isLast": false}`}, nil, `\"isLast\"`,
			"the API selects rows after it has cut its pages, and HasMore was forgotten"},
		{"an empty page that is the last", restsource.Pages{By: restsource.PagingPage, Param: "page"}, keyed,
			[]string{`{"rows": [{"id": 1}], "has_more": true}`, `{"rows": [], "has_more": false, "total_pages": 9}`}, []int64{1}, "", ""},
		{"a cursor that is there, and another", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "next": null, "next_page": 2, "total": 9}`}, []int64{1}, "", "what is declared decides"},
		{"duplicate rows", cursor, keyed, []string{`{"rows": [{"id": 1}], "rows": []}`},
			nil, "duplicate member", "which of them is meant is a guess"},
		{"a duplicate next", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "next": "c", "next": null}`, `{"rows": []}`},
			nil, "duplicate member", "likewise"},
		{"a duplicate that is spelled otherwise", cursor, keyed,
			[]string{`{"rows": [{"id": 1}], "ro\u0077s": []}`}, nil, "duplicate member", "the name is the same"},
		{"a duplicate in a row", cursor, keyed,
			[]string{`{"rows": [{"id": 1, "id": 2}]}`}, nil, "duplicate member", ""},
		{"a duplicate that no column has", cursor, keyed,
			[]string{`{"rows": [{"id": 1, "x": [{"y": 1, "y": 1}]}]}`}, nil, "duplicate member",
			"as in a request, at any level"},
		{"a duplicate behind many members", cursor, keyed,
			[]string{`{"rows": [{"id": 1, "m50": 0, ` + many + `"z": 0}]}`}, nil, "duplicate member", ""},
		{"a duplicate around an object", cursor, keyed,
			[]string{`{"rows": [], "a": {"b": {"a": 1}, "c": 1}, "a": 1}`}, nil, "duplicate member", ""},
		{"many members", cursor, keyed, []string{`{"rows": [{` + many + `"id": 1}, {` + many + `"id": 2}]}`},
			[]int64{1, 2}, "", "each row has its own"},
		{"names that repeat in other objects", cursor, keyed,
			[]string{`{"rows": [{"id": 1, "rows": {"id": {"id": 3}}}, {"id": 2, "x": {}}]}`}, []int64{1, 2}, "", ""},
		{"names in another case", cursor, keyed,
			[]string{`{"rows": [{"id": 1, "Id": 2}], "Rows": []}`}, []int64{1}, "", "they are other names"},
		{"more text", cursor, keyed,
			[]string{`{"rows": [{"id": 1}]} {"rows": []}`}, nil, "unexpected data", "half an answer of two"},
		{"no text", cursor, keyed, []string{``}, nil, "unexpected end", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, said, err := query(t, numbersTable(c.pages, c.change), inTurn(c.bodies...), wire.QueryRequest{Table: "numbers",
				Fields: []string{"id"}, Where: wire.Where{And: []wire.Filter{cond("id", wire.OpGte, wire.Int(0))}}})
			if c.log != "" {
				requireCode(t, wire.CodeInternal, err)
				assert.Contains(t, said, c.log, c.why)
				assert.NotContains(t, said+err.Error(), secretText)
				return
			}
			require.NoError(t, err, c.why)
			assert.ElementsMatch(t, c.want, idsOf(answer), c.why)
		})
	}
}

func keyed(*restsource.Table) {}

// TestRefusedBy200: an error with a good status is an answer to what was pushed, and
// tells the person at a form to look at the credentials.
func TestRefusedBy200(t *testing.T) {
	const refusal = `{"error": "` + secretText + `"}`
	const said = "The API answers these credentials with an error. Check them; they may have expired, or lack a permission."
	for _, c := range []struct {
		name, path, body, want string // want "": the check passes
	}{
		{"the check", "/whoami", refusal, said},
		{"errors at the check", "/whoami", `{"errors": [{"message": "` + secretText + `"}]}`, said},
		{"errors that a broken answer begins with", "/whoami", refusal[:len(refusal)-1], said},
		{"no error", "/whoami", `{"error": null, "errors": [], "id": 7}`, ""},
		{"a list", "/whoami", `[{"error": "x"}]`, ""},
		{"no JSON", "/whoami", `pong`, ""},
		{"the first page", "", refusal, said},
		{"the first page, empty", "", `{"rows": null}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, base := range []string{shopAPI.Base, "https://{token}.example/v1"} {
				err := serve(t, restsource.API{Base: base, Check: c.path}, numbersTable(onePage), inTurn(c.body)).Check()
				if c.want == "" {
					require.NoError(t, err)
					continue
				}
				requireCode(t, wire.CodeCheckFailed, err)
				assert.Contains(t, err.Error(), c.want)
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
			_, err := serve(t, shopAPI, tables, inTurn(body, bodyOfOne)).Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
			assert.Equal(t, whole, err == nil, body)
		}
	})
	t.Run("what was pushed", func(t *testing.T) {
		api := newShopOf(13)
		pushed := 0
		api.change = func(w http.ResponseWriter, r *http.Request) bool {
			if !r.URL.Query().Has("status") {
				return false
			}
			pushed++
			_, _ = w.Write([]byte(refusal))
			return true
		}
		tenant := asTenant(t, api, shopTables()).Unverified()
		open := wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("open")}}}
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "orders", Where: open, Fields: []string{"id"}}))(t)
		assert.Len(t, answer.Column("id"), 3, "it is asked again without the filter")
		assert.Equal(t, 1, pushed)
		found := testkit.Must(tenant.Discover())(t)
		assert.Len(t, found.Tables, 3)
	})
	t.Run("what cannot be", func(t *testing.T) {
		api := newShopOf(13)
		api.change = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("status") == "open" || !r.URL.Query().Has("status") {
				return false
			}
			_, _ = w.Write([]byte(refusal))
			return true
		}
		open := wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("open")}}}
		before := len(api.requests())
		count, err := asTenant(t, api, shopTables()).Unverified().Count(wire.CountRequest{Table: "orders", Where: open})
		require.NoError(t, err)
		assert.Equal(t, int64(3), count)
		assert.Greater(t, len(api.requests())-before, 2,
			"an error may be about anything, so the API's total is not believed and the rows are counted")
	})
}

// TestWholeElsewhere: what holds of the rows of a query holds of a total, of discovery
// and of the rows of a parent.
func TestWholeElsewhere(t *testing.T) {
	for body, whole := range map[string]bool{
		`{"rows": null, "total": 0}`:               true,
		`{"rows": null, "total": 2}`:               false,
		`{"rows": null, "total": 0, "error": "x"}`: false,
	} {
		tenant := serve(t, shopAPI, numbersTable(onePage, withTotal), inTurn(body))
		_, sized := tenant.Size("numbers")
		_, counted := tenant.Count(wire.CountRequest{Table: "numbers"})
		_, discovered := tenant.Discover()
		for route, err := range map[string]error{"size": sized, "count": counted, "discovery": discovered} {
			assert.Equal(t, whole, err == nil, "%s of %s", route, body)
		}

		tables := append(numbersTable(onePage), children())
		for bodies, rows := range map[*[2]string]int{
			{body, `{"rows": []}`}:                0,
			{`{"rows": [{"id": 1}]}`, body}:       0,
			{`{"rows": [{"id": 1}]}`, bodyOfRows}: 2,
		} {
			answer, err := serve(t, shopAPI, tables, inTurn(bodies[:]...)).Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}})
			refused := strings.Contains(bodies[0]+bodies[1], "error") || strings.Contains(bodies[0]+bodies[1], `"total": 2`)
			assert.Equal(t, refused, err != nil, "%s", bodies)
			if err == nil {
				assert.Len(t, answer.Column("id"), rows, "%s", bodies)
			}
		}
	}
}

const bodyOfRows = `{"rows": [{"x": 1}, {"x": 2}]}`

// TestSearchedByPost: a POST of Table.Body only reads, so that it is sent again as a
// GET is, within the deadline.
func TestSearchedByPost(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []testkit.Transport
		asked   []time.Duration
		code    wire.Code
	}{
		{"502, 503, 504",
			[]testkit.Transport{always(502, ""), always(503, ""), always(504, ""), always(200, bodyOfOne)},
			seconds(0, 0.5, 1.5, 3.5), ""},
		{"a broken connection", []testkit.Transport{
			testkit.Fails(io.ErrUnexpectedEOF), always(200, bodyOfOne),
		}, seconds(0, 0.5), ""},
		{"500", []testkit.Transport{always(500, ""), always(200, bodyOfOne)}, seconds(0), wire.CodeInternal},
		{"503 beyond the deadline", []testkit.Transport{always(503, "", "Retry-After: 60"), always(200, bodyOfOne)},
			seconds(0), wire.CodeTimeout},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			begun := time.Now()
			var asked []time.Duration
			_, err := serve(t, shopAPI, numbersTable(onePage, func(t *restsource.Table) {
				t.Body = func(url.Values) ([]byte, error) { return []byte("question"), nil }
			}), testkit.Transport(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				assert.Equal(t, "question", string(body), "each attempt has the whole body")
				asked = append(asked, time.Since(begun))
				return c.answers[len(asked)-1](r)
			})).Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
			requireCode(t, c.code, err)
			assert.Equal(t, c.asked, asked)
		})
	}
}

const bodyOfOne = `{"rows": [{"id": 1}]}`

// TestPathsThatNoRowHas: discovery warns of a column that is null everywhere because
// its path leads nowhere.
func TestPathsThatNoRowHas(t *testing.T) {
	column := func(name, path string) restsource.Column {
		return restsource.Column{Name: name, Path: path, Type: wire.TypeString}
	}
	many := make([]restsource.Column, 12)
	for i := range many {
		many[i] = column(fmt.Sprintf("c%d", i), "")
	}
	for _, c := range []struct {
		name    string
		columns []restsource.Column
		body    string
		want    []string
	}{
		{"misspelled", []restsource.Column{column("city", "adress.city"), column("name", "")}, `{"rows": [{"id": 1, "name": "x"}, {"id": 2}]}`,
			[]string{`Table "numbers": no row of the first page has "adress.city", so these columns may be null everywhere; check Path.`}},
		{"two", []restsource.Column{column("a", ""), column("dot.ted", ""), column("b", "x.0")}, `{"rows": [{"id": 1, "a": "x", "x": []}]}`,
			[]string{`Table "numbers": no row of the first page has "dot\\.ted", "x.0", so these columns may be null everywhere; check Path.`}},
		{"many", many, `{"rows": [{"id": 1}]}`, []string{
			`Table "numbers": no row of the first page has "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9" and 2 more, ` +
				`so these columns may be null everywhere; check Path.`}},
		{"null is a member", []restsource.Column{column("a", "")}, `{"rows": [{"id": 1, "a": null}, {"id": 2}]}`, nil},
		{"of one row", []restsource.Column{column("a", "")}, `{"rows": [{"id": 1}, {"id": 2, "a": "x"}]}`, nil},
		{"converted", []restsource.Column{{Name: "a", Path: "aa", Type: wire.TypeNumber, Convert: one}}, `{"rows": [{"id": 1}]}`,
			[]string{`Table "numbers": no row of the first page has "aa", so these columns may be null everywhere; check Path.`}},
		{"no rows", []restsource.Column{column("a", "")}, `{"rows": []}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables := numbersTable(onePage, func(t *restsource.Table) { t.Columns = append(t.Columns, c.columns...) })
			found := testkit.Must(serve(t, shopAPI, tables, inTurn(c.body)).Discover())(t)
			assert.Equal(t, c.want, found.Warnings)
		})
	}
	t.Run("of the parent", func(t *testing.T) {
		tables := append(numbersTable(onePage), children(column("x", ""), column("y", "")))
		found := testkit.Must(serve(t, shopAPI, tables, inTurn(bodyOfOne, bodyOfRows)).Discover())(t)
		assert.Equal(t, []string{`Table "children": no row of the first page has "y", so these columns may be null everywhere; check Path.`},
			found.Warnings)
	})
}

// TestCutAnswers: an answer that ends early is no answer, in a format too whose every
// beginning is one [rule error-10].
func TestCutAnswers(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	testkit.Must(z.Write([]byte("1\n2\n")))(t)
	require.NoError(t, z.Close())
	for _, c := range []struct {
		name, answer string
		inflate      bool // the host's own transport does
		want         int  // rows; -1: an error
	}{
		{"whole", "Content-Length: 4\r\n\r\n1\n2\n", false, 2},
		{"the length is not met", "Content-Length: 4\r\n\r\n1\n", false, -1},
		{"whole, in chunks", "Transfer-Encoding: chunked\r\n\r\n2\r\n1\n\r\n2\r\n2\n\r\n0\r\n\r\n", false, 2},
		{"the last chunk is not there", "Transfer-Encoding: chunked\r\n\r\n2\r\n1\n\r\n", false, -1},
		{"whole, zipped", fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", zipped.Len(), zipped.String()), true, 2},
		{"zipped and cut",
			fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", zipped.Len()-9, zipped.String()[:zipped.Len()-9]), true, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			listener := memlisten.New()
			defer func() { _ = listener.Close() }()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+c.answer)
					}
					_ = conn.Close()
				}
			}()
			transport := listener.Route(&http.Transport{DisableKeepAlives: true, DisableCompression: !c.inflate})
			answer, err := serve(t, restsource.API{Base: "http://shop.example/v1"}, numbersTable(onePage, func(t *restsource.Table) {
				t.Unwrap = func(body []byte) ([]byte, error) { // a number a line
					rows := strings.ReplaceAll(strings.TrimSpace(string(body)), "\n", `}, {"id": `)
					return []byte(`{"rows": [{"id": ` + rows + `}]}`), nil
				}
			}), transport).Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
			if c.want < 0 {
				requireCode(t, wire.CodeInternal, err)
				return
			}
			require.NoError(t, err)
			assert.Len(t, answer.Column("id"), c.want)
		})
	}
}
