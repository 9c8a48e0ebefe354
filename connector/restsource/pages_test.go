package restsource_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// numbers is an API of rows that pages in every way.
type numbers struct {
	remote
	ids    []int
	size   int                           // how many rows it answers at once, whatever it is asked for
	stated any                           // the total; nil: the number of rows
	before func(n *numbers, request int) // is called before each answer
	count  int                           // of the answers
	mu     sync.Mutex
}

// newNumbers returns an API of 7 rows, two at a time.
func newNumbers() *numbers { return numbersTo(7, 2) }

func numbersTo(last, size int) *numbers {
	n := &numbers{size: size, before: func(*numbers, int) {}}
	for id := range last {
		n.ids = append(n.ids, id+1)
	}
	n.answer = func(r *http.Request) string { return withLink(n.page(r)) }
	return n
}

// page returns the members of an answer.
func (n *numbers) page(r *http.Request) map[string]any {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before(n, n.count)
	n.count++
	query := r.URL.Query()
	if r.Method == http.MethodPost {
		query.Set("from", string(testkit.Body(r)))
	}
	size := n.size
	if asked, err := strconv.Atoi(query.Get("n")); err == nil {
		size = min(size, asked)
	}
	from, _ := strconv.Atoi(query.Get("from"))
	if page, err := strconv.Atoi(query.Get("page")); err == nil {
		from = (page - 1) * size
	}
	if page, err := strconv.Atoi(query.Get("page0")); err == nil {
		from = page * size
	}
	if after, err := strconv.Atoi(query.Get("after")); err == nil {
		from = slices.Index(n.ids, after) + 1
	}
	from = min(from, len(n.ids))
	end := min(from+size, len(n.ids))
	rows := []any{}
	for _, id := range n.ids[from:end] {
		rows = append(rows, map[string]any{"id": id, "name": fmt.Sprint("n", id)})
	}
	answer := map[string]any{"rows": rows, "total": len(n.ids), "more": end < len(n.ids), "cursor": nil, "next": nil}
	if n.stated != nil {
		answer["total"] = n.stated
	}
	if end < len(n.ids) {
		answer["cursor"], answer["next"] = strconv.Itoa(end), fmt.Sprintf("?from=%d", end)
		if query.Has("n") {
			answer["next"] = fmt.Sprintf("?from=%d&n=%d", end, size)
		}
	}
	return answer
}

// withLink returns members as an answer, which has the address of the next page and the total in headers too.
func withLink(members map[string]any) string {
	text, _ := json.Marshal(members)
	answer := fmt.Sprintf("{X-Total-Count: %v} %s", members["total"], text)
	if next, ok := members["next"].(string); ok {
		return "{Link: <" + next + `>; rel="next"} ` + answer
	}
	return answer
}

// These are the ways to page through numbers.
var (
	byPage   = restsource.Pages{By: restsource.PagingPage, Param: "page"}
	byOffset = restsource.Pages{By: restsource.PagingOffset, Param: "from"}
	byCursor = restsource.Pages{By: restsource.PagingCursor, Param: "from", Next: "cursor"}
	byKey    = restsource.Pages{By: restsource.PagingCursor, Param: "after", LastRowCursor: "id"}
	byURL    = restsource.Pages{By: restsource.PagingURL, Next: "next"}
	byLink   = restsource.Pages{By: restsource.PagingLink}
)

// numbersTable declares the rows of numbers.
func numbersTable(pages restsource.Pages, changes ...func(*restsource.Table)) []restsource.Table {
	t := restsource.Table{
		Name: "numbers", Path: "/numbers", Rows: "rows", Pages: pages, Key: []string{"id"},
		Columns: []restsource.Column{{Name: "id", Type: wire.TypeNumber}},
	}
	for _, change := range changes {
		if change != nil {
			change(&t)
		}
	}
	return []restsource.Table{t}
}

var allNumbers = wire.QueryRequest{Table: "numbers", Fields: []string{"id"}}

// children declares a table of the numbers' children, with the column id of the parent.
func children(columns ...restsource.Column) restsource.Table {
	return restsource.Table{
		Name: "children", Pages: onePage, Path: "/numbers/{id}/children", Parent: "numbers", Rows: "rows",
		Columns: append([]restsource.Column{{Name: "id", OfParent: "id"}}, columns...),
	}
}

func readAll(t *testing.T, api http.RoundTripper, tables []restsource.Table) (ids []int64, err error) {
	t.Helper()
	tenant := serve(t, shopAPI, tables, api)
	answer, err := tenant.Query(wire.QueryRequest{Table: tables[0].Name, Fields: []string{"id"}})
	if err != nil {
		return nil, err
	}
	return idsOf(answer), nil
}

func one(any) (wire.Value, error)   { return wire.Int(1), nil }
func keyless(t *restsource.Table)   { t.Key = nil }
func withTotal(t *restsource.Table) { t.Total = "total" }

// TestPages reads the same rows in every way, two at a time and one: a page by offset then has no
// room for the last row of the page before.
func TestPages(t *testing.T) {
	byFunc := restsource.Pages{By: restsource.PagingFunc, Func: func(body []byte, _ http.Header) (url.Values, bool, error) {
		var answer struct{ Cursor string }
		err := json.Unmarshal(body, &answer)
		return url.Values{"from": {answer.Cursor}}, answer.Cursor != "", err
	}}
	all := map[string][]restsource.Table{"func": numbersTable(byFunc), "post": numbersTable(byCursor, func(t *restsource.Table) {
		t.Body = func(params url.Values) ([]byte, error) { return []byte(params.Get("from")), nil }
	}), "header": numbersTable(byPage, func(t *restsource.Table) { t.TotalHeader = "X-Total-Count" })}
	for _, words := range []string{
		"byPage", "fromZero", "byPage total", "byPage total keyless", "byOffset", "byOffset size=100", "byOffset total", "byOffset keyless",
		"byOffset more", "byCursor", "byCursor more", "byCursor keyless", "byKey", "byKey more", "byLink", "byURL",
	} {
		all[words], _ = shaped(t, words)
	}
	for name, tables := range all {
		for _, size := range []int{1, 2} {
			t.Run(fmt.Sprint(name, " by ", size), func(t *testing.T) {
				api := numbersTo(7, size)
				ids := testkit.Must(readAll(t, api, tables))(t)
				assert.LessOrEqual(t, api.count, 9)
				assert.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7}, ids)
			})
		}
	}
}

// TestRequests shows what is asked for two pages.
func TestRequests(t *testing.T) {
	bodies := map[string]func(url.Values) ([]byte, error){
		"post":    func(params url.Values) ([]byte, error) { return []byte(params.Encode()), nil },
		"nothing": func(url.Values) ([]byte, error) { return nil, nil },
	}
	for _, c := range testkit.Table(t, "testdata/requests.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			tables, _ := shaped(t, c[1])
			tables[0].Body, tables[0].Query, tables[0].Sorts = bodies[c[2]], "v=2&sort=-id", []restsource.Sort{{Column: "id", Asc: "sort=id"}}
			tables[0].Filters = []restsource.Param{{Column: "id", Op: wire.OpGte, Name: "id"}}
			api := inTurn(`{X-Next: y} 1 "next":"a b&c"`, "none")
			req := wire.QueryRequest{Table: "numbers", Fields: []string{"id"}, Where: whereOf(t, "id gte 1")}
			answer := testkit.Must(serve(t, shopAPI, tables, api).Query(asks(req, "sort=id")))(t)
			assert.JSONEq(t, `[{"id": 1}]`, answer.JSON())
			for i, url := range c[3:] {
				assert.Equal(t, url, strings.TrimSpace(api.asked[i]+" "+api.bodies[i]))
			}
			assert.Len(t, api.asked, 2)
		})
	}
}

// TestLinks reads the address of the next page from the header Link.
func TestLinks(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/links.tsv", 3) {
		first, want := "1", "https://shop.example/v1/a https://shop.example"+c[1]
		if c[0] != "" {
			first = "{Link: " + strings.ReplaceAll(c[0], " + ", "} {Link: ") + "} 1"
		}
		answers := inTurn(first, "2")
		tables := numbersTable(byLink, func(t *restsource.Table) { t.Path = "/a" })
		_, err := serve(t, shopAPI, tables, answers).Query(allNumbers)
		if c[1] == "!" {
			require.Error(t, err, c[2])
			continue
		}
		require.NoError(t, err, "%s", c)
		if c[1] == "" {
			want = "https://shop.example/v1/a"
		}
		assert.Equal(t, want, strings.Join(answers.urls, " "), "%s", c)
	}
}

// TestEmptyPages: an API that filters after it has cut its pages may answer many without a row, but not without an end.
func TestEmptyPages(t *testing.T) {
	cursor := restsource.Pages{By: restsource.PagingCursor, Param: "c", Next: "c"}
	for _, tables := range [][]restsource.Table{numbersTable(cursor), numbersTable(cursor, keyless)} {
		for empty, ends := range map[int]bool{99: true, 100: false} {
			answers, want := []string{`1 "c":"x"`}, []string{""}
			for n := 1; n <= empty; n++ {
				answers, want = append(answers, fmt.Sprintf(`none "c":"%sx"`, strings.Repeat("x", n))), append(want, "c="+strings.Repeat("x", n))
			}
			api := inTurn(append(answers, `2 "c":""`)...)
			ids, err := readAll(t, api, tables)
			if !ends {
				requireCode(t, wire.CodeInternal, err)
				assert.Equal(t, want, api.takeQueries())
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, []int64{1, 2}, ids)
			assert.Len(t, api.asked, len(want)+1)
		}
	}
}

// TestWrongTotals: where rows are read to the end, the total is their number, whether
// they are sorted or not, and wherever the read begins.
func TestWrongTotals(t *testing.T) {
	sorted, later, behind := allNumbers, allNumbers, allNumbers
	sorted.Sort, later.Offset, behind.Offset = []wire.SortKey{{Field: "id", Dir: wire.Asc}}, 3, 20
	sorts := func(t *restsource.Table) { t.Sorts = []restsource.Sort{{Column: "id", Asc: "sort=id"}} }
	for _, pages := range []restsource.Pages{byPage, byOffset, byCursor, byLink} {
		for _, stated := range []int{5, 6, 7, 8, 9} {
			api := newNumbers()
			api.stated = stated
			want := wire.CodeInternal
			if stated == 7 {
				want = ""
			}
			for _, req := range []wire.QueryRequest{allNumbers, sorted, later} {
				_, err := serve(t, shopAPI, numbersTable(pages, withTotal, sorts), api).Query(req)
				requireCode(t, want, err)
			}
			if pages.By == restsource.PagingOffset {
				testkit.Must(serve(t, shopAPI, numbersTable(pages, withTotal), api).Query(behind))(t, "no row is read, and none is stated there")
			}
		}
	}
	api := newNumbers()
	later.Offset = 4 // so that the last page is not full
	testkit.Must(serve(t, shopAPI, numbersTable(byOffset, withTotal, keyless), api).Query(later))(t)
	assert.Equal(t, 2, api.count, "a total that is reached ends the read")
}

// TestMovingRows changes the rows while they are read: the answer has each row that was there all the time exactly
// once, or the read fails. A window that begins in the middle has the same mark between its pages.
func TestMovingRows(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/moving.tsv", 5) {
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			tables, req := shaped(t, c[1])
			api := newNumbers()
			api.before = func(n *numbers, request int) {
				if strconv.Itoa(request) != c[2] {
					return
				}
				how, ids, _ := strings.Cut(c[3], " ")
				for word := range strings.FieldsSeq(ids) {
					id := testkit.Must(strconv.Atoi(word))(t)
					if how == "add" {
						n.ids = append([]int{id}, n.ids...)
					} else {
						n.ids = slices.DeleteFunc(n.ids, func(have int) bool { return have == id })
					}
				}
			}
			answer, err := serve(t, shopAPI, tables, api).Query(req)
			if c[4] == "" {
				requireCode(t, wire.CodeInternal, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "["+c[4]+"]", fmt.Sprint(idsOf(answer)))
		})
	}
}

// TestWrongPaging: pages that do not go on, and functions of the author that fail, are an error. They are
// no end of the pages, and never an endless read.
func TestWrongPaging(t *testing.T) {
	failed := errors.New("not now")
	fails := func(next url.Values, more bool) func(*restsource.Table) {
		return func(t *restsource.Table) {
			t.Pages = restsource.Pages{By: restsource.PagingFunc, Func: func([]byte, http.Header) (url.Values, bool, error) { return next, more, failed }}
		}
	}
	wrong := map[string][]restsource.Table{
		"no header with the total":   numbersTable(onePage, func(t *restsource.Table) { t.TotalHeader = "X-Total" }),
		"Func fails":                 numbersTable(onePage, fails(nil, false)),
		"Func fails, and names more": numbersTable(onePage, fails(url.Values{"from": {"7"}}, true)),
		"Body fails": numbersTable(onePage, func(t *restsource.Table) {
			t.Body = func(url.Values) ([]byte, error) { return nil, failed }
		}),
		"Unwrap fails, and has no rows": numbersTable(onePage, func(t *restsource.Table) {
			t.Unwrap = func([]byte) ([]byte, error) { return []byte(`{"rows": []}`), failed }
		}),
	}
	for _, words := range []string{ // parameters that the API does not know, and a total of other rows
		"page unsized", "page unsized keyless", "offset unsized", "cursor unsized next=cursor", "cursor unsized next=cursor keyless",
		"after unsized", "one total",
	} {
		wrong[words], _ = shaped(t, words)
	}
	for name, tables := range wrong {
		t.Run(name, func(t *testing.T) {
			api := newNumbers()
			_, err := readAll(t, api, tables)
			requireCode(t, wire.CodeInternal, err)
			assert.LessOrEqual(t, api.count, 3, "one page more may be behind rows that were added")
		})
	}
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

func withMore(p restsource.Pages) restsource.Pages { p.HasMore = "more"; return p }

func sized(p restsource.Pages, size int) restsource.Pages { p.SizeParam, p.Size = "n", size; return p }

// TestEnd: a read ends where it was shown to end, and nowhere else [rule error-10].
func TestEnd(t *testing.T) { readings(t, "end.tsv") }

// TestEndForetold: discovery asks for half a page where nothing has shown that the
// first page is the last, and warns of what a read would not get.
func TestEndForetold(t *testing.T) { readings(t, "foretold.tsv") }

// TestCountOfOnePage: a total that is the number of rows in its own answer may count just those. A read tells.
func TestCountOfOnePage(t *testing.T) { readings(t, "counts.tsv") }

// TestEndUnsettled: where no smaller page can be asked for, the log says once for each
// table that nothing has shown the end.
func TestEndUnsettled(t *testing.T) {
	const line = "nothing at Pages.Next (\\\"next\\\") on the first page"
	synctest.Test(t, func(t *testing.T) {
		for next, want := range map[string]int{``: 1, `, "next": null`: 0} {
			tables := declared("family")
			tenant, log := logged(t, shopAPI, tables,
				atPlaces("/parents", `{"rows": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}`, "", `{"rows": [{"id": 1}]`+next+`}`))
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
		asked int    // pages of children
		why   string
	}{
		{`{"rows": [{"id": 1}, {"id": 2}]}`, 5, "one page of half the size is asked for, and the other half"},
		{`{"rows": [{"id": 1}, {"id": 2}], "next": null}`, 3, "the first endpoint has the member"},
		{`{"rows": [{"id": 1}]}`, 5, "the first endpoint shows nothing, the second is asked again"},
	} {
		tables := declared("family")
		tables[0].Pages.SizeParam, tables[0].Pages.Size = "n", 2
		api := atPlaces("/parents", `{"rows": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}`, "?after=x", "2", "?n=1", `1 "next": "x"`,
			"/parents/a/children", c.first, "", "1-2")
		testkit.Must(serve(t, shopAPI, tables, api).Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}}))(t, c.why)
		assert.Len(t, api.takeAsked(), 1+c.asked, c.why)
	}
}

// tied returns an API of 40 rows that it sorts by a column in which four rows each are the same, so
// that rows of one value stand in any order, each time another one.
func tied(size int, order func(request int, of []int)) *numbers {
	api := numbersTo(40, size)
	api.before = func(n *numbers, request int) {
		n.ids = numbersTo(40, size).ids
		for of := range slices.Chunk(n.ids, 4) {
			order(request, of)
		}
	}
	return api
}

// tiedOrders are ways in which rows of one value can stand in another order each time.
var tiedOrders = map[string]func(request int, of []int){
	"turned round": func(request int, of []int) {
		if request%2 == 1 {
			slices.Reverse(of)
		}
	},
	"moved on":        func(request int, of []int) { moveOn(2*request, of) },
	"moved on by one": moveOn,
	"at random": func(request int, of []int) {
		dice := rand.New(rand.NewPCG(uint64(of[0]), uint64(request)))
		dice.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	},
}

// moveOn moves the first of some ids to their end, so many times.
func moveOn(times int, of []int) {
	times %= len(of)
	copy(of, append(slices.Clone(of[times:]), of[:times]...))
}

var byPlaces = map[string]restsource.Pages{"page": byPage, "offset": byOffset, "url": byURL, "link": byLink}

// TestUnstableOrder: where rows stand in another order in each answer, some come twice and
// others never. The read is whole by chance, or it fails. Discovery warns.
func TestUnstableOrder(t *testing.T) {
	for name, order := range tiedOrders {
		for by, pages := range byPlaces {
			t.Run(name+" by "+by, func(t *testing.T) {
				silent := 0
				for size := 6; size < 15; size++ {
					if ids, err := readAll(t, tied(size, order), numbersTable(pages)); err != nil {
						requireCode(t, wire.CodeInternal, err)
					} else if len(ids) != 40 {
						silent++
					}
				}
				assert.Zero(t, silent)
				found := testkit.Must(serve(t, shopAPI, numbersTable(pages), tied(10, order)).Discover())(t)
				require.Len(t, found.Warnings, 1)
				assert.Contains(t, found.Warnings[0], "order is not stable")
			})
		}
	}
	t.Run("a stable one", func(t *testing.T) {
		for by, pages := range byPlaces {
			api := numbersTo(40, 10)
			assert.Len(t, testkit.Must(readAll(t, api, numbersTable(pages)))(t, by), 40, by)
			found := testkit.Must(serve(t, shopAPI, numbersTable(pages), api).Discover())(t)
			assert.Empty(t, found.Warnings, by)
		}
	})
}
