package restsource_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tied is an API of 40 rows that it sorts by a column in which four rows each are the same, so
// that rows of one value stand in any order, each time another one.
type tied struct {
	rows  int
	size  int // of a page
	order func(request int, of []int)
	asked int
}

func (a *tied) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ids := make([]int, a.rows)
	for i := range ids {
		ids[i] = i + 1
	}
	for i := 0; i < len(ids); i += 4 {
		a.order(a.asked, ids[i:min(i+4, len(ids))])
	}
	a.asked++
	query := r.URL.Query()
	from, _ := strconv.Atoi(query.Get("from"))
	if page, err := strconv.Atoi(query.Get("page")); err == nil {
		from = (page - 1) * a.size
	}
	end := min(from+a.size, len(ids))
	rows := []map[string]any{}
	for _, id := range ids[min(from, end):end] {
		rows = append(rows, map[string]any{"id": id})
	}
	answer := map[string]any{"rows": rows, "next": nil}
	if end < len(ids) {
		next := fmt.Sprintf("/v1/numbers?from=%d", end)
		answer["next"] = next
		w.Header().Set("Link", "<"+next+`>; rel="next"`)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// tiedOrders are ways in which rows of one value can stand in another order each time.
var tiedOrders = map[string]func(request int, of []int){
	"turned round": func(request int, of []int) {
		if request%2 == 1 {
			slices.Reverse(of)
		}
	},
	"moved on": func(request int, of []int) {
		for range (2 * request) % len(of) {
			copy(of, append(slices.Clone(of[1:]), of[0]))
		}
	},
	"moved on by one": func(request int, of []int) {
		for range request % len(of) {
			copy(of, append(slices.Clone(of[1:]), of[0]))
		}
	},
	"at random": func(request int, of []int) {
		dice := rand.New(rand.NewPCG(uint64(of[0]), uint64(request)))
		dice.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	},
}

var byPlaces = map[string]restsource.Pages{
	"page":   {By: restsource.PagingPage, Param: "page"},
	"offset": {By: restsource.PagingOffset, Param: "from"},
	"url":    {By: restsource.PagingURL, Next: "next"},
	"link":   {By: restsource.PagingLink},
}

// TestUnstableOrder: where rows stand in another order in each answer, some come twice and
// others never. The read is whole by chance, or it fails. Discovery warns.
func TestUnstableOrder(t *testing.T) {
	for name, order := range tiedOrders {
		for by, pages := range byPlaces {
			t.Run(name+" by "+by, func(t *testing.T) {
				silent := 0
				for size := 6; size < 15; size++ {
					api := &tied{rows: 40, size: size, order: order}
					ids, err := readAll(t, api, numbersTable(pages))
					if err != nil {
						requireCode(t, wire.CodeInternal, err)
					} else if len(ids) != 40 {
						silent++
					}
				}
				assert.Zero(t, silent)
				found, err := serve(t, shopAPI, numbersTable(pages), testkit.Over(&tied{rows: 40, size: 10, order: order})).Discover()
				require.NoError(t, err)
				require.Len(t, found.Warnings, 1)
				assert.Contains(t, found.Warnings[0], "order is not stable")
			})
		}
	}
	t.Run("a stable one", func(t *testing.T) {
		for by, pages := range byPlaces {
			api := &tied{rows: 40, size: 10, order: func(int, []int) {}}
			ids := testkit.Must(readAll(t, api, numbersTable(pages)))(t, by)
			assert.Len(t, ids, 40, by)
			found := testkit.Must(serve(t, shopAPI, numbersTable(pages), testkit.Over(api)).Discover())(t)
			assert.Empty(t, found.Warnings, by)
		}
	})
}

// TestAddedRows: rows that are added at the head between any two pages move others, and lose
// none.
func TestAddedRows(t *testing.T) {
	for by, pages := range byPlaces {
		if by == "url" || by == "link" {
			continue // numbers answers them by offsets, as page and offset do
		}
		for added := range 7 {
			for before := 1; before < 4; before++ {
				api := newNumbers()
				api.before = func(n *numbers, request int) {
					for i := range added {
						if request == before {
							n.ids = append([]int{100 + i}, n.ids...)
						}
					}
				}
				ids, err := readAll(t, api, numbersTable(pages))
				if err != nil && (by == "offset" && added > 1 || added > 3) {
					continue // the mark is not in the page, or two pages have known rows only: the read fails, and says so
				}
				require.NoError(t, err, "%d rows before page %d, by %s", added, before+1, by)
				for id := range int64(7) {
					assert.Contains(t, ids, id+1, "%d rows before page %d, by %s", added, before+1, by)
				}
			}
		}
	}
}

// TestResends: by a true cursor a row that was changed comes again at the end of an order by
// change, which only the author of the table knows.
func TestResends(t *testing.T) {
	pages := []string{rowsOf(1, 4, `"page":{"next":"x"}`), `{"rows":[{"id":5},{"id":2},{"id":6}],"page":{"next":null}}`}
	tenant, _ := logged(t, shopAPI, numbersTable(cursorPages), &upstream{t: t, answers: pages})
	_, err := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
	requireCode(t, wire.CodeInternal, err)
	resends := cursorPages
	resends.Resends = true
	tenant, _ = logged(t, shopAPI, numbersTable(resends), &upstream{t: t, answers: pages})
	answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}}))(t)
	assert.Equal(t, []int64{1, 2, 3, 4, 5, 6}, idsOf(answer))
	for _, by := range []restsource.Pages{numberPages, offsetPages, onePage} {
		by.Resends = true
		_, err := restsource.New(shopAPI, numbersTable(by), nil)
		require.ErrorContains(t, err, "Resends is for cursors")
	}
}

// TestPageSizes: a page by number that is larger than those before has skipped rows, and a page
// by offset that has room for the mark alone is not the last.
func TestPageSizes(t *testing.T) {
	end := rowsOf(1, 0)
	for _, c := range []struct {
		name    string
		pages   restsource.Pages
		answers []string
		rows    int    // 1 to so many
		err     string // what the log says
	}{
		{"pages that grow", unsized(numberPages), []string{rowsOf(1, 4), rowsOf(9, 16)}, 0, "a page has 8 rows, and the first had 4"},
		{"pages that are larger than what is asked for", numberPages, []string{rowsOf(1, 7)}, 0, "a page has 7 rows, and 4 were asked for"},
		{"a page in the middle that is short", numberPages, []string{rowsOf(1, 4), rowsOf(5, 7), rowsOf(8, 11), end}, 11, ""},
		{"offsets, one row at a time from the second page on", unsized(offsetPages),
			[]string{rowsOf(1, 4), rowsOf(4, 4), rowsOf(5, 5), rowsOf(6, 6), end}, 6, ""},
		{"the last page again", numberPages, []string{rowsOf(1, 4), rowsOf(5, 6), rowsOf(5, 6), rowsOf(5, 6)}, 6, ""},
		{"the last of one page again, proven by its second half", numberPages,
			[]string{rowsOf(1, 3), rowsOf(1, 3), rowsOf(1, 3), rowsOf(3, 3)}, 3, ""},
		{"one page again, and a half of it too", numberPages,
			[]string{rowsOf(1, 3), rowsOf(1, 3), rowsOf(1, 3), rowsOf(1, 2)}, 0, "check Pages.Param"},
		{"one page again, without a size", unsized(numberPages), []string{rowsOf(1, 3), rowsOf(1, 3), rowsOf(1, 3)}, 0, "check Pages.Param"},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := &upstream{t: t, answers: c.answers}
			tenant, log := logged(t, shopAPI, numbersTable(c.pages), api)
			answer, err := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
			assert.Len(t, api.asked, len(c.answers))
			if c.err != "" {
				requireCode(t, wire.CodeInternal, err)
				assert.Contains(t, log.String(), c.err)
				return
			}
			require.NoError(t, err, log)
			assert.Len(t, idsOf(answer), c.rows)
		})
	}
}

// TestEndStatus: a status tells the end behind a page that had rows, where the table says so.
func TestEndStatus(t *testing.T) {
	django := numberPages
	django.EndStatus = 404
	for _, c := range []struct {
		pages   restsource.Pages
		change  func(*restsource.Table)
		answers []string
		rows    int // -1: an error
		why     string
	}{
		{django, keyed, []string{rowsOf(1, 4), rowsOf(5, 6), "404"}, 6, ""},
		{django, keyed, []string{"404"}, -1, "there was no page"},
		{django, keyed, []string{rowsOf(1, 4), "410"}, -1, "another status"},
		{django, withTotal, []string{rowsOf(1, 4, `"total":9`), "404"}, -1, "the total is not reached"},
		{numberPages, keyed, []string{rowsOf(1, 4), "404"}, -1, "it is not declared"},
	} {
		tenant, log := logged(t, shopAPI, numbersTable(c.pages, c.change), &upstream{t: t, answers: c.answers})
		answer, err := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
		if c.rows < 0 {
			require.Error(t, err, c.why)
			continue
		}
		require.NoError(t, err, log)
		assert.Len(t, idsOf(answer), c.rows)
	}
	for _, by := range []restsource.Pages{cursorPages, numberPages, linkPages} {
		by.EndStatus = 500
		_, err := restsource.New(shopAPI, numbersTable(by), nil)
		require.ErrorContains(t, err, "EndStatus")
	}
}

// TestScroll: the cursor of a scroll may stay the same, and a page without rows is the end. A
// request is not sent again, because the API would answer the page after.
func TestScroll(t *testing.T) {
	scroll := restsource.Pages{By: restsource.PagingScroll, Param: "c", Next: "id"}
	const id = `"id":"s"`
	for _, c := range []struct {
		answers []string
		rows    int // -1: an error
		why     string
	}{
		{[]string{rowsOf(1, 4, id), rowsOf(5, 8, id), rowsOf(9, 10, id), rowsOf(1, 0, id)}, 10, "the cursor stays"},
		{[]string{rowsOf(1, 4, id), rowsOf(5, 8), rowsOf(1, 0)}, 8, "it is named once"},
		{[]string{rowsOf(1, 4, id), rowsOf(1, 0, `"id":null`)}, 4, ""},
		{[]string{rowsOf(1, 4, id), rowsOf(5, 8, id), "503"}, -1, "the next request would get the page after"},
		{[]string{rowsOf(1, 4, id), rowsOf(5, 8, id), rowsOf(1, 0, id, `"message":"expired"`)}, -1, "no page"},
		{[]string{rowsOf(1, 4, id), rowsOf(1, 4, id), rowsOf(1, 4, id)}, -1, "the cursor is not known"},
	} {
		api := &upstream{t: t, answers: c.answers}
		tenant, log := logged(t, shopAPI, numbersTable(scroll), api)
		answer, err := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
		assert.LessOrEqual(t, len(api.asked), len(c.answers), c.why)
		if c.rows < 0 {
			require.Error(t, err, c.why)
			continue
		}
		require.NoError(t, err, log)
		assert.Len(t, idsOf(answer), c.rows, c.why)
	}
}

// TestLimitBy403: a 403 that says when to come back, or that nothing is left of a budget, is a
// limit and no refusal of the credentials.
func TestLimitBy403(t *testing.T) {
	for _, c := range []struct {
		headers []string
		waited  time.Duration // until the answer; 0: the table is refused
	}{
		{[]string{"Retry-After: 20"}, 20 * time.Second},
		{[]string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 20"}, 20 * time.Second},
		{[]string{"X-RateLimit-Remaining: 0"}, 500 * time.Millisecond},
		{[]string{"RateLimit: limit=100, remaining=0, reset=7"}, 7 * time.Second},
		{[]string{"X-RateLimit-Remaining: 4"}, 0},
		{nil, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, asked := time.Now(), 0
			tenant, _ := logged(t, shopAPI, numbersTable(onePage), testkit.Transport(func(*http.Request) (*http.Response, error) {
				if asked++; asked == 1 {
					return reply(403, "", c.headers...), nil
				}
				return reply(200, bodyOfOne), nil
			}))
			_, err := tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}})
			if c.waited == 0 {
				requireCode(t, wire.CodeBadRequest, err)
				return
			}
			require.NoError(t, err, "%s", c.headers)
			assert.Equal(t, c.waited, time.Since(begun))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		tenant, _ := logged(t, shopAPI, numbersTable(onePage), always(403, "", "Retry-After: 3600"))
		_, err := tenant.Discover()
		requireCode(t, wire.CodeTimeout, err)
	})
}

// pagesOf answers five pages with a row each; more is written into each answer.
func pagesOf(begun time.Time, asked *[]time.Duration, more func(n int) string) testkit.Transport {
	return func(r *http.Request) (*http.Response, error) {
		*asked = append(*asked, time.Since(begun))
		n := len(*asked)
		return reply(200, fmt.Sprintf(`{"rows": [{"id": %d}], "page": %d%s}`, n, n, more(n))), nil
	}
}

// TestBudgets: requests keep to what the body states and to what the author knows, and a
// wait beyond the deadline is refused at once.
func TestBudgets(t *testing.T) {
	level := func(remaining, restore, cost int) string {
		return fmt.Sprintf(`, "extensions": {"cost": {"requestedQueryCost": %d, "throttleStatus":
			{"maximumAvailable": 1000, "currentlyAvailable": %d, "restoreRate": %d}}}`, cost, remaining, restore)
	}
	declared := restsource.Budget{Remaining: "extensions.cost.throttleStatus.currentlyAvailable",
		Restore: "extensions.cost.throttleStatus.restoreRate",
		Cost:    "extensions.cost.requestedQueryCost", Limit: "extensions.cost.throttleStatus.maximumAvailable"}
	window := restsource.Budget{Remaining: "limit.left", Reset: "limit.reset"}
	for _, c := range []struct {
		name  string
		api   restsource.API
		more  func(n int) string
		asked []time.Duration // to the millisecond
		code  wire.Code
		why   string
	}{
		{"none", restsource.API{}, func(int) string { return level(0, 1, 100) }, seconds(0, 0, 0, 0, 0), "", "nothing is declared"},
		{"enough", restsource.API{Budget: declared}, func(int) string { return level(900, 50, 100) }, seconds(0, 0, 0, 0, 0), "", ""},
		{"it comes back", restsource.API{Budget: declared}, func(int) string { return level(0, 50, 100) },
			seconds(0, 2.001, 4.002, 6.003, 8.004), "", "100 at 50 in a second"},
		{"a cost above the limit", restsource.API{Budget: declared}, func(int) string { return level(0, 500, 9000) },
			seconds(0, 2.001, 4.002, 6.003, 8.004), "", "the API has to take it once the budget is full"},
		{"too slow", restsource.API{Budget: declared}, func(int) string { return level(0, 1, 100) }, seconds(0), wire.CodeTimeout, "100 seconds"},
		{"a window", restsource.API{Budget: window}, func(n int) string {
			return fmt.Sprintf(`, "limit": {"left": %d, "reset": 5}`, []int{1, 0, 9, 9, 9}[n-1])
		}, seconds(0, 0, 5, 5, 5), "", ""},
		{"a text", restsource.API{Budget: window}, func(int) string { return `, "limit": {"left": "none", "reset": 5}` }, seconds(0,
			0, 0, 0, 0), "", "it states nothing"},
		{"a rate", restsource.API{Rate: restsource.Rate{Requests: 4}}, func(int) string { return "" }, seconds(0, 0.25, 0.5, 0.75, 1), "", ""},
		{"a rate for each", restsource.API{Rate: restsource.Rate{Requests: 30, Per: time.Minute, Each: true}}, func(int) string { return "" },
			seconds(0, 2, 4, 6, 8), "", ""},
		{"a rate that is too slow", restsource.API{Rate: restsource.Rate{Requests: 1, Per: time.Minute}}, func(int) string { return "" },
			seconds(0), wire.CodeTimeout, ""},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			var asked []time.Duration
			api := c.api
			api.Base = shopAPI.Base
			tables := numbersTable(restsource.Pages{By: restsource.PagingFunc, Func: nextOfFive})
			_, err := serve(t, api, tables, pagesOf(time.Now(), &asked, c.more)).
				Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}, Envelope: wire.Envelope{TimeoutMS: 30_000}})
			requireCode(t, c.code, err)
			assert.Equal(t, c.asked, asked, c.why)
		})
	}
	testkit.Bubble(t, "throttled, in GraphQL", func(t *testing.T) {
		begun := time.Now()
		api := &graph{answer: func(n int) (string, bool) {
			return `{"errors": [{"extensions": {"code": "THROTTLED"}}]` + level(30, 10, 100) + `}`, n == 1
		}}
		_, err := serve(t, graphAPI, graphTables(), api).Query(wire.QueryRequest{Table: "orders", Fields: []string{"id"}})
		require.NoError(t, err)
		assert.Equal(t, 17*time.Second, time.Since(begun).Round(time.Millisecond),
			"until there is enough for a request, and for the next page again, because no answer says more")
	})
}

func nextOfFive(body []byte, _ http.Header) (url.Values, bool, error) {
	var answer struct{ Page int }
	err := json.Unmarshal(body, &answer)
	return url.Values{"page": {fmt.Sprint(answer.Page)}}, answer.Page < 5, err
}

// TestRateOfAll: two requests of the platform share a rate, unless it is one for each.
func TestRateOfAll(t *testing.T) {
	for each, want := range map[bool][]time.Duration{false: seconds(0, 1), true: seconds(0, 0)} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			var asked []time.Duration
			tenant := serve(t, restsource.API{Base: shopAPI.Base, Rate: restsource.Rate{Requests: 1, Each: each}}, numbersTable(onePage),
				testkit.Transport(func(*http.Request) (*http.Response, error) {
					asked = append(asked, time.Since(begun))
					return reply(200, bodyOfOne), nil
				}))
			for range 2 {
				require.NoError(t, tenant.Check())
			}
			assert.Equal(t, want, asked)
		})
	}
}
