package restsource_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// numbers is an API of 7 rows that pages in every way, two rows at a time.
type numbers struct {
	ids    []int
	size   int                           // how many rows it answers at once, whatever it is asked for
	stated int                           // the total, if it is not the number of rows
	before func(n *numbers, request int) // is called before each answer
	asked  int
	mu     sync.Mutex
}

func newNumbers() *numbers { return &numbers{ids: []int{1, 2, 3, 4, 5, 6, 7}, size: 2} }

func (n *numbers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.before != nil {
		n.before(n, n.asked)
	}
	n.asked++
	query := r.URL.Query()
	if r.Method == http.MethodPost {
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		query = url.Values{}
		for name, value := range body {
			query.Set(name, value)
		}
	}
	from, _ := strconv.Atoi(query.Get("from"))
	if page, err := strconv.Atoi(query.Get("page")); err == nil {
		from = (page - 1) * n.size
	}
	if page, err := strconv.Atoi(query.Get("page0")); err == nil {
		from = page * n.size
	}
	if cursor := query.Get("cursor"); cursor != "" {
		from, _ = strconv.Atoi(strings.TrimPrefix(cursor, "c"))
	}
	if after, err := strconv.Atoi(query.Get("after")); err == nil {
		from = slices.Index(n.ids, after) + 1
	}
	from = min(from, len(n.ids))
	end := min(from+n.size, len(n.ids))
	rows := []map[string]any{}
	for _, id := range n.ids[from:end] {
		rows = append(rows, map[string]any{"id": id})
	}
	answer := map[string]any{"rows": rows, "total": cmp.Or(n.stated, len(n.ids)), "more": end < len(n.ids), "cursor": nil, "next": nil}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(n.ids)))
	if end < len(n.ids) {
		answer["cursor"], answer["next"] = fmt.Sprintf("c%d", end), fmt.Sprintf("?from=%d", end)
		w.Header().Add("Link", fmt.Sprintf(
			`</numbers?from=0>; rel="first", <https://shop.example/v1/numbers?from=%d>; title="a, b"; rel="last next"`, end))
		w.Header().Add("Link", `<https://shop.example/v1/numbers?from=6>; rel=last`)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

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

func readAll(t *testing.T, api http.Handler, tables []restsource.Table) (ids []int64, err error) {
	t.Helper()
	tenant := serve(t, shopAPI, tables, testkit.Over(api))
	answer, err := tenant.Query(wire.QueryRequest{Table: tables[0].Name, Fields: []string{"id"}})
	if err != nil {
		return nil, err
	}
	return idsOf(answer), nil
}

func one(any) (wire.Value, error)   { return wire.Int(1), nil }
func keyless(t *restsource.Table)   { t.Key = nil }
func withTotal(t *restsource.Table) { t.Total = "total" }

// TestPages reads the same rows in every way.
func TestPages(t *testing.T) {
	offset := restsource.Pages{By: restsource.PagingOffset, Param: "from", SizeParam: "limit", Size: 100}
	for name, tables := range map[string][]restsource.Table{
		"page":            numbersTable(restsource.Pages{By: restsource.PagingPage, Param: "page"}),
		"page from zero":  numbersTable(restsource.Pages{By: restsource.PagingPage, Param: "page0", FromZero: true}),
		"page with total": numbersTable(restsource.Pages{By: restsource.PagingPage, Param: "page"}, withTotal),
		"page with header": numbersTable(restsource.Pages{By: restsource.PagingPage, Param: "page"},
			func(t *restsource.Table) { t.TotalHeader = "X-Total-Count" }),
		"offset":             numbersTable(offset),
		"offset with total":  numbersTable(offset, withTotal),
		"offset without key": numbersTable(offset, keyless),
		"offset with more":   numbersTable(restsource.Pages{By: restsource.PagingOffset, Param: "from", HasMore: "more"}),
		"cursor":             numbersTable(restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "cursor"}),
		"cursor with more":   numbersTable(restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "cursor", HasMore: "more"}),
		"cursor without key": numbersTable(restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "cursor"}, keyless),
		"after the last row": numbersTable(restsource.Pages{By: restsource.PagingCursor, Param: "after", LastRowCursor: "id"}),
		"after the last row/more": numbersTable(restsource.Pages{
			By: restsource.PagingCursor, Param: "after", LastRowCursor: "id", HasMore: "more"}),
		"link": numbersTable(restsource.Pages{By: restsource.PagingLink}),
		"url":  numbersTable(restsource.Pages{By: restsource.PagingURL, Next: "next"}),
		"func": numbersTable(restsource.Pages{By: restsource.PagingFunc, Func: func(body []byte, _ http.Header) (url.Values, bool, error) {
			var answer struct{ Cursor string }
			err := json.Unmarshal(body, &answer)
			return url.Values{"cursor": {answer.Cursor}}, answer.Cursor != "", err
		}}),
		"post": numbersTable(restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "cursor"}, func(t *restsource.Table) {
			t.Body = func(params url.Values) ([]byte, error) {
				return json.Marshal(map[string]string{"cursor": params.Get("cursor")})
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			api := newNumbers()
			ids := testkit.Must(readAll(t, api, tables))(t)
			assert.LessOrEqual(t, api.asked, 9)
			assert.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7}, ids)
		})
	}
}

// TestRequests shows what is asked for two pages.
func TestRequests(t *testing.T) {
	post := func(body []byte) func(*restsource.Table) {
		return func(t *restsource.Table) {
			t.Body = func(params url.Values) ([]byte, error) {
				if body == nil {
					return nil, nil
				}
				return []byte(params.Encode()), nil
			}
		}
	}
	cursor := restsource.Pages{By: restsource.PagingCursor, Param: "c", Next: "next", SizeParam: "n", Size: 50}
	for _, c := range []struct {
		name   string
		pages  restsource.Pages
		change func(*restsource.Table)
		want   []string
	}{
		{"page", restsource.Pages{By: restsource.PagingPage, Param: "p", SizeParam: "n", Size: 50}, nil,
			[]string{"GET /v1/numbers?id=1&n=50&p=1&sort=id&v=2 ", "GET /v1/numbers?id=1&n=50&p=2&sort=id&v=2 "}},
		{"page from zero", restsource.Pages{By: restsource.PagingPage, Param: "p", FromZero: true}, nil,
			[]string{"GET /v1/numbers?id=1&p=0&sort=id&v=2 ", "GET /v1/numbers?id=1&p=1&sort=id&v=2 "}},
		{"offset", restsource.Pages{By: restsource.PagingOffset, Param: "o"}, keyless,
			[]string{"GET /v1/numbers?id=1&o=0&sort=id&v=2 ", "GET /v1/numbers?id=1&o=1&sort=id&v=2 "}},
		{"cursor", cursor, nil, []string{"GET /v1/numbers?id=1&n=50&sort=id&v=2 ", "GET /v1/numbers?c=a+b%26c&id=1&n=50&sort=id&v=2 "}},
		{"url", restsource.Pages{By: restsource.PagingURL, Next: "next"}, nil,
			[]string{"GET /v1/numbers?id=1&sort=id&v=2 ", "GET /v1/a%20b&c "}},
		{"func", restsource.Pages{By: restsource.PagingFunc, SizeParam: "n", Size: 50, Func: func(
			body []byte, h http.Header) (url.Values, bool, error) {
			return url.Values{"v": {"3", "4"}, "x": {h.Get("X-Next")}}, strings.Contains(string(body), `"id":1`), nil
		}}, nil, []string{"GET /v1/numbers?id=1&n=50&sort=id&v=2 ", "GET /v1/numbers?id=1&n=50&sort=id&v=3&v=4&x=y "}},
		{"post", cursor, post([]byte{}), []string{"POST /v1/numbers id=1&n=50&sort=id&v=2", "POST /v1/numbers c=a+b%26c&id=1&n=50&sort=id&v=2"}},
		{"post of nothing", cursor, post(nil), []string{"POST /v1/numbers ", "POST /v1/numbers "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			tables := numbersTable(c.pages, func(t *restsource.Table) {
				t.Query, t.Filters = "v=2&sort=-id", []restsource.Param{{Column: "id", Op: wire.OpGte, Name: "id"}}
				t.Sorts = []restsource.Sort{{Column: "id", Asc: "sort=id"}}
			})
			if c.change != nil {
				c.change(&tables[0])
			}
			tenant := asTenant(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body []byte
				if r.Body != nil {
					body, _ = io.ReadAll(r.Body)
				}
				asked = append(asked, fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), body))
				w.Header().Set("X-Next", "y")
				if len(asked) == 1 {
					_, _ = w.Write([]byte(`{"rows":[{"id":1}],"next":"a b&c"}`))
					return
				}
				_, _ = w.Write([]byte(`{"rows":[]}`))
			}), tables).Unverified()
			answer, err := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"},
				Where: wire.Where{And: []wire.Filter{cond("id", wire.OpGte, wire.Int(1))}}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}})
			require.NoError(t, err)
			assert.JSONEq(t, `[{"id": 1}]`, answer.JSON())
			assert.Equal(t, c.want, asked)
		})
	}
}

// TestFuncFails: an error of Pages.Func or Table.Body is no end of the pages.
func TestFuncFails(t *testing.T) {
	failed := errors.New("not now")
	for name, tables := range map[string][]restsource.Table{
		"func": numbersTable(restsource.Pages{By: restsource.PagingFunc, Func: func([]byte, http.Header) (url.Values, bool, error) {
			return nil, false, failed
		}}),
		"func, and more": numbersTable(restsource.Pages{By: restsource.PagingFunc, Func: func([]byte, http.Header) (url.Values, bool, error) {
			return url.Values{"from": {"7"}}, true, failed
		}}),
		"body": numbersTable(onePage, func(t *restsource.Table) {
			t.Body = func(url.Values) ([]byte, error) { return nil, failed }
		}),
		"unwrap": numbersTable(onePage, func(t *restsource.Table) {
			t.Unwrap = func([]byte) ([]byte, error) { return []byte(`{"rows": []}`), failed }
		}),
	} {
		_, err := readAll(t, newNumbers(), tables)
		require.Error(t, err, name)
		requireCode(t, wire.CodeInternal, err)
	}
}

// TestLinks reads the address of the next page from the header Link.
func TestLinks(t *testing.T) {
	for _, c := range []struct {
		links []string
		want  string // of the second request; "": there is none
		why   string
	}{
		{[]string{`</v1/b>; rel="next"`}, "/v1/b", ""},
		{[]string{`<b?p=2>; rel=next`}, "/v1/b?p=2", "relative to the address that was asked"},
		{[]string{`<?p=2>; REL="Next"`}, "/v1/a?p=2", "neither case counts"},
		{[]string{`</v1/x>; rel="prev", </v1/b>; rel="last next"`}, "/v1/b", "one of two relations"},
		{[]string{`</v1/x>; rel="prev"`, `</v1/b>; rel="next"`}, "/v1/b", "two headers"},
		{[]string{`</v1/b> ; title="a, b" ; rel = "next" , </v1/x>; rel="last"`}, "/v1/b", "blanks"},
		{[]string{`</v1/x>; rel="prev", </v1/y>; rel="nextish"`}, "", ""},
		{[]string{`</v1/x>; title="next"`}, "", ""},
		{nil, "", ""},
		{[]string{`</v1/b>; rel='next'`}, "/v1/b", "single quotes"},
		{[]string{`</v1/x>; rel=prev,</v1/b>;rel=next;title=c`}, "/v1/b", "bare words"},
		{[]string{`</v1/b>; title="a \"b\", <c>; rel=prev"; rel="next"`}, "/v1/b", "quotes in quotes"},
		{[]string{`</v1/x>; rel=prev; rel=next`}, "", "the first rel of a link counts"},
		{[]string{`</v1/a,b;c>; rel=next`}, "/v1/a,b;c", "an address has commas"},
		{[]string{`</v1/b; rel="next"`}, "!", "an address without its end"},
		{[]string{`/v1/b; rel="next"`}, "!", "an address without brackets"},
		{[]string{`</v1/b>; rel="next`}, "!", "a quote without its end"},
		{[]string{`</v1/b> rel="next"`}, "!", "no semicolon"},
		{[]string{`</v1/x; rel="prev", </v1/b>; rel="next"`}, "!", "two links in one"},
	} {
		var asked []string
		api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked = append(asked, r.URL.RequestURI()); len(asked) == 1 {
				w.Header()["Link"] = c.links
			}
			_, _ = fmt.Fprintf(w, `{"rows": [{"id": %d}]}`, len(asked))
		})
		_, err := readAll(t, api, numbersTable(restsource.Pages{By: restsource.PagingLink}, func(t *restsource.Table) { t.Path = "/a" }))
		want := []string{"/v1/a"}
		if c.want == "!" {
			require.Error(t, err, c.why)
			continue
		}
		require.NoError(t, err, c.why)
		if c.want != "" {
			want = append(want, c.want)
		}
		assert.Equal(t, want, asked, "%q %s", c.links, c.why)
	}
}

// TestRowByRow reads an API that answers one row at a time: a page by offset then has
// no room for the last row of the page before.
func TestRowByRow(t *testing.T) {
	offset := restsource.Pages{By: restsource.PagingOffset, Param: "from"}
	for name, tables := range map[string][]restsource.Table{
		"a key": numbersTable(offset), "no key": numbersTable(offset, keyless), "a total": numbersTable(offset, withTotal),
		"pages": numbersTable(restsource.Pages{By: restsource.PagingPage, Param: "page"}, keyless, withTotal),
	} {
		api := newNumbers()
		api.size = 1
		ids := testkit.Must(readAll(t, api, tables))(t, name)
		assert.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7}, ids, name)
		assert.LessOrEqual(t, api.asked, 8, name)
	}
}

// TestEmptyPages: an API that filters after it has cut its pages may answer many
// without a row, but not without an end.
func TestEmptyPages(t *testing.T) {
	cursor := restsource.Pages{By: restsource.PagingCursor, Param: "c", Next: "c"}
	for _, tables := range [][]restsource.Table{numbersTable(cursor), numbersTable(cursor, keyless)} {
		for empty, ends := range map[int]bool{99: true, 100: false} {
			asked := 0
			ids, err := readAll(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, strings.Repeat("x", asked), r.URL.Query().Get("c"))
				asked++
				rows, next := `[]`, strings.Repeat("x", asked)
				if asked == 1 || asked > empty+1 {
					rows = fmt.Sprintf(`[{"id": %d}]`, asked)
				}
				if asked > empty+1 {
					next = ""
				}
				_, _ = fmt.Fprintf(w, `{"rows": %s, "c": %q}`, rows, next)
			}), tables)
			if !ends {
				requireCode(t, wire.CodeInternal, err)
				assert.Equal(t, 101, asked)
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, []int64{1, int64(empty) + 2}, ids)
		}
	}
}

// TestWrongTotals: where rows are read to the end, the total is their number, whether
// they are sorted or not, and wherever the read begins.
func TestWrongTotals(t *testing.T) {
	for _, c := range []struct {
		pages restsource.Pages
		wrong []int // of 7 rows
	}{
		{restsource.Pages{By: restsource.PagingPage, Param: "page"}, []int{5, 6, 8, 9}},
		{restsource.Pages{By: restsource.PagingOffset, Param: "from"}, []int{5, 6, 8, 9}},
		{restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "cursor"}, []int{5, 6, 8, 9}},
		{restsource.Pages{By: restsource.PagingLink}, []int{5, 6, 8, 9}},
	} {
		for _, stated := range append(c.wrong, 7) {
			api := newNumbers()
			api.stated = stated
			_, err := readAll(t, api, numbersTable(c.pages, withTotal))
			tables := numbersTable(c.pages, withTotal)
			tables[0].Sorts = []restsource.Sort{{Column: "id", Asc: "sort=id"}}
			tenant := asTenant(t, api, tables).Unverified()
			byID := []wire.SortKey{{Field: "id", Dir: wire.Asc}}
			_, sorted := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}, Sort: byID})
			_, later := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}, Offset: 3})
			_, behind := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}, Offset: 20})
			for _, err := range []error{err, sorted, later} {
				if stated == 7 {
					require.NoError(t, err)
					continue
				}
				requireCode(t, wire.CodeInternal, err)
			}
			if c.pages.By == restsource.PagingOffset {
				require.NoError(t, behind, "no row is read, and none is stated there")
			}
		}
	}
}

// TestRowsAgain: a row that comes again is none of the total.
func TestRowsAgain(t *testing.T) {
	for name, pages := range map[string]restsource.Pages{
		"page": {By: restsource.PagingPage, Param: "page"}, "cursor": {By: restsource.PagingCursor, Param: "page", Next: "next"},
	} {
		ids := testkit.Must(readAll(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(map[string]string{
				"":  `{"rows": [{"id": 1}, {"id": 2}], "total": 4, "next": 2}`,
				"1": `{"rows": [{"id": 1}, {"id": 2}], "total": 4, "next": 2}`,
				"2": `{"rows": [{"id": 2}, {"id": 3}], "total": 4, "next": 3}`,
				"3": `{"rows": [{"id": 4}], "total": 4, "next": null}`,
			}[r.URL.Query().Get("page")]))
		}), numbersTable(pages, withTotal)))(t, name)
		assert.Equal(t, []int64{1, 2, 3, 4}, ids, name)
	}
}

// TestMovingWindow: a window that begins in the middle has the same mark between its
// pages.
func TestMovingWindow(t *testing.T) {
	for _, deletes := range []bool{false, true} {
		api := newNumbers()
		api.before = func(n *numbers, request int) {
			if request == 1 && deletes {
				n.ids = n.ids[1:]
			}
		}
		tenant := asTenant(t, api, numbersTable(restsource.Pages{By: restsource.PagingOffset, Param: "from"})).Unverified()
		answer, err := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}, Offset: 2, Limit: 4})
		if deletes {
			requireCode(t, wire.CodeInternal, err)
			continue
		}
		require.NoError(t, err)
		assert.JSONEq(t, `[{"id": 3}, {"id": 4}, {"id": 5}, {"id": 6}]`, answer.JSON())
	}
}

// TestMovingRows changes the rows while they are read: the answer has each row that
// was there all the time exactly once, or the read fails.
func TestMovingRows(t *testing.T) {
	add := func(id int) func(*numbers) { return func(n *numbers) { n.ids = append([]int{id}, n.ids...) } }
	drop := func(id int) func(*numbers) {
		return func(n *numbers) { n.ids = slices.DeleteFunc(n.ids, func(have int) bool { return have == id }) }
	}
	two := func(n *numbers) { add(8)(n); add(9)(n) }
	page := restsource.Pages{By: restsource.PagingPage, Param: "page"}
	offset := restsource.Pages{By: restsource.PagingOffset, Param: "from"}
	for _, c := range []struct {
		name   string
		tables []restsource.Table
		change []func(*numbers) // before the n-th page
		want   []int64          // nil: the read fails
	}{
		{"page, added before", numbersTable(page), []func(*numbers){1: add(9)}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"page, added before, with a total", numbersTable(page, withTotal), []func(*numbers){1: add(9)}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"page, a page added before", numbersTable(page), []func(*numbers){1: two}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"page, deleted before, without a total", numbersTable(page), []func(*numbers){1: drop(1)}, []int64{1, 2, 4, 5, 6, 7}}, // documented
		{"page, deleted before", numbersTable(page, withTotal), []func(*numbers){1: drop(1)}, nil},
		{"offset, added before", numbersTable(offset), []func(*numbers){1: add(9)}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"offset, two added before", numbersTable(offset), []func(*numbers){1: two}, []int64{1, 2, 8, 3, 4, 5, 6, 7}},
		{"offset, deleted before", numbersTable(offset), []func(*numbers){1: drop(1)}, nil},
		{"offset, deleted at the end", numbersTable(offset), []func(*numbers){6: drop(1)}, nil},
		{"offset, deleted behind", numbersTable(offset), []func(*numbers){1: drop(7)}, []int64{1, 2, 3, 4, 5, 6}},
		{"offset, deleted without a key", numbersTable(offset, keyless, withTotal), []func(*numbers){1: drop(1)}, nil},
		{"after the last row, deleted", numbersTable(restsource.Pages{By: restsource.PagingCursor, Param: "after", LastRowCursor: "id"}),
			[]func(*numbers){1: drop(1)}, []int64{1, 2, 3, 4, 5, 6, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := newNumbers()
			api.before = func(n *numbers, request int) {
				if request < len(c.change) && c.change[request] != nil {
					c.change[request](n)
				}
			}
			ids, err := readAll(t, api, c.tables)
			if c.want == nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, ids)
		})
	}
}

// TestWrongPaging: pages that do not go on are an error, and never an endless read.
func TestWrongPaging(t *testing.T) {
	for name, tables := range map[string][]restsource.Table{
		"a page parameter that the API does not know": numbersTable(restsource.Pages{By: restsource.PagingPage, Param: "p"}),
		"an offset that the API does not know":        numbersTable(restsource.Pages{By: restsource.PagingOffset, Param: "skip"}),
		"a cursor that the API does not know":         numbersTable(restsource.Pages{By: restsource.PagingCursor, Param: "c", Next: "cursor"}),
		"a page parameter that is not known, no key":  numbersTable(restsource.Pages{By: restsource.PagingPage, Param: "p"}, keyless),
		"an unknown cursor, no key": numbersTable(
			restsource.Pages{By: restsource.PagingCursor, Param: "c", Next: "next"}, keyless),
		"an id that the API does not know": numbersTable(
			restsource.Pages{By: restsource.PagingCursor, Param: "a", LastRowCursor: "id"}),
		"no header with the total": numbersTable(onePage, func(t *restsource.Table) { t.TotalHeader = "X-Total" }),
		"a total of other rows":    numbersTable(onePage, withTotal),
	} {
		t.Run(name, func(t *testing.T) {
			api := newNumbers()
			_, err := readAll(t, api, tables)
			var refused *wire.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, wire.CodeInternal, refused.Code)
			assert.LessOrEqual(t, api.asked, 3, "one page more may be behind rows that were added")
		})
	}
}
