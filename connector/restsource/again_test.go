package restsource_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
					ids, err := readAll(t, tied(size, order), numbersTable(pages))
					if err != nil {
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
			ids := testkit.Must(readAll(t, api, numbersTable(pages)))(t, by)
			assert.Len(t, ids, 40, by)
			found := testkit.Must(serve(t, shopAPI, numbersTable(pages), api).Discover())(t)
			assert.Empty(t, found.Warnings, by)
		}
	})
}

// TestBudgets: requests keep to what the body states and to what the author knows, and a
// wait beyond the deadline is refused at once.
func TestBudgets(t *testing.T) {
	level := func(remaining, restore, cost int) string {
		return fmt.Sprintf(`, "extensions": {"cost": {"requestedQueryCost": %d, "throttleStatus":
			{"maximumAvailable": 1000, "currentlyAvailable": %d, "restoreRate": %d}}}`, cost, remaining, restore)
	}
	costs := restsource.Budget{Remaining: "extensions.cost.throttleStatus.currentlyAvailable",
		Restore: "extensions.cost.throttleStatus.restoreRate",
		Cost:    "extensions.cost.requestedQueryCost", Limit: "extensions.cost.throttleStatus.maximumAvailable"}
	for _, c := range testkit.Cases[struct {
		Why   string
		API   restsource.API
		Costs bool     // whether the budget is declared that level states
		Level []int    // what remains, what comes back in a second, and what a request costs
		More  []string // in place of level, members of each answer, the last for ever
		Asked string   // the seconds
		Code  wire.Code
	}](t, "testdata/budgets.json") {
		testkit.Bubble(t, c.Why, func(t *testing.T) {
			if c.Costs {
				c.API.Budget = costs
			}
			if c.Level != nil {
				c.More = []string{level(c.Level[0], c.Level[1], c.Level[2])}
			}
			var answers []string
			for n := range 5 {
				answers = append(answers, fmt.Sprintf(`%d "page": %d%s`, n+1, n+1, c.More[min(n, len(c.More)-1)]))
			}
			upstream := inTurn(answers...)
			c.API.Base = shopAPI.Base
			tables := numbersTable(restsource.Pages{By: restsource.PagingFunc, Func: nextOfFive})
			_, err := serve(t, c.API, tables, upstream).
				Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id"}, Envelope: wire.Envelope{TimeoutMS: 30_000}})
			requireCode(t, c.Code, err)
			assert.Equal(t, c.Asked, inSeconds(upstream.times))
		})
	}
	testkit.Bubble(t, "throttled, in GraphQL", func(t *testing.T) {
		begun := time.Now()
		throttled := `{"errors": [{"extensions": {"code": "THROTTLED"}}]` + level(30, 10, 100) + `}`
		api := graph("", func(n int, _ string) string { return map[int]string{1: throttled}[n] })
		testkit.Must(serve(t, graphAPI, declared("graph"), api).Query(wire.QueryRequest{Table: "orders", Fields: []string{"id"}}))(t)
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
	for each, want := range map[bool]string{false: "0 1", true: "0 0"} {
		synctest.Test(t, func(t *testing.T) {
			api := inTurn(bodyOfOne)
			tenant := serve(t, restsource.API{Base: shopAPI.Base, Rate: restsource.Rate{Requests: 1, Each: each}}, numbersTable(onePage), api)
			for range 2 {
				require.NoError(t, tenant.Check())
			}
			assert.Equal(t, want, inSeconds(api.times))
		})
	}
}
