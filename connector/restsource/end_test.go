package restsource_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// rowsOf returns an answer with the rows of these ids, and other members.
func rowsOf(first, last int, members ...string) string {
	var rows []string
	for id := first; id <= last; id++ {
		rows = append(rows, fmt.Sprintf(`{"id":%d}`, id))
	}
	return "{" + strings.Join(append([]string{`"rows":[` + strings.Join(rows, ",") + "]"}, members...), ",") + "}"
}

// These are the ways to page, with pages of 4 rows.
var (
	cursorPages = restsource.Pages{By: restsource.PagingCursor, Param: "c", Next: "page.next", SizeParam: "n", Size: 4}
	urlPages    = restsource.Pages{By: restsource.PagingURL, Next: "next", SizeParam: "n", Size: 4}
	linkPages   = restsource.Pages{By: restsource.PagingLink, SizeParam: "n", Size: 4}
	afterPages  = restsource.Pages{By: restsource.PagingCursor, Param: "c", LastRowCursor: "id", SizeParam: "n", Size: 4}
	numberPages = restsource.Pages{By: restsource.PagingPage, Param: "p", SizeParam: "n", Size: 4}
	offsetPages = restsource.Pages{By: restsource.PagingOffset, Param: "o", SizeParam: "n", Size: 4}
	scrollPages = restsource.Pages{By: restsource.PagingScroll, Param: "c", Next: "scroll"}
	onePage     = restsource.Pages{By: restsource.OnePage}
)

// A reading is what an API answers, request by request, and what becomes of it.
type reading struct {
	name    string
	pages   restsource.Pages
	change  func(*restsource.Table) // may be nil
	answers []string                // see script
	rows    int                     // 1 to so many
	err     string                  // what the answer or the log says; "": the rows are all there
}

// run reads the rows. All of the answers are asked for, and no log quotes one.
func (c *reading) run(t *testing.T) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		api := inTurn(c.answers...)
		answer, said, err := query(t, numbersTable(c.pages, c.change), api, allNumbers)
		assert.Len(t, api.asked, len(c.answers), "requests")
		if c.err != "" {
			require.Error(t, err)
			assert.Contains(t, err.Error()+said, c.err)
			assert.NotContains(t, err.Error()+said, secretText)
			return
		}
		require.NoError(t, err, said)
		want := []int64{}
		for id := range c.rows {
			want = append(want, int64(id)+1)
		}
		assert.Equal(t, want, idsOf(answer))
	})
}

func withMore(p restsource.Pages) restsource.Pages { p.HasMore = "more"; return p }

func unsized(p restsource.Pages) restsource.Pages { p.SizeParam, p.Size = "", 0; return p }

func sized(p restsource.Pages, size int) restsource.Pages { p.SizeParam, p.Size = "n", size; return p }

// unmarshalled is a Pages.Func that fails for what is no JSON.
func unmarshalled(body []byte, _ http.Header) (url.Values, bool, error) {
	var answer struct{ C string }
	err := json.Unmarshal(body, &answer)
	return url.Values{"c": {answer.C}}, answer.C != "", err
}

// TestEnd: a read ends where it was shown to end, and nowhere else [rule error-10].
// Each case is what an API answers, request by request, and what becomes of it. TestReportedLosses has
// more, from the reports of others.
func TestEnd(t *testing.T) {
	const yes, no, null = `"more":true`, `"more":false`, `"more":null`
	const next, last, empty = `"page":{"next":"x"}`, `"page":{"next":null}`, `"page":{"next":""}`
	const promised = "says that there are more rows, and not where"
	const noMore = `no boolean at Pages.HasMore (\"more\")`
	const unshown = `nothing at Pages.Next (\"page.next\")`
	const scroll, resent = `"scroll":"s"`, `{"rows":[{"id":5},{"id":2},{"id":6}],"page":{"next":null}}`
	total := func(n int) string { return fmt.Sprintf(`"total":%d`, n) }
	until404, resends := numberPages, cursorPages
	until404.EndStatus, resends.Resends = 404, true
	for _, c := range []reading{
		// More is promised.
		{"a cursor, promised and left out", withMore(cursorPages), nil,
			[]string{rowsOf(1, 4, yes, next), rowsOf(5, 8, yes)}, 0, promised},
		{"an address, promised and left out", withMore(urlPages), nil, []string{rowsOf(1, 4, yes)}, 0, promised},
		{"a key, promised on an empty page", withMore(afterPages), nil, []string{rowsOf(1, 4, yes), rowsOf(1, 0, yes)}, 0, promised},
		{"an offset, promised on an empty page", unsized(withMore(offsetPages)), keyless,
			[]string{rowsOf(1, 4, yes), rowsOf(1, 0, yes)}, 0, promised},
		{"an offset, promised behind the last row", withMore(offsetPages), nil,
			[]string{rowsOf(1, 4, yes), rowsOf(4, 4, yes), rowsOf(1, 0, yes)}, 0, promised},
		{"an offset, behind a page that has room for the mark alone", unsized(offsetPages), nil,
			[]string{rowsOf(1, 4), rowsOf(4, 4), rowsOf(5, 5), rowsOf(6, 6), rowsOf(1, 0)}, 6, ""},
		{"a page number, promised on an empty page, is the next one", withMore(numberPages), nil,
			[]string{rowsOf(1, 4, yes), rowsOf(1, 0, yes), rowsOf(5, 6, no)}, 6, ""},
		{"a key that the last row does not have", afterPages, func(t *restsource.Table) { t.Pages.LastRowCursor = "uid" },
			[]string{rowsOf(1, 4)}, 0, `no value at Pages.LastRowCursor (\"uid\")`},
		{"a function, promised without parameters", restsource.Pages{By: restsource.PagingFunc,
			Func: func([]byte, http.Header) (url.Values, bool, error) { return nil, true, nil }}, nil,
			[]string{rowsOf(1, 4)}, 0, "named without its place"},
		{"an address that repeats", urlPages, nil, []string{rowsOf(1, 4, `"next":"?c=2"`), rowsOf(5, 8, `"next":"?c=2"`)}, 0, "repeats"},
		{"a link without an address", linkPages, nil, []string{"Link: <>;rel=next " + rowsOf(1, 4)}, 0, "named without its place"},

		// More is not there.
		{"more, by an offset, is nowhere", withMore(offsetPages), nil, []string{rowsOf(1, 4)}, 0, noMore},
		{"more is nowhere, beside a total", withMore(numberPages), withTotal, []string{rowsOf(1, 4, total(4))}, 0, noMore},
		{"more is a text", withMore(numberPages), nil, []string{rowsOf(1, 4, `"more":"true"`)}, 0, noMore},
		{"more becomes a text", withMore(numberPages), nil, []string{rowsOf(1, 4, yes), rowsOf(5, 8, `"more":"false"`)}, 0, noMore},
		{"more is null at the end", withMore(offsetPages), nil, []string{rowsOf(1, 4, yes), rowsOf(4, 6, null)}, 6, ""},
		{"more is left out, and a cursor is not", withMore(cursorPages), nil,
			[]string{rowsOf(1, 4, yes, next), rowsOf(5, 8, `"page":{"next":"y"}`), rowsOf(9, 10, no)}, 10, ""},
		{"more is left out by an empty table", withMore(offsetPages), nil, []string{rowsOf(1, 0)}, 0, ""},

		// Next is not there.
		{"a cursor is left out at the end", cursorPages, nil, []string{rowsOf(1, 4, next), rowsOf(5, 8)}, 8, ""},
		{"a page that is not full", cursorPages, nil, []string{rowsOf(1, 3)}, 3, ""},
		{"no rows", cursorPages, nil, []string{rowsOf(1, 0)}, 0, ""},
		{"a full page, and half of it names a next one", cursorPages, nil, []string{rowsOf(1, 4), rowsOf(1, 2, next), rowsOf(3, 4)}, 4, ""},
		{"a full page, and there is a row behind its other half", cursorPages, nil,
			[]string{rowsOf(1, 4), rowsOf(1, 2, next), rowsOf(3, 4, `"page":{"next":"y"}`), rowsOf(5, 5)}, 0, "there are rows behind it"},
		{"a full page, and the next place of half of it leads elsewhere", cursorPages, nil,
			[]string{rowsOf(1, 4), rowsOf(1, 2, next), rowsOf(1, 2, next)}, 0, "does not lead to the other half"},
		{"a full page of an API that ignores the size", cursorPages, nil, []string{rowsOf(1, 4), rowsOf(1, 4)}, 0, unshown},
		{"a full page, and no smaller one is served", cursorPages, nil, []string{rowsOf(1, 4), "400"}, 4, ""},
		{"a full page, and a failure", cursorPages, nil, []string{rowsOf(1, 4), "404"}, 0, "unknown_entity"},
		{"more rows than a full page", cursorPages, nil, []string{rowsOf(1, 7), rowsOf(1, 7)}, 7, ""},
		{"a page of a round number of rows", sized(cursorPages, 100), nil, []string{rowsOf(1, 50), rowsOf(1, 25)}, 0, unshown},
		{"a power of two", sized(cursorPages, 100), nil, []string{rowsOf(1, 64), rowsOf(1, 32, next), rowsOf(33, 64)}, 64, ""},
		{"a number of rows that no API has as its limit", sized(cursorPages, 100), nil, []string{rowsOf(1, 63)}, 63, ""},
		{"a few rows", sized(cursorPages, 100), nil, []string{rowsOf(1, 8)}, 8, ""},
		{"a link is nowhere", linkPages, nil, []string{rowsOf(1, 4), rowsOf(1, 2)}, 0, "no header Link"},
		{"a link is left out at the end", linkPages, nil, []string{"Link: <?c=2>;rel=next " + rowsOf(1, 4), rowsOf(5, 8)}, 8, ""},
		{"links without a next one", linkPages, nil, []string{"Link: <?c=2>;rel=first " + rowsOf(1, 4)}, 4, ""},

		// One page.
		{"one page", onePage, nil, []string{rowsOf(1, 4)}, 4, ""},
		{"one page that is full, and its total", sized(onePage, 4), withTotal, []string{rowsOf(1, 4, total(4))}, 4, ""},
		{"one page that is not full", sized(onePage, 4), nil, []string{rowsOf(1, 3)}, 3, ""},
		{"one page that links to another", onePage, nil, []string{"Link: <?c=2>;rel=next " + rowsOf(1, 4)}, 0, "names a next page"},
		{"one page that is a part", onePage, nil, []string{"206" + rowsOf(1, 4)}, 0, "the status 206"},

		// A status.
		{"204 is an empty table", cursorPages, nil, []string{"204"}, 0, ""},
		{"204 is the end behind a key", afterPages, nil, []string{rowsOf(1, 4), "204"}, 4, ""},
		{"204 after a promise, by a page", withMore(numberPages), nil,
			[]string{rowsOf(1, 4, yes), "204"}, 0, "the status 204 for a page"},
		{"205", numberPages, nil, []string{"205" + rowsOf(1, 4)}, 0, "the status 205"},
		{"201, 203 and 206 have rows", numberPages, nil,
			[]string{"201" + rowsOf(1, 4), "203" + rowsOf(5, 8), "206" + rowsOf(9, 10), rowsOf(1, 0)}, 10, ""},
		{"400 where nothing was pushed", cursorPages, nil, []string{"400"}, 0, "the status 400"},
		{"422 where nothing was pushed", cursorPages, nil, []string{"422"}, 0, "the status 422"},
		{"a function is not asked about 204", restsource.Pages{By: restsource.PagingFunc, Func: unmarshalled}, nil, []string{"204"}, 0, ""},
		{"204 after a function's parameters", restsource.Pages{By: restsource.PagingFunc, Func: unmarshalled}, nil,
			[]string{rowsOf(1, 4, `"c":"x"`), "204"}, 0, "the status 204 for a page"},

		// A total.
		{"totals that fall to nothing", cursorPages, withTotal,
			[]string{rowsOf(1, 4, next, total(10)), rowsOf(5, 7, total(0))}, 0, "the API states 0 rows"},
		{"totals that change, and the first fits", cursorPages, withTotal,
			[]string{rowsOf(1, 4, next, total(7)), rowsOf(5, 7, total(8))}, 7, ""},
		{"totals that change, and the last fits", cursorPages, withTotal,
			[]string{rowsOf(1, 4, next, total(8)), rowsOf(5, 7, total(7))}, 7, ""},
		{"a total that fits, then none", numberPages, withTotal,
			[]string{rowsOf(1, 4, total(6)), rowsOf(5, 5, total(6)), "204"}, 0, "the API states 6 rows and has answered 5"},
		{"a total that is reached on a full page", numberPages, withTotal,
			[]string{rowsOf(1, 4, total(4)), rowsOf(1, 0, total(4))}, 4, ""},
		{"a total that is too small on a later page", numberPages, withTotal,
			[]string{rowsOf(1, 4, total(8)), rowsOf(5, 8, total(8)), rowsOf(9, 9, total(8))}, 0, "the API states 8 rows and has answered 9"},
		{"a total that is reached on a page that is not full", numberPages, withTotal, []string{rowsOf(1, 3, total(3))}, 3, ""},
		{"a total that is reached, and more is true", withMore(numberPages), withTotal,
			[]string{rowsOf(1, 3, yes, total(3)), rowsOf(4, 4, no, total(3))}, 0, "the API states 3 rows and has answered 4"},
		{"a page behind the total that is not found", numberPages, withTotal, []string{rowsOf(1, 4, total(4)), "404"}, 4, ""},
		{"an offset at the total of a full page", offsetPages, withTotal,
			[]string{rowsOf(1, 4, total(4)), rowsOf(4, 4, total(4))}, 4, ""},
		{"a total that is reached before the last cursor", cursorPages, withTotal,
			[]string{rowsOf(1, 4, next, total(6)), rowsOf(5, 6, `"page":{"next":"y"}`, total(6)), rowsOf(1, 0, last, total(6))}, 6, ""},
		{"a total above a full page that names no other", cursorPages, withTotal,
			[]string{rowsOf(1, 4, total(9))}, 0, "the API states 9 rows and has answered 4"},
		{"a total below the rows of its page", numberPages, withTotal,
			[]string{rowsOf(1, 4, total(3))}, 0, "the API states 3 rows and has answered 4"},
		{"a total of an empty page", cursorPages, withTotal,
			[]string{rowsOf(1, 0, last, total(3))}, 0, "the API states 3 rows and has answered 0"},

		// The sizes of pages.
		{"pages that grow", unsized(numberPages), nil, []string{rowsOf(1, 4), rowsOf(9, 16)}, 0, "a page has 8 rows, and the first had 4"},
		{"pages that are larger than what is asked for", numberPages, nil, []string{rowsOf(1, 7)}, 0, "a page has 7 rows, and 4 were asked for"},
		{"the last page again", numberPages, nil, []string{rowsOf(1, 4), rowsOf(5, 6), rowsOf(5, 6), rowsOf(5, 6)}, 6, ""},
		{"the last of one page again, proven by its second half", numberPages, nil,
			[]string{rowsOf(1, 3), rowsOf(1, 3), rowsOf(1, 3), rowsOf(3, 3)}, 3, ""},

		// A status that is declared to be the end.
		{"404 behind the last page", until404, nil, []string{rowsOf(1, 4), rowsOf(5, 6), "404"}, 6, ""},
		{"404 and a total that is not reached", until404, withTotal, []string{rowsOf(1, 4, total(9)), "404"}, 0, "states 9 rows"},

		// The cursor of a scroll may stay the same, and a page without rows is the end.
		{"a scroll whose cursor stays", scrollPages, nil, []string{rowsOf(1, 4, scroll), rowsOf(5, 8, scroll), rowsOf(1, 0, scroll)}, 8, ""},
		{"a scroll that has expired", scrollPages, nil,
			[]string{rowsOf(1, 4, scroll), rowsOf(5, 8, scroll), rowsOf(1, 0, scroll, `"message":"expired"`)}, 0, "message"},
		{"a scroll whose cursor the API does not know", scrollPages, nil,
			[]string{rowsOf(1, 4, scroll), rowsOf(1, 4, scroll), rowsOf(1, 4, scroll)}, 0, "rows that it has answered before"},

		// By a true cursor a row that was changed comes again at the end of an order by change,
		// which only the author of the table knows.
		{"a row that comes again", cursorPages, nil, []string{rowsOf(1, 4, next), resent}, 0, "declare Pages.Resends"},
		{"a row that comes again is none of the total, by cursor", cursorPages, withTotal,
			[]string{rowsOf(1, 4, next, total(6)), rowsOf(4, 5, `"page":{"next":"y"}`, total(6)), rowsOf(6, 6, last, total(6))}, 6, ""},
		{"a row that comes again is none of the total, by page", unsized(numberPages), withTotal,
			[]string{rowsOf(1, 4, total(6)), rowsOf(4, 5, total(6)), rowsOf(6, 6, total(6))}, 6, ""},
		{"a row that the API resends", resends, nil, []string{rowsOf(1, 4, next), resent}, 6, ""},
	} {
		c.run(t)
	}
}

// TestEndUnsettled: where no smaller page can be asked for, the log says once for each
// table that nothing has shown the end.
func TestEndUnsettled(t *testing.T) {
	const line = "nothing at Pages.Next (\\\"next\\\") on the first page"
	synctest.Test(t, func(t *testing.T) {
		for next, want := range map[string]int{``: 1, `, "next": null`: 0} {
			tables := familyTables("/parents/{id}/children")
			tenant, log := logged(t, shopAPI, tables, testkit.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/parents" {
					_, _ = w.Write([]byte(`{"rows": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}`))
					return
				}
				_, _ = w.Write([]byte(`{"rows": [{"id": 1}]` + next + `}`))
			})))
			answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}}))(t)
			assert.Len(t, answer.Column("id"), 3)
			synctest.Wait()
			assert.Equal(t, want, strings.Count(strings.ReplaceAll(log.String(), `\\`, `\`), line), log)
		}
	})
}

// TestEndOfChildren: what one endpoint of a child table has shown holds for the others.
func TestEndOfChildren(t *testing.T) {
	for _, c := range []struct {
		first string // of the first endpoint; the others have a full page and leave Next out
		asked int64  // pages of children
		why   string
	}{
		{`{"rows": [{"id": 1}, {"id": 2}]}`, 5, "one page of half the size is asked for, and the other half"},
		{`{"rows": [{"id": 1}, {"id": 2}], "next": null}`, 3, "the first endpoint has the member"},
		{`{"rows": [{"id": 1}]}`, 5, "the first endpoint shows nothing, the second is asked again"},
	} {
		var asked atomic.Int64 // several endpoints are asked at once
		tables := familyTables("/parents/{id}/children")
		tables[0].Pages.SizeParam, tables[0].Pages.Size = "n", 2
		tenant, _ := logged(t, shopAPI, tables, testkit.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/v1/parents":
				_, _ = w.Write([]byte(`{"rows": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}`))
				return
			case r.URL.Query().Get("after") == "x":
				_, _ = w.Write([]byte(`{"rows": [{"id": 2}]}`))
			case r.URL.Query().Get("n") == "1":
				_, _ = w.Write([]byte(`{"rows": [{"id": 1}], "next": "x"}`))
			case r.URL.Path == "/v1/parents/a/children":
				_, _ = w.Write([]byte(c.first))
			default:
				_, _ = w.Write([]byte(`{"rows": [{"id": 1}, {"id": 2}]}`))
			}
			asked.Add(1)
		})))
		testkit.Must(tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}}))(t, c.why)
		assert.Equal(t, c.asked, asked.Load(), c.why)
	}
}

// TestEndRequests shows what is asked for, and that a doubt about the end of a page is no matter
// for a query that needs no more than the page.
func TestEndRequests(t *testing.T) {
	limited, behind := allNumbers, allNumbers
	limited.Limit, behind.Offset = 4, 20
	for _, c := range []struct {
		pages   restsource.Pages
		change  func(*restsource.Table)
		answers []string
		req     wire.QueryRequest
		rows    int
		asked   []string
		why     string
	}{
		{cursorPages, nil, []string{rowsOf(1, 4)}, limited, 4, []string{"n=4"}, "nothing shows the end, and the limit is reached"},
		{sized(cursorPages, 100), nil, []string{rowsOf(1, 50), rowsOf(1, 25, `"page":{"next":"x"}`), rowsOf(26, 50)}, allNumbers, 50,
			[]string{"n=100", "n=25", "c=x&n=25"}, "half of the rows that came, which may be fewer than half of those that were asked for"},
		{offsetPages, withTotal, []string{rowsOf(1, 0, `"total":7`)}, behind, 0, []string{"n=4&o=20"}, "behind the last row, one request"},
		{offsetPages, keyless, []string{rowsOf(1, 0)}, behind, 0, []string{"n=4&o=20"}, "likewise"},
	} {
		api := inTurn(c.answers...)
		answer := testkit.Must(serve(t, shopAPI, numbersTable(c.pages, c.change), api).Query(c.req))(t, c.why)
		assert.Len(t, idsOf(answer), c.rows, c.why)
		assert.Equal(t, c.asked, api.queries, c.why)
	}
}

// TestEndFiltered: a total may be that of all rows where a filter is pushed, but not
// where the API has refused it.
func TestEndFiltered(t *testing.T) {
	filtered := allNumbers
	filtered.And = []wire.Filter{cond("id", wire.OpGte, wire.Int(1))}
	pushes := func(t *restsource.Table) {
		t.Filters = []restsource.Param{{Column: "id", Op: wire.OpGte, Name: "from"}}
	}
	for _, c := range []struct {
		pages   restsource.Pages
		total   func(*restsource.Table)
		answers []string
		want    wire.Code
	}{
		{onePage, withTotal, []string{rowsOf(1, 3, `"total":9`)}, ""},
		{onePage, withTotal, []string{rowsOf(1, 3, `"total":2`)}, wire.CodeInternal},
		{onePage, withTotal, []string{"400", rowsOf(1, 3, `"total":9`)}, wire.CodeInternal},
		{onePage, withTotal, []string{"400", rowsOf(1, 3, `"total":3`)}, ""},
		{numberPages, withTotal, []string{rowsOf(1, 3, `"total":9`), rowsOf(1, 0, `"total":9`)}, ""},
		{onePage, nil, []string{rowsOf(1, 3, `"totalCount":9`)}, ""}, // which nobody declared
	} {
		_, err := serve(t, shopAPI, numbersTable(c.pages, c.total, pushes), inTurn(c.answers...)).Query(filtered)
		requireCode(t, c.want, err)
	}
}

// TestEndForetold: discovery asks for half a page where nothing has shown that the
// first page is the last, and warns of what a read would not get.
func TestEndForetold(t *testing.T) {
	const more = `"more":true`
	const lost = `Table "numbers": the first page has nothing at Pages.Next ("page.next"), so it is read as the last one, ` +
		`and rows may be missing. Its members are `
	for _, c := range []struct {
		name              string
		pages             restsource.Pages
		change            func(*restsource.Table)
		answers, warnings []string
	}{
		{"shown", cursorPages, nil, []string{rowsOf(1, 4, `"page":{"next":"x"}`), rowsOf(5, 8, `"page":{"next":"y"}`),
			rowsOf(1, 4, `"page":{"next":"x"}`), rowsOf(5, 8, `"page":{"next":"y"}`)}, nil},
		{"shown, and the rows stand in another order", cursorPages, nil,
			[]string{rowsOf(1, 4, `"page":{"next":"x"}`), rowsOf(5, 8, `"page":{"next":"y"}`),
				rowsOf(1, 4, `"page":{"next":"x"}`), `{"rows":[{"id":6},{"id":5}],"page":{"next":"y"}}`},
			[]string{`Table "numbers": the API's order is not stable, because two pages have their rows in another order when they are ` +
				`read again, so a read will fail or miss rows; declare a Sort on a unique column, or send one by Query.`}},
		{"the second page is empty", numberPages, nil, []string{rowsOf(1, 4), rowsOf(1, 0)}, nil},
		{"the second page is not there", numberPages, nil, []string{rowsOf(1, 4), "404"},
			[]string{`Table "numbers" cannot be read: the API answers the status 404 for the second page; if that is the end, ` +
				`declare Pages.EndStatus.`}},
		{"the second page is larger", unsized(numberPages), nil, []string{rowsOf(1, 4), rowsOf(9, 16)},
			[]string{`Table "numbers" cannot be read: a page has 8 rows, and the first had 4, so rows between them may be missing; ` +
				`declare SizeParam and a Size that the API takes.`}},
		{"shown as null", cursorPages, nil, []string{rowsOf(1, 4, `"page":{"next":null}`)}, nil},
		{"no rows", cursorPages, nil, []string{rowsOf(1, 0)}, nil},
		{"no rows, and no size", unsized(cursorPages), nil, []string{rowsOf(1, 0)}, nil},
		{"one row cannot be halved", cursorPages, nil, []string{rowsOf(1, 1)}, nil},
		{"half a page shows it", cursorPages, nil, []string{rowsOf(1, 3), rowsOf(1, 1, `"page":{"next":"x"}`)}, nil},
		{"half a page does not", cursorPages, nil, []string{rowsOf(1, 4, `"meta":{"page":{"x":"x"}},"a.b":[]`), rowsOf(1, 2)},
			[]string{lost + `"rows", "meta.page.x", "a\\.b".`}},
		{"a page that is not full", sized(cursorPages, 100), nil, []string{rowsOf(1, 4), rowsOf(1, 2)}, []string{lost + `"rows".`}},
		{"half a page is refused", cursorPages, nil, []string{rowsOf(1, 4), "400"}, []string{lost + `"rows".`}},
		{"half a page is too much", cursorPages, nil, []string{rowsOf(1, 4), "429"},
			[]string{`The pages of table "numbers" were not all tested: the API takes no more requests at the moment.`}},
		{"no size", unsized(cursorPages), nil, []string{rowsOf(1, 1)}, []string{lost + `"rows".`}},
		{"many members", unsized(cursorPages), nil, []string{rowsOf(1, 1, `"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1`)},
			[]string{lost + `"rows", "a", "b", "c", "d", "e", "f", "g", "h", "i", others.`}},
		{"no members", unsized(linkPages), func(t *restsource.Table) { t.Rows = "" }, []string{`[{"id":1}]`},
			[]string{`Table "numbers": the first page has no header Link, so it is read as the last one, and rows may be missing. ` +
				`Its members are none.`}},
		{"no more", withMore(offsetPages), nil, []string{rowsOf(1, 4, `"hasMore":true`)},
			[]string{`Table "numbers" cannot be read: there is no boolean at Pages.HasMore ("more"); check the path, ` +
				`and declare no HasMore if the API leaves it out on a first page.`}},
		{"a promise", withMore(cursorPages), nil, []string{rowsOf(1, 4, more)},
			[]string{`Table "numbers" cannot be read: the API says that there are more rows, and not where; check Pages.`}},
		{"one full page", sized(onePage, 4), nil, []string{rowsOf(1, 4)},
			[]string{`Table "numbers" cannot be read: the answer has as many rows as were asked for, so there may be more; ` +
				`declare how it pages, Total or a larger Size.`}},
		{"the wrong total", onePage, withTotal, []string{rowsOf(1, 4, `"total":5`)},
			[]string{`Table "numbers" cannot be read: the API states 5 rows and has answered 4; check Total, Pages and Key.`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := inTurn(c.answers...)
			tenant, log := logged(t, shopAPI, numbersTable(c.pages, c.change), api)
			found := testkit.Must(tenant.Discover())(t)
			assert.Len(t, found.Tables, 1)
			assert.Equal(t, c.warnings, found.Warnings)
			assert.Equal(t, c.pages.Size == 0 && len(c.answers) == 1 && strings.Contains(strings.Join(c.warnings, ""), "Its members"),
				strings.Contains(log.String(), "the source warns"))
			assert.Len(t, api.asked, len(c.answers))
		})
	}
}

// TestCountOfOnePage: a total that is the number of rows in its own answer may count
// just those. A read tells.
func TestCountOfOnePage(t *testing.T) {
	for _, c := range []struct {
		pages   restsource.Pages
		answers []string
		want    int64 // -1: an error
		why     string
	}{
		{numberPages, []string{rowsOf(1, 1, `"total":9`)}, 9, "other rows than that of the page are counted"},
		{numberPages, []string{rowsOf(1, 1, `"total":1`), rowsOf(1, 1, `"total":1`)}, 1, "there is no other row"},
		{numberPages, []string{rowsOf(1, 1, `"total":1`), rowsOf(1, 3, `"total":3`)}, 3, "a count of the page's rows, which are all"},
		{numberPages, []string{rowsOf(1, 1, `"total":1`), rowsOf(1, 4, `"total":4`), rowsOf(5, 5, `"total":4`)}, -1, "and which are not all"},
		{cursorPages, []string{rowsOf(1, 1, `"total":1`), rowsOf(1, 4, `"total":4,"page":{"next":"x"}`), rowsOf(5, 5, `"total":1`)}, -1,
			"the same by a cursor"},
		{cursorPages, []string{rowsOf(1, 1, `"total":1`), rowsOf(1, 1, `"total":1`)}, 1, "no page is asked for at half of one row"},
		{cursorPages, []string{rowsOf(1, 1, `"total":1`), "204"}, 0, "the row has gone"},
		{numberPages, []string{rowsOf(1, 0, `"total":0`)}, 0, "no rows"},
		{numberPages, []string{"204"}, 0, "no content"},
		{numberPages, []string{rowsOf(1, 0, `"total":3`), rowsOf(1, 0, `"total":3`)}, -1, "rows that are counted and not there"},
		{unsized(numberPages), []string{rowsOf(1, 4, `"total":5`)}, 5, "the first page cannot be cut, and there is another"},
		{unsized(numberPages), []string{rowsOf(1, 4, `"total":4`), rowsOf(1, 0, `"total":4`)}, 4, "no page is asked for twice"},
		{onePage, []string{rowsOf(1, 4, `"total":5`)}, -1, "a row that no page has"},
		{sized(onePage, 5), []string{rowsOf(1, 4, `"total":4`)}, 4, "the page is not cut to one row"},
	} {
		for _, size := range []bool{false, true} {
			api := inTurn(c.answers...)
			tenant, _ := logged(t, shopAPI, numbersTable(c.pages, withTotal), api)
			var n int64
			var err error
			if size {
				var stated *wire.Size
				if stated, err = tenant.Size("numbers"); err == nil {
					n = stated.Rows
					assert.True(t, stated.Exact, c.why)
				}
			} else {
				n, err = tenant.Count(wire.CountRequest{Table: "numbers"})
			}
			assert.Len(t, api.asked, len(c.answers), c.why)
			if c.want < 0 {
				requireCode(t, wire.CodeInternal, err)
				continue
			}
			require.NoError(t, err, c.why)
			assert.Equal(t, c.want, n, c.why)
		}
	}
}
