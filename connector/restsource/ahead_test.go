package restsource_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	remote
	most  int // requests at once that it takes; 0: any
	width int // requests at once that there were
	open  int
}

const latency = 50 * time.Millisecond

// slowed returns an API that answers after a while.
func slowed(takes time.Duration, answer func(*http.Request) string) *slow {
	s := &slow{}
	s.answer = func(r *http.Request) string {
		s.mu.Lock()
		s.open++
		s.width = max(s.width, s.open)
		refused := s.most > 0 && s.open > s.most
		s.mu.Unlock()
		select {
		case <-time.After(takes):
		case <-r.Context().Done():
		}
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
		if refused {
			return "429 {Retry-After: 1}"
		}
		return answer(r)
	}
	return s
}

// slowNumbers returns an API of numbers that answers in 50 ms, in pages of ten rows, and what bend answers to a page in
// place of them.
func slowNumbers(last int, bend func(page string) string) *slow {
	numbers := numbersTo(last, 10)
	return slowed(latency, func(r *http.Request) string {
		if bend != nil {
			if answer := bend(r.URL.Query().Get("page") + r.URL.Query().Get("from")); answer != "" {
				return answer
			}
		}
		return numbers.answer(r)
	})
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
	for _, c := range testkit.Table(t, "testdata/ahead.tsv", 5) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			tables, req := shaped(t, c[1])
			api := slowNumbers(600, nil)
			begun := time.Now()
			answer := testkit.Must(readSlow(t, api, testkit.Must(strconv.Atoi(c[2]))(t), tables, req))(t)
			ids := idsOf(answer)
			require.Len(t, ids, 600)
			for i, id := range ids {
				require.Equal(t, int64(i+1), id, "rows come in their order")
			}
			assert.Equal(t, c[3], strconv.Itoa(api.width))
			assert.LessOrEqual(t, time.Since(begun), time.Duration(testkit.Must(strconv.Atoi(c[4]))(t))*latency)
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
	for _, c := range testkit.Table(t, "testdata/contradicted.tsv", 5) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			tables, req := shaped(t, c[1])
			page, andBehind := strings.CutSuffix(c[2], "+")
			first := testkit.Must(strconv.Atoi(page))(t)
			answer, err := readSlow(t, slowNumbers(200, func(page string) string {
				if n, _ := strconv.Atoi(page); n == first || andBehind && n > first {
					return c[3]
				}
				return ""
			}), 8, tables, req)
			if c[4] == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c[4], strconv.Itoa(len(idsOf(answer))))
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
// it comes to that page, and not before. Those of a child's first page are the read's too.
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
			family := append(numbersTable(onePage), children())
			family[1].Unwrap = unwrap
			_, err = serve(t, shopAPI, family, inTurn("1-3")).Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}})
			requireCode(t, wire.CodeInternal, err)
		})
	}
}
