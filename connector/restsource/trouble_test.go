package restsource_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTrouble: whatever an API does, each route answers with an error that says who can do
// something and what, the log says why, and the token is nowhere.
func TestTrouble(t *testing.T) {
	const fixed, host, typed = "https://shop.example/v1", "https://{shop}.example/v1", "{shop}"
	const internal, noTable, wrong, silent = "internal: internal error", "unknown_entity: The API has no table ", "check_failed: ", "timeout: "
	const credentials = "The API does not accept these credentials. Check them; they may have expired."
	const access = "The API knows these credentials, but they do not give access. Ask for the permission, or use others."
	const address = wrong + "Something answers at this address, but it is not the API. Check the address."
	const silence = silent + "The API cannot be reached at the moment. Try again later."
	const nobody = "Nothing answers at this address. Check the address of the API."
	const busy = silent + "The API takes no more requests at the moment. Try again later, or ask for less."
	const private = "The address of the API cannot be used, because it is not public: it is in a private network."
	const leak = "the token " + shopToken + " "
	refused, nothing := testkit.Fails(&netguard.Error{Kind: "in a private network"}), testkit.Fails(io.EOF)
	endless := 0
	for _, c := range []struct {
		name, base   string
		answer       testkit.Transport
		query, check string // what the errors begin with; "" is success
		log          string
	}{
		{"401", fixed, always(401, leak), "bad_request: " + credentials, wrong + credentials, ""},
		{"403", fixed, always(403, leak), `bad_request: These credentials give no access to table "rows".`, wrong + access, ""},
		{"404", fixed, always(404, leak), noTable + `"rows" for these credentials.`, internal, ""},
		{"404 at a host", host, always(404, leak), noTable, address, ""},
		{"404 at an address", typed, always(404, leak), noTable, address, ""},
		{"410", fixed, always(410, leak), noTable, internal, ""},
		{"410 at a host", host, always(410, leak), noTable, address, ""},
		{"500", fixed, always(500, leak), internal, internal, "the status 500"},
		{"500 at an address", typed, always(500, leak), internal, internal, "the status 500"},
		{"503 for ever", fixed, always(503, leak), internal, internal, "the status 503"},
		{"429 for ever", fixed, always(429, leak), busy, busy, ""},
		{"429 for ever at an address", typed, always(429, leak), busy, busy, ""},
		{"429 for an hour", fixed, always(429, leak, "Retry-After: 3600"), busy, busy, ""},
		{"429 for an hour at an address", typed, always(429, leak, "Retry-After: 3600"), busy, busy, ""},
		{"101", fixed, always(101, leak), internal, internal, "the status 101"},
		{"300", fixed, always(300, leak), internal, internal, "redirect"},
		{"304", fixed, always(304, leak), internal, internal, "redirect"},
		{"308", fixed, always(308, leak), internal, internal, "redirect"},
		{"a redirect at an address", typed, always(301, leak), internal, address, "redirect"},
		{"400", fixed, always(400, leak), internal, internal, "the status 400"},
		{"HTML", fixed, always(200, "<html>"+leak, "Content-Type: text/html; charset=utf-8"), internal, internal, "HTML"},
		{"HTML at a host", host, always(200, "", "Content-Type: text/html"), internal, address, "HTML"},
		{"HTML at an address", typed, always(200, "", "Content-Type: text/html; charset=utf-8"), internal, address, "HTML"},
		{"HTML that is called JSON", fixed, always(200, "<html>"+leak), internal, "", "not JSON"},
		{"half a JSON", fixed, always(200, `{"rows": [{"id": 1}, {"id": "`+leak), internal, "", "not JSON"},
		{"a body that breaks off", fixed, func(*http.Request) (*http.Response, error) {
			res := reply(200, "")
			res.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"rows": [`), brokenReader{errors.New(leak)}))
			return res, nil
		}, internal, internal, "broke off"},
		{"bad UTF-8", fixed, always(200, `{"rows": [{"id": 1, "x": "`+"\xff"+`"}]}`), internal, "", "not valid UTF-8"},
		{"nested without end", fixed, always(200, strings.Repeat(`{"rows":[`, 100_000)), internal, "", "nested too deep"},
		{"too large", fixed, always(200, `{"rows": [], "x": "`+strings.Repeat("x", 1<<20)+`"}`), internal, internal, "larger than"},
		{"a redirect elsewhere", fixed, func(r *http.Request) (*http.Response, error) {
			if r.URL.Host != "shop.example" {
				t.Error("a redirect was followed")
			}
			return reply(307, "", "Location: https://evil.example/?"+shopToken), nil
		}, internal, internal, "redirect"},
		{"endless pages", fixed, func(*http.Request) (*http.Response, error) {
			endless++
			return reply(200, fmt.Sprintf(`{"rows": [], "next": "?p=%d"}`, endless)), nil
		}, internal, "", "without a row"},
		{"nothing", fixed, nothing, silence, silence, ""},
		{"nothing at a host", host, nothing, silence, wrong + nobody, ""},
		{"nothing at an address", typed, nothing, silence, wrong + nobody, ""},
		{"no connection", fixed, testkit.Fails(&net.OpError{Op: "dial", Err: errors.New("connection refused " + leak)}), silence, silence, ""},
		{"a certificate of nobody", fixed, testkit.Fails(&tls.CertificateVerificationError{Err: errors.New("unknown authority")}),
			silent, silent, ""},
		{"a private address", fixed, refused, "bad_request: " + private, wrong + private, ""},
		{"a private address that is typed", typed, refused, "bad_request: " + private, wrong + private, ""},
		{"silence", fixed, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, silent, silent, ""},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			definition, shop, log := shopDefinition, "acme", &testkit.Log{}
			definition.Credentials = append([]wire.CredentialField{{Key: "shop", Label: "Shop", Type: wire.CredentialText}},
				definition.Credentials...)
			if c.base == typed {
				shop = "https://acme.example"
			}
			api := shopAPI
			api.Base = c.base
			src := testkit.Must(restsource.New(api, []restsource.Table{{
				Name: "rows", Path: "/rows", Rows: "rows", Key: []string{"id"}, Pages: byURL,
				Columns: []restsource.Column{{Name: "id", Type: wire.TypeNumber}},
			}}, &restsource.Options{Transport: c.answer, MaxBody: 1 << 20}))(t)
			tenant := connectortest.Start(t, definition, src, log.Options()).As(map[string]string{"token": shopToken, "shop": shop}).Unverified()
			_, queried := tenant.Query(wire.QueryRequest{Table: "rows", Fields: []string{"id"}})
			synctest.Wait() // the request is logged when it is over
			assert.Contains(t, log.String(), c.log)
			_, discovered := tenant.Discover()
			checked := tenant.Check()
			for want, err := range map[*string]error{&c.query: queried, &c.check: checked} {
				if *want == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, *want)
			}
			synctest.Wait()
			assert.NotContains(t, fmt.Sprint(queried, discovered, checked, log), shopToken)
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
			return &http.Response{StatusCode: 200, Body: io.NopCloser(brokenReader{io.ErrUnexpectedEOF})}, nil
		},
		"no answer":         testkit.Fails(io.EOF),
		"a refused address": testkit.Fails(&netguard.Error{Kind: "private"}),
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		src := testkit.Must(restsource.New(shopAPI, shopTables(), &restsource.Options{
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

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

// TestDiscoveryRemembersNothing: what the credentials may not read is left out of a
// discovery, with a warning, and so are the foreign keys that lead there. It is there for
// the next tenant.
func TestDiscoveryRemembersNothing(t *testing.T) {
	api := newShopOf(13)
	tenant := asTenant(t, api, shopTables()).Unverified()
	for _, status := range []int{403, 404, 410, 200} {
		api.change = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/v1/customers" || status == 200 {
				return false
			}
			w.WriteHeader(status)
			return true
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
	api.change = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return true
	}
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
		api.change = func(w http.ResponseWriter, r *http.Request) bool {
			if !r.URL.Query().Has(param) {
				return false
			}
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		_, err := asTenant(t, api, shopTables()[:2]).Unverified().Discover()
		requireCode(t, wire.CodeTimeout, err) // the next table cannot be asked at all
		found := testkit.Must(asTenant(t, api, []restsource.Table{shopTables()[1], shopTables()[0]}).Unverified().Discover())(t)
		assert.Contains(t, found.Warnings, want)
		assert.Len(t, found.Tables, 2)
	}
}

// TestSameOrigin: the next page is at the same scheme, host and port, however they are
// written.
func TestSameOrigin(t *testing.T) {
	const open, closed, elsewhere = "http://shop.example/v1", "https://shop.example/v1", "another host"
	for _, c := range []struct {
		base, next string
		log        string // "": the page is asked for
	}{
		{open, "http://shop.example/v1/b", ""}, {open, "http://SHOP.example:80/v1/b", ""}, {open, "HTTP://shop.example/v1/b", ""},
		{open, "//shop.example/v1/b", ""}, {closed, "HTTPS://SHOP.EXAMPLE:443/v1/rows", ""},
		{open, "https://shop.example/v1/b", elsewhere}, {open, "https://shop.example:80/v1/b", elsewhere},
		{open, "http://shop.example:443/v1/b", elsewhere}, {open, "http://shop.example.evil.example/v1/b", elsewhere},
		{open, "http://evil.example/v1/b", elsewhere}, {closed, "https://evil.example/rows", elsewhere},
		{closed, "http://shop.example/v1/rows", "begins with http://"}, {closed, "http://shop.example:443/v1/rows", "begins with http://"},
		{closed, "https://shop.example:8443/v1/rows", elsewhere}, {closed, "https://shop.example@evil.example/rows", elsewhere},
		{closed, "http://shop.example:8080/v1/rows", elsewhere}, {closed, "https://evil.example:443/v1/rows", elsewhere},
		{closed, "//evil.example/v1/rows", elsewhere}, {closed, "https://%zz" + shopToken, "malformed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			api := inTurn(fmt.Sprintf(`{"rows": [{"id": 1}], "next": %q}`, c.next), `{"rows": []}`)
			tenant, log := logged(t, restsource.API{Base: c.base}, numbersTable(byURL), api)
			_, err := tenant.Query(allNumbers)
			synctest.Wait()
			assert.Equal(t, c.log == "", err == nil, c.next)
			assert.Equal(t, c.log == "", len(api.asked) == 2, c.next)
			assert.Contains(t, log.String(), c.log)
			assert.NotContains(t, log.String(), shopToken)
		})
	}
}

// TestChildrenAtOnce: endpoints are asked at the same time, but no more than allowed.
func TestChildrenAtOnce(t *testing.T) {
	for atOnce, want := range map[int]int{0: 4, -1: 4, 1: 1, 3: 3} {
		childrenAtOnce(t, atOnce, want)
	}
}

func childrenAtOnce(t *testing.T, atOnce, want int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		api := testkit.Over(newShopOf(13))
		var mu sync.Mutex
		running, most := 0, 0
		slow := testkit.Transport(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return api.RoundTrip(r)
		})
		tenant, _ := connect(t, shopAPI, shopTables(), restsource.Options{Transport: slow, Concurrency: atOnce})
		begun := time.Now()
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "items", Fields: []string{"order", "line"}}))(t)
		assert.Equal(t, want, most)
		if want > 2 {
			assert.Less(t, time.Since(begun), 12*time.Second, "13 orders and 2 pages of them, one after the other, take 15 seconds")
		}
		assert.IsIncreasing(t, orders(answer), "the rows come in the order of the parent's")
	})
}

// orders returns the distinct orders of the rows, as they come.
func orders(answer *connectortest.Answer) (ids []int64) {
	for _, v := range answer.Column("order") {
		if len(ids) == 0 || ids[len(ids)-1] != v.Int64() {
			ids = append(ids, v.Int64())
		}
	}
	return ids
}

// TestBudgetOfOneRequest: what the API says about its budget holds for the request
// that heard it, and is not remembered for the next [rule tenant-4].
func TestBudgetOfOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newNumbers()
		var asked []time.Duration
		begun := time.Now()
		tenant := serve(t, shopAPI, numbersTable(restsource.Pages{By: restsource.PagingPage, Param: "page"}, withTotal),
			testkit.Transport(func(r *http.Request) (*http.Response, error) {
				asked = append(asked, time.Since(begun))
				res, err := testkit.Over(api).RoundTrip(r)
				if err == nil {
					res.Header.Set("X-RateLimit-Remaining", "0")
					res.Header.Set("X-RateLimit-Reset", "5")
				}
				return res, err
			}))
		for range 2 {
			testkit.Must(tenant.Query(allNumbers))(t)
		}
		assert.Equal(t, seconds(0, 5, 10, 15, 15, 20, 25, 30), asked)
	})
}
