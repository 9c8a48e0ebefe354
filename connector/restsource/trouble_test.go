package restsource_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTrouble: whatever an API does, each route answers with an error that says who can do
// something and what, the log says why, and the token is nowhere.
func TestTrouble(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/trouble.tsv", 6) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			definition, shop, log, upstream, api := shopDefinition, "acme", &testkit.Log{}, inTurn(c[2]), shopAPI
			definition.Credentials = append([]wire.CredentialField{{Key: "shop", Label: "Shop", Type: wire.CredentialText}},
				definition.Credentials...)
			if api.Base = c[1]; api.Base == "{shop}" {
				shop = "https://acme.example"
			}
			src := testkit.Must(restsource.New(api, numbersTable(byURL, func(t *restsource.Table) { t.Name, t.Path = "rows", "/rows" }),
				&restsource.Options{Transport: upstream, MaxBody: 1 << 20}))(t)
			tenant := connectortest.Start(t, definition, src, connectors.Logging(log)).As(map[string]string{"token": shopToken, "shop": shop}).Unverified()
			_, queried := tenant.Query(wire.QueryRequest{Table: "rows", Fields: []string{"id"}})
			synctest.Wait() // the request is logged when it is over
			assert.Contains(t, log.String(), c[5])
			_, discovered := tenant.Discover()
			checked := tenant.Check()
			require.ErrorContains(t, queried, c[3])
			if c[4] == "" {
				require.NoError(t, checked)
			} else {
				require.ErrorContains(t, checked, c[4])
			}
			synctest.Wait()
			assert.NotContains(t, fmt.Sprint(queried, discovered, checked, log), shopToken)
			assert.NotContains(t, strings.Join(upstream.urls, " "), "evil.example", "a redirect is not followed")
		})
	}
}

func requireCode(t *testing.T, want wire.Code, err error) {
	t.Helper()
	if want == "" {
		require.NoError(t, err)
		return
	}
	var refused *wire.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, want, refused.Code)
	assert.NotContains(t, refused.Message, shopToken)
}

// TestCauses: a request whose time is up says so, whatever the API did meanwhile.
func TestCauses(t *testing.T) {
	over := errors.New("the time is up")
	for name, answer := range map[string]testkit.Transport{
		"an answer": always(401, ""),
		"a broken answer": func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))}, nil
		},
		"no answer":         testkit.Fails(io.EOF),
		"a refused address": testkit.Fails(&netguard.Error{Kind: "private"}),
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		src := testkit.Must(restsource.New(shopAPI, declared("shop"), &restsource.Options{
			Transport: testkit.Transport(func(r *http.Request) (*http.Response, error) {
				cancel(over)
				return answer(r)
			})}))(t)
		require.ErrorIs(t, src.Check(ctx, checkOf("token", "k")), over, name)
	}
}

// TestHeaders: what every request has, and that every answer is closed.
func TestHeaders(t *testing.T) {
	api := shopAPI
	api.Header = http.Header{"x-version": {"2"}, "accept": {"application/vnd.shop+json"}}
	for _, c := range []struct {
		api    restsource.API
		post   bool
		status int
		want   http.Header
		size   int64
	}{
		{shopAPI, false, 200, http.Header{"Accept": {"application/json"}}, 0},
		{shopAPI, true, 200, http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}, "Idempotency-Key": nil}, 8},
		{api, false, 200, http.Header{"Accept": {"application/vnd.shop+json"}, "X-Version": {"2"}}, 0},
		{shopAPI, false, 301, http.Header{"Accept": {"application/json"}}, 0},
		{shopAPI, false, 404, http.Header{"Accept": {"application/json"}}, 0},
	} {
		var got []http.Header
		var sizes []int64
		closed := 0
		_, err := serve(t, c.api, numbersTable(onePage, func(t *restsource.Table) {
			if c.post {
				t.Body = func(url.Values) ([]byte, error) { return []byte("question"), nil }
			}
		}), testkit.Transport(func(r *http.Request) (*http.Response, error) {
			got, sizes = append(got, r.Header), append(sizes, r.ContentLength)
			res := reply(c.status, "")
			res.Body = closing{strings.NewReader(`{"rows": []}`), &closed}
			return res, nil
		})).Query(allNumbers)
		assert.Equal(t, c.status == 200, err == nil)
		c.want["User-Agent"], c.want["Authorization"] = []string{"connector-sdk-go"}, []string{"Bearer " + shopToken}
		assert.Equal(t, []http.Header{c.want}, got)
		assert.Equal(t, []int64{c.size}, sizes)
		assert.Equal(t, 1, closed, "a body that is not closed keeps its connection")
	}
}

// TestDiscoveryRemembersNothing: what the credentials may not read is left out of a discovery, with a warning, and so
// are the foreign keys that lead there. It is there for the next tenant.
func TestDiscoveryRemembersNothing(t *testing.T) {
	api := newShopOf(13)
	tenant := asTenant(t, api, declared("shop")).Unverified()
	for _, status := range []int{403, 404, 410, 200} {
		api.change = func(r *http.Request) string {
			if r.URL.Path != "/v1/customers" || status == 200 {
				return ""
			}
			return strconv.Itoa(status)
		}
		found := testkit.Must(tenant.Discover())(t)
		if status != 200 {
			assert.Len(t, found.Tables, 2)
			reason := "the API does not have it for these credentials"
			if status == 403 {
				reason = "these credentials may not read it"
			}
			assert.Equal(t, []string{`Table "customers" is left out: ` + reason + `.`}, found.Warnings)
			assert.Empty(t, found.Tables[0].ForeignKeys)
			continue
		}
		assert.Len(t, found.Tables, 3)
		assert.Len(t, found.Tables[0].ForeignKeys, 1)
		assert.Len(t, found.Tables[2].ForeignKeys, 1)
	}
	api.change = func(*http.Request) string { return "500" }
	_, err := tenant.Discover()
	requireCode(t, wire.CodeInternal, err)
}

// TestDiscoveryWithinBudget: where the API takes no more requests, the tables are
// described without the controls, and a warning says so.
func TestDiscoveryWithinBudget(t *testing.T) {
	for param, want := range map[string]string{
		"status": `The filters of table "orders" were not all tested: the API takes no more requests at the moment.`,
		"sort":   `The sorts of table "orders" were not all tested: the API takes no more requests at the moment.`,
	} {
		api := newShopOf(13)
		api.change = func(r *http.Request) string {
			if r.URL.Query().Has(param) {
				return "429 {Retry-After: 3600}"
			}
			return ""
		}
		_, err := asTenant(t, api, declared("shop")[:2]).Unverified().Discover()
		requireCode(t, wire.CodeTimeout, err) // the next table cannot be asked at all
		found := testkit.Must(asTenant(t, api, []restsource.Table{declared("shop")[1], declared("shop")[0]}).Unverified().Discover())(t)
		assert.Contains(t, found.Warnings, want)
		assert.Len(t, found.Tables, 2)
	}
}

// TestSameOrigin: the next page is at the same scheme, host and port, however they are written.
func TestSameOrigin(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/origins.tsv", 3) {
		testkit.Bubble(t, c[1], func(t *testing.T) {
			api := inTurn(fmt.Sprintf(`{"rows": [{"id": 1}], "next": %q}`, c[1]), "none")
			tenant, log := logged(t, restsource.API{Base: c[0]}, numbersTable(byURL), api)
			_, err := tenant.Query(allNumbers)
			synctest.Wait()
			assert.Equal(t, c[2] == "", err == nil)
			assert.Equal(t, c[2] == "", len(api.asked) == 2)
			assert.Contains(t, log.String(), c[2])
			assert.NotContains(t, log.String(), shopToken)
		})
	}
}

// TestChildrenAtOnce: endpoints are asked at the same time, but no more than allowed.
func TestChildrenAtOnce(t *testing.T) {
	for atOnce, want := range map[int]int{0: 4, -1: 4, 1: 1, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			api := slowed(time.Second, newShopOf(13).answer)
			tenant, _ := connect(t, shopAPI, declared("shop"), restsource.Options{Transport: api, Concurrency: atOnce})
			begun := time.Now()
			answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "items", Fields: []string{"order", "line"}}))(t)
			assert.Equal(t, want, api.width)
			if want > 2 {
				assert.Less(t, time.Since(begun), 12*time.Second, "13 orders and 2 pages of them, one after the other, take 15 seconds")
			}
			assert.IsIncreasing(t, slices.Compact(intsOf(answer, "order")), "the rows come in the order of the parent's")
		})
	}
}

// TestBudgetOfOneRequest: what the API says about its budget holds for the request
// that heard it, and is not remembered for the next [rule tenant-4].
func TestBudgetOfOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers []string
		for _, ids := range []string{"1-2", "3-4", "5-6", "7", "1-2", "3-4", "5-6", "7"} {
			answers = append(answers, "{X-RateLimit-Remaining: 0} {X-RateLimit-Reset: 5} "+ids+` "total": 7`)
		}
		api := inTurn(answers...)
		tenant := serve(t, shopAPI, numbersTable(byPage, withTotal), api)
		for range 2 {
			testkit.Must(tenant.Query(allNumbers))(t)
		}
		assert.Equal(t, "0 5 10 15 15 20 25 30", inSeconds(api.times))
		assert.Equal(t, "page=1 page=2 page=3 page=4 page=1 page=2 page=3 page=4", strings.Join(api.takeQueries(), " "))
	})
}

// outcomes are the verdicts of testdata/judged.tsv.
var outcomes = map[string]restsource.Outcome{
	"none": 0, "fine": restsource.OutcomeFine, "wait": restsource.OutcomeWait, "renew": restsource.OutcomeRenew,
	"unauthorized": restsource.OutcomeUnauthorized, "gone": restsource.OutcomeNotThere, "failed": restsource.OutcomeFailed,
}

// TestJudge: what API.Judge says about an answer is what happens, and the library keeps the retries, the waits and the deadline.
// The judges that are ready tell the usual spellings of an error with a good status apart, and none is an answer with fewer rows.
func TestJudge(t *testing.T) {
	ready := map[string]func(*restsource.Answer) restsource.Verdict{
		"JudgeErrors": restsource.JudgeErrors, "JudgeErrorList": restsource.JudgeErrorList,
	}
	for _, c := range append(testkit.Table(t, "testdata/judged.tsv", 5), testkit.Table(t, "testdata/judges.tsv", 5)...) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			api, upstream := shopAPI, inTurn(strings.Split(c[2], " | ")...)
			if api.Judge = ready[c[1]]; api.Judge == nil {
				api.Judge = func(a *restsource.Answer) (v restsource.Verdict) {
					if a.Status == 200 && !bytes.Contains(a.Body, []byte("ok")) {
						return v
					}
					name, rest, _ := strings.Cut(c[1], " ") // "failed 404 no such list", "wait 3s"
					first, text, _ := strings.Cut(rest, " ")
					v = restsource.Verdict{Outcome: outcomes[name], Text: text}
					if wait, err := time.ParseDuration(first); err == nil {
						v.Wait = wait
					} else if status, err := strconv.Atoi(first); err == nil {
						v.Status = status
					} else {
						v.Text = rest
					}
					return v
				}
			}
			tenant, log := logged(t, api, numbersTable(onePage), upstream)
			answer, err := tenant.Query(allNumbers)
			synctest.Wait() // the request is logged when it is over
			assert.Equal(t, c[3], inSeconds(upstream.times))
			if err != nil {
				saysAll(t, c[4], err, log.String())
				return
			}
			assert.Equal(t, c[4], strconv.Itoa(len(answer.Column("id"))))
		})
	}
}

// TestJudgedElsewhere: the check and the rows of a parent are judged as the rows of a table are.
func TestJudgedElsewhere(t *testing.T) {
	api := shopAPI
	api.Judge = func(a *restsource.Answer) restsource.Verdict {
		switch {
		case a.Table == "" && a.Status == 418:
			return restsource.Verdict{Outcome: restsource.OutcomeUnauthorized, Text: "The workspace is paused. Resume it."}
		case a.Table == "children" && a.Status == 418:
			return restsource.Verdict{Outcome: restsource.OutcomeNotThere}
		}
		return restsource.Verdict{}
	}
	tables := append(numbersTable(onePage), children(restsource.Column{Name: "x", Type: wire.TypeNumber}))
	tenant := serve(t, api, tables, atPlaces("/numbers", "1-3", "/numbers/2/children", bodyOfRows, "", "418"))
	err := tenant.Check()
	requireCode(t, wire.CodeCheckFailed, err)
	assert.Contains(t, err.Error(), "The workspace is paused. Resume it.")
	answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id", "x"}}))(t)
	assert.JSONEq(t, `[{"id": 2, "x": 1}, {"id": 2, "x": 2}]`, answer.JSON())
}
