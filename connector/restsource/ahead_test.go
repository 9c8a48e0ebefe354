package restsource_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

// slow is an API that answers in 50 ms, in pages of ten rows.
type slow struct {
	rows  int
	size  int                                         // of a page
	stat  func(total int) any                         // the total that is stated; nil: the number of rows
	bend  func(asked int, page string) *http.Response // changes an answer
	most  int                                         // requests at once that it takes
	width int                                         // requests at once that there were

	mu    sync.Mutex
	open  int
	asked []string
}

const latency = 50 * time.Millisecond

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RawQuery)
	asked := len(s.asked)
	s.open++
	s.width = max(s.width, s.open)
	refused := s.most > 0 && s.open > s.most
	s.mu.Unlock()
	timer := time.NewTimer(latency)
	defer timer.Stop()
	var stopped error
	select {
	case <-timer.C:
	case <-r.Context().Done():
		stopped = r.Context().Err()
	}
	s.mu.Lock()
	s.open--
	s.mu.Unlock()
	if stopped != nil || refused {
		return reply(429, "", "Retry-After: 1"), stopped
	}
	page := query.Get("p") + query.Get("z") + query.Get("o") + query.Get("c")
	from, _ := strconv.Atoi(page)
	if query.Has("p") {
		from--
	}
	if query.Has("p") || query.Has("z") {
		from *= s.size
	}
	end := max(from, min(from+s.size, s.rows))
	rows := []map[string]int{}
	for id := from + 1; id <= end; id++ {
		rows = append(rows, map[string]int{"id": id})
	}
	answer := map[string]any{"rows": rows, "total": s.rows, "next": nil}
	if s.stat != nil {
		answer["total"] = s.stat(s.rows)
	}
	if end < s.rows {
		answer["next"] = strconv.Itoa(end)
	}
	if s.bend != nil {
		if res := s.bend(asked, page); res != nil {
			return res, nil
		}
	}
	text, err := json.Marshal(answer)
	return reply(200, string(text)), err
}

var (
	aheadByNumber = restsource.Pages{By: restsource.PagingPage, Param: "p"}
	aheadByOffset = restsource.Pages{By: restsource.PagingOffset, Param: "o"}
	aheadByCursor = restsource.Pages{By: restsource.PagingCursor, Param: "c", Next: "next"}
)

// readSlow reads the rows in virtual time, and returns how long that took.
func readSlow(t *testing.T, api *slow, concurrency int, tables []restsource.Table, req wire.QueryRequest) (
	answer *connectortest.Answer, took time.Duration, err error,
) {
	t.Helper()
	src := testkit.Must(restsource.New(shopAPI, tables, &restsource.Options{Transport: api, Concurrency: concurrency}))(t)
	tenant := connectortest.Start(t, shopDefinition, src, testkit.Quiet()).As(shopCredentials).Unverified()
	begun := time.Now()
	req.Table, req.Fields = "numbers", []string{"id"}
	answer, err = tenant.Query(req)
	return answer, time.Since(begun), err
}

// TestPagesAhead: where a total is known, pages are requested at once and offered in their
// order. A total that no answer states, and cursors, are read one ahead.
func TestPagesAhead(t *testing.T) {
	for _, c := range []struct {
		name        string
		pages       restsource.Pages
		change      func(*restsource.Table)
		concurrency int
		width       int // requests at once
		most        time.Duration
	}{
		{"by number", aheadByNumber, withTotal, 8, 8, 12 * latency},
		{"by number, two at a time", aheadByNumber, withTotal, 2, 2, 32 * latency},
		{"by number from zero", restsource.Pages{By: restsource.PagingPage, Param: "z", FromZero: true}, withTotal, 8, 8, 12 * latency},
		{"by offset", aheadByOffset, withTotal, 8, 8, 12 * latency},
		{"by offset without a key", aheadByOffset, func(t *restsource.Table) { withTotal(t); keyless(t) }, 8, 8, 12 * latency},
		{"without a total", aheadByNumber, nil, 8, 1, 62 * latency},
		{"without a total, as the author says", func() restsource.Pages { p := aheadByNumber; p.Ahead = true; return p }(), nil, 8, 8, 12 * latency},
		{"by cursor", aheadByCursor, withTotal, 8, 1, 62 * latency},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			api := &slow{rows: 600, size: 10}
			answer, took, err := readSlow(t, api, c.concurrency, numbersTable(c.pages, c.change), wire.QueryRequest{})
			require.NoError(t, err)
			ids := idsOf(answer)
			require.Len(t, ids, 600)
			for i, id := range ids {
				require.Equal(t, int64(i+1), id, "rows come in their order")
			}
			assert.Equal(t, c.width, api.width)
			assert.LessOrEqual(t, took, c.most)
		})
	}
}

// TestAheadStops: a window, a filter that the library applies, and an error end the read with no
// more requests than may be at once.
func TestAheadStops(t *testing.T) {
	for _, c := range []struct {
		name string
		req  wire.QueryRequest
		most int // requests
	}{
		{"a limit", wire.QueryRequest{Limit: 5}, 1},
		{"a limit on the third page", wire.QueryRequest{Limit: 25}, 3},
		{"a limit with a filter", wire.QueryRequest{Limit: 5, Where: wire.Where{And: []wire.Filter{cond("id", wire.OpGt, wire.Int(12))}}}, 2 + 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			api := &slow{rows: 600, size: 10}
			answer, _, err := readSlow(t, api, 4, numbersTable(aheadByNumber, withTotal), c.req)
			require.NoError(t, err, c.name)
			assert.NotEmpty(t, idsOf(answer), c.name)
			synctest.Wait()
			assert.LessOrEqual(t, len(api.asked), c.most, "%s: %s", c.name, api.asked)
		})
	}
}

// TestAheadContradicted: a page that is not as planned ends the plan. The rest is read in sequence
// or the read fails, as it does without a plan.
func TestAheadContradicted(t *testing.T) {
	page := func(first, last, total int) *http.Response {
		return reply(200, rowsOf(first, last, fmt.Sprintf(`"total":%d`, total)))
	}
	for _, c := range []struct {
		name  string
		pages restsource.Pages
		bend  func(asked int, page string) *http.Response
		rows  int // -1: an error
	}{
		{"a page is missing", aheadByNumber, func(_ int, p string) *http.Response {
			if p == "7" {
				return reply(404, "")
			}
			return nil
		}, -1},
		{"a row was deleted", aheadByNumber, func(_ int, p string) *http.Response {
			if p == "7" {
				return page(62, 71, 199)
			}
			return nil
		}, -1},
		{"a row was deleted, by offset", aheadByOffset, func(_ int, p string) *http.Response {
			if p == "63" {
				return page(65, 74, 199)
			}
			return nil
		}, -1},
		{"a page is larger", aheadByNumber, func(_ int, p string) *http.Response {
			if p == "7" {
				return page(61, 80, 200)
			}
			return nil
		}, -1},
		{"a page is shorter, by offset", aheadByOffset, func(asked int, p string) *http.Response {
			if p == "63" {
				return page(64, 68, 200)
			}
			return nil
		}, 200},
		{"the total was too large", aheadByNumber, func(_ int, p string) *http.Response {
			if n, _ := strconv.Atoi(p); n > 18 {
				return page(1, 0, 200)
			}
			return nil
		}, -1},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			answer, _, err := readSlow(t, &slow{rows: 200, size: 10, bend: c.bend}, 8, numbersTable(c.pages, withTotal), wire.QueryRequest{})
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
		api := &slow{rows: 400, size: 10, most: 3}
		answer, _, err := readSlow(t, api, 8, numbersTable(aheadByNumber, withTotal), wire.QueryRequest{})
		require.NoError(t, err)
		assert.Len(t, idsOf(answer), 400)
		late := len(api.asked)
		assert.Less(t, late, 40+3*8, "it does not go on to ask for more than the API takes")
	})
	testkit.Bubble(t, "a rate", func(t *testing.T) {
		api := &slow{rows: 100, size: 10}
		limited := shopAPI
		limited.Rate = restsource.Rate{Requests: 1}
		src, err := restsource.New(limited, numbersTable(aheadByNumber, withTotal), &restsource.Options{Transport: api, Concurrency: 8})
		require.NoError(t, err)
		begun := time.Now()
		testkit.Must(connectortest.Start(t, shopDefinition, src, testkit.Quiet()).As(shopCredentials).Unverified().
			Query(allNumbers))(t)
		assert.GreaterOrEqual(t, time.Since(begun), 9*time.Second)
	})
	testkit.Bubble(t, "bytes", func(t *testing.T) {
		large := strings.Repeat("x", 3<<20)
		api := &slow{rows: 100, size: 10}
		api.bend = func(asked int, page string) *http.Response {
			n, _ := strconv.Atoi(page)
			if n > 10 {
				return nil
			}
			return reply(200, rowsOf(10*n-9, 10*n, `"total":100`, `"x":"`+large+`"`))
		}
		_, _, err := readSlow(t, api, 8, numbersTable(aheadByNumber, withTotal), wire.QueryRequest{})
		require.NoError(t, err)
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
			tables := numbersTable(aheadByNumber, withTotal, func(t *restsource.Table) {
				t.Unwrap = func(body []byte) ([]byte, error) {
					if strings.Contains(string(body), `{"id":51}`) {
						return unwrap(body)
					}
					return body, nil
				}
			})
			_, _, err := readSlow(t, &slow{rows: 200, size: 10}, 8, tables, wire.QueryRequest{})
			requireCode(t, wire.CodeInternal, err)
			answer, _, err := readSlow(t, &slow{rows: 200, size: 10}, 8, tables, wire.QueryRequest{Limit: 50})
			require.NoError(t, err, name)
			assert.Len(t, idsOf(answer), 50, name)
		})
	}
}
