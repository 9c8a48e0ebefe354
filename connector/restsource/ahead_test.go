package restsource_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// slow is an API that takes its time.
type slow struct {
	api   http.RoundTripper
	takes time.Duration
	most  int // requests at once that it takes; 0: any
	width int // requests at once that there were

	mu    sync.Mutex
	open  int
	asked []string
}

const latency = 50 * time.Millisecond

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RawQuery)
	s.open++
	s.width = max(s.width, s.open)
	refused := s.most > 0 && s.open > s.most
	s.mu.Unlock()
	timer := time.NewTimer(s.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
	s.mu.Lock()
	s.open--
	s.mu.Unlock()
	if refused {
		return reply(429, "", "Retry-After: 1"), nil
	}
	return s.api.RoundTrip(r)
}

// slowNumbers returns an API of numbers that answers in 50 ms, in pages of ten rows, and what bend answers to a page in
// place of them.
func slowNumbers(last int, bend func(page string) string) *slow {
	numbers := numbersTo(last, 10)
	return &slow{takes: latency, api: &remote{answer: func(r *http.Request) string {
		if bend != nil {
			if answer := bend(r.URL.Query().Get("page") + r.URL.Query().Get("from")); answer != "" {
				return answer
			}
		}
		return numbers.answer(r)
	}}}
}

// readSlow reads the rows, several pages at once.
func readSlow(t *testing.T, api *slow, concurrency int, tables []restsource.Table, req wire.QueryRequest) (*connectortest.Answer, error) {
	t.Helper()
	tenant, _ := connect(t, shopAPI, tables, restsource.Options{Transport: api, Concurrency: concurrency})
	return tenant.Query(req)
}

// TestPagesAhead: where a total is known, pages are requested at once and offered in their
// order. A total that no answer states, and cursors, are read one ahead.
func TestPagesAhead(t *testing.T) {
	ahead := byPage
	ahead.Ahead = true
	for _, c := range []struct {
		name        string
		pages       restsource.Pages
		change      func(*restsource.Table)
		concurrency int
		width       int // requests at once
		most        time.Duration
	}{
		{"by number", byPage, withTotal, 8, 8, 12 * latency},
		{"by number, two at a time", byPage, withTotal, 2, 2, 32 * latency},
		{"by number from zero", restsource.Pages{By: restsource.PagingPage, Param: "page0", FromZero: true}, withTotal, 8, 8, 12 * latency},
		{"by offset", byOffset, withTotal, 8, 8, 12 * latency},
		{"by offset without a key", byOffset, func(t *restsource.Table) { withTotal(t); keyless(t) }, 8, 8, 12 * latency},
		{"without a total", byPage, nil, 8, 1, 62 * latency},
		{"without a total, as the author says", ahead, nil, 8, 8, 12 * latency},
		{"by cursor", byCursor, withTotal, 8, 1, 62 * latency},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			api := slowNumbers(600, nil)
			begun := time.Now()
			answer := testkit.Must(readSlow(t, api, c.concurrency, numbersTable(c.pages, c.change), allNumbers))(t)
			ids := idsOf(answer)
			require.Len(t, ids, 600)
			for i, id := range ids {
				require.Equal(t, int64(i+1), id, "rows come in their order")
			}
			assert.Equal(t, c.width, api.width)
			assert.LessOrEqual(t, time.Since(begun), c.most)
			assert.Len(t, slices.Compact(slices.Sorted(slices.Values(api.asked))), len(api.asked), "each page is asked for once")
		})
	}
}

// TestAheadStops: a window, a filter that the library applies, and an error end the read with no
// more requests than may be at once.
func TestAheadStops(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int64
		and   []wire.Filter
		most  int // requests
	}{
		{"a limit", 5, nil, 1},
		{"a limit on the third page", 25, nil, 3},
		{"a limit with a filter", 5, []wire.Filter{cond("id", wire.OpGt, wire.Int(12))}, 2 + 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			api, req := slowNumbers(600, nil), allNumbers
			req.Limit, req.And = c.limit, c.and
			answer := testkit.Must(readSlow(t, api, 4, numbersTable(byPage, withTotal), req))(t, c.name)
			assert.NotEmpty(t, idsOf(answer), c.name)
			synctest.Wait()
			assert.LessOrEqual(t, len(api.asked), c.most, "%s: %s", c.name, api.asked)
		})
	}
}

// TestAheadContradicted: a page that is not as planned ends the plan. The rest is read in sequence
// or the read fails, as it does without a plan.
func TestAheadContradicted(t *testing.T) {
	at := func(page, answer string) func(string) string {
		return func(asked string) string { return map[string]string{page: answer}[asked] }
	}
	for _, c := range []struct {
		name  string
		pages restsource.Pages
		bend  func(page string) string
		rows  int // -1: an error
	}{
		{"a page is missing", byPage, at("7", "404"), -1},
		{"a row was deleted", byPage, at("7", `62-71 "total":199`), -1},
		{"a row was deleted, by offset", byOffset, at("63", `65-74 "total":199`), -1},
		{"a page is larger", byPage, at("7", `61-80 "total":200`), -1},
		{"a page is shorter, by offset", byOffset, at("63", `64-68 "total":200`), 200},
		{"the total was too large", byPage, func(asked string) string {
			if n, _ := strconv.Atoi(asked); n > 18 {
				return `none "total":200`
			}
			return ""
		}, -1},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			answer, err := readSlow(t, slowNumbers(200, c.bend), 8, numbersTable(c.pages, withTotal), allNumbers)
			if c.rows < 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Len(t, idsOf(answer), c.rows)
		})
	}
}

// TestAheadWithinLimits: a refusal halves what is requested at once, a rate holds, and what is
// held is bounded in bytes.
func TestAheadWithinLimits(t *testing.T) {
	testkit.Bubble(t, "429", func(t *testing.T) {
		api := slowNumbers(400, nil)
		api.most = 3
		answer := testkit.Must(readSlow(t, api, 8, numbersTable(byPage, withTotal), allNumbers))(t)
		assert.Len(t, idsOf(answer), 400)
		late := len(api.asked)
		assert.Less(t, late, 40+3*8, "it does not go on to ask for more than the API takes")
	})
	testkit.Bubble(t, "a rate", func(t *testing.T) {
		api := slowNumbers(100, nil)
		limited := shopAPI
		limited.Rate = restsource.Rate{Requests: 1}
		begun := time.Now()
		tenant, _ := connect(t, limited, numbersTable(byPage, withTotal), restsource.Options{Transport: api, Concurrency: 8})
		testkit.Must(tenant.Query(allNumbers))(t)
		assert.GreaterOrEqual(t, time.Since(begun), 9*time.Second)
	})
	testkit.Bubble(t, "bytes", func(t *testing.T) {
		large := strings.Repeat("x", 3<<20)
		api := slowNumbers(100, func(page string) string {
			n, _ := strconv.Atoi(page)
			if n > 10 {
				return ""
			}
			return fmt.Sprintf(`%d-%d "total":100,"x":"%s"`, 10*n-9, 10*n, large)
		})
		testkit.Must(readSlow(t, api, 8, numbersTable(byPage, withTotal), allNumbers))(t)
		assert.Equal(t, 2, api.width, "pages of 3 MiB within 8 MiB")
	})
}

// TestAheadFails: an error and a panic of a page that was requested ahead are the read's when
// it comes to that page, and not before.
func TestAheadFails(t *testing.T) {
	for name, unwrap := range map[string]func([]byte) ([]byte, error){
		"an error": func([]byte) ([]byte, error) { return nil, errors.New("not now") },
		"a panic":  func([]byte) ([]byte, error) { panic("not now") },
	} {
		synctest.Test(t, func(t *testing.T) {
			tables := numbersTable(byPage, withTotal, func(t *restsource.Table) {
				t.Unwrap = func(body []byte) ([]byte, error) {
					if strings.Contains(string(body), `{"id":51,`) {
						return unwrap(body)
					}
					return body, nil
				}
			})
			_, err := readSlow(t, slowNumbers(200, nil), 8, tables, allNumbers)
			requireCode(t, wire.CodeInternal, err)
			few := allNumbers
			few.Limit = 50
			answer := testkit.Must(readSlow(t, slowNumbers(200, nil), 8, tables, few))(t, name)
			assert.Len(t, idsOf(answer), 50, name)
		})
	}
}
