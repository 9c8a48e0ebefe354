package restsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// get sends one request and closes the answer.
func get(ctx context.Context, transport *restsource.Transport, query string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example/"+query, nil)
	if err != nil {
		return 0, err
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// TestTransport checks when a request is sent again, in virtual time, and how requests are spread over the time that a budget
// has to last.
func TestTransport(t *testing.T) {
	for _, c := range append(testkit.Table(t, "testdata/transport.tsv", 5), testkit.Table(t, "testdata/pace.tsv", 5)...) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := inTurn(strings.Split(c[2], " | ")...)
			transport := &restsource.Transport{Base: s}
			method, how, _ := strings.Cut(c[1], " ")
			times, sent, end := 1, io.Reader(nil), ""
			switch how {
			case "5 times":
				times = 5
			case "for ever":
				ctx = t.Context()
			case "once":
				sent = io.MultiReader(strings.NewReader("question")) // which cannot be read again
			}
			for range times {
				if method == http.MethodPost {
					sent = strings.NewReader("question")
				}
				r := testkit.Must(http.NewRequestWithContext(ctx, method, "https://api.example/", sent))(t)
				r.Method = strings.TrimPrefix(method, "none") // the empty one too
				if how == "reads" {
					r.Header["Idempotency-Key"] = nil
				}
				res, err := transport.RoundTrip(r)
				if err != nil {
					end = err.Error()
					break
				}
				end = strconv.Itoa(res.StatusCode)
				_ = res.Body.Close()
			}
			assert.Equal(t, c[3], inSeconds(s.times))
			assert.Contains(t, end, c[4])
			for _, body := range s.bodies {
				assert.Equal(t, sent != nil, body == "question", "each attempt has the whole body")
			}
		})
	}
}

// TestPaceLonger: whoever waits for the end of a refusal asks again whether another
// one has come meanwhile. The shorter one does not take the longer one back.
func TestPaceLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, takes := time.Now(), map[string]time.Duration{"12": time.Second, "25": 5 * time.Second, "10": 6 * time.Second}
		api := &remote{begun: begun, answer: func(r *http.Request) string {
			if time.Since(begun) > 0 {
				return "200"
			}
			after := r.URL.Query().Get("after")
			time.Sleep(takes[after])
			return "429 {Retry-After: " + after + "}"
		}}
		transport := &restsource.Transport{Base: api}
		var all sync.WaitGroup
		for after := range takes { // refused at 1, 5 and 6, until 13, 30 and 16
			all.Go(func() {
				_, err := get(t.Context(), transport, "?after="+after)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		assert.Equal(t, "0 0 0 30 30 30", inSeconds(api.times))
	})
}

// TestTransportCancelled: a request that is over asks nothing more, and fails with the cause.
func TestTransportCancelled(t *testing.T) {
	over := errors.New("the reader left")
	for _, c := range []struct {
		name, answers string
		after         time.Duration // until it is over
		asked         string
	}{
		{"before", "200", 0, ""},
		{"while it waits for the budget", "429 {Retry-After: 9} | 200", time.Second, "0"},
		{"while it waits for its turn", "{RateLimit: limit=60, remaining=4, reset=40}", time.Second, "0 0"},
		{"while it waits for the server", "502", 2 * time.Second, "0 0.5 1.5"},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			if c.after == 0 {
				cancel(over)
			}
			time.AfterFunc(c.after, func() { cancel(over) })
			s := inTurn(strings.Split(c.answers, " | ")...)
			transport := &restsource.Transport{Base: s}
			var err error
			for range 3 {
				if _, err = get(ctx, transport, ""); err != nil {
					break
				}
			}
			require.ErrorIs(t, err, over)
			assert.Equal(t, c.asked, inSeconds(s.times))
		})
	}
}

// closing counts the bodies that are closed.
type closing struct {
	io.Reader
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

// TestBodiesAreClosed: an answer that is followed by another attempt keeps no
// connection, and no more than a little of it is read.
func TestBodiesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for status, attempts := range map[int]int{429: 5, 502: 5} {
			closed, asked, read := 0, 0, &io.LimitedReader{R: endless{}, N: 1 << 30}
			transport := &restsource.Transport{Base: testkit.Transport(func(*http.Request) (*http.Response, error) {
				asked++
				res := reply(status, "")
				res.Body = closing{read, &closed}
				return res, nil
			})}
			r := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example/", nil))(t)
			res := testkit.Must(transport.RoundTrip(r))(t)
			assert.Equal(t, attempts-1, closed, "all but the last")
			assert.Equal(t, attempts, asked)
			assert.Positive(t, int64(1<<30)-read.N, "what is left of a small answer is read, so that its connection can be used again")
			assert.Less(t, int64(1<<30)-read.N, int64(1<<20))
			_ = res.Body.Close()
			assert.Equal(t, attempts, closed)
		}
	})
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestOptions: the options of a source reach its Transport.
func TestOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for attempts, want := range map[int]int{0: 5, -1: 5, 1: 1, 2: 2} {
			api := inTurn("503")
			src := testkit.Must(restsource.New(restsource.API{Base: "https://shop.example", Check: "/me"}, declared("shop"),
				&restsource.Options{Attempts: attempts, Transport: api}))(t)
			require.Error(t, src.Check(t.Context(), checkOf("token", "k")))
			assert.Len(t, api.asked, want)
		}
		for size, want := range map[int]bool{32 << 20: true, 32<<20 + 1: false} {
			src := testkit.Must(restsource.New(restsource.API{Base: "https://shop.example", Check: "/me"}, declared("shop"),
				&restsource.Options{Transport: always(200, strings.Repeat(" ", size))}))(t)
			assert.Equal(t, want, src.Check(t.Context(), checkOf("token", "k")) == nil, "32 MiB are the default")
		}
	})
}

// TestBodyCap counts what is read, and not what a header says.
func TestBodyCap(t *testing.T) {
	for length, whole := range map[int]bool{0: true, 9: true, 10: true, 11: false, 1000: false} {
		transport := &restsource.Transport{MaxBody: 10, Base: always(200, strings.Repeat("x", length))}
		r := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example/", nil))(t)
		res := testkit.Must(transport.RoundTrip(r))(t)
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if whole {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "the answer is larger than the connector takes")
		}
		assert.Len(t, body, min(length, 10))
	}
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
			tables := numbersTable(restsource.Pages{By: restsource.PagingFunc, Func: func(body []byte, _ http.Header) (url.Values, bool, error) {
				var answer struct{ Page int }
				err := json.Unmarshal(body, &answer)
				return url.Values{"page": {fmt.Sprint(answer.Page)}}, answer.Page < 5, err
			}})
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
