package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const token = "browser-token-0123456789abcdef-0123"

// shop is a source with two tables that takes any API key but one.
type shop struct{ *memsource.Source }

// Check rejects one key with words for the person who typed it.
func (s shop) Check(_ context.Context, r *wire.CheckRequest) error {
	if r.Credentials.Get("apiKey") == "wrong-key" {
		return connector.CheckFailed(`The shop says: "unknown key". Ask <Zoë>.`)
	}
	return nil
}

// LinkHitRate takes its time, so that the check of the slowest calls always has one to judge, however fast
// the machine is.
func (s shop) LinkHitRate(ctx context.Context, r *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(200 * time.Millisecond):
	}
	return s.Source.LinkHitRate(ctx, r)
}

var schema = []wire.CredentialField{
	{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword, Placeholder: "sk-...",
		Help: "Shown under **Settings, API**, as `live key`.\n\n[Where it is](https://shop.example.com/keys)\n" +
			"<img src=x onerror=alert(1)> [no](javascript:alert(1))"},
	{Key: "account", Label: "Account", Type: wire.CredentialText},
	{Key: "certificate", Label: "Certificate", Type: wire.CredentialTextarea, Optional: true, Help: "Only for *old* accounts."},
}

func good(t *testing.T) http.Handler { return goodWith(t, 300) }

// twoAccounts answers the account of that name with fewer orders than any other.
func twoAccounts(t *testing.T, small string) http.Handler {
	all, fewer := good(t), goodWith(t, 240)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bytes.Contains(testkit.Body(r), []byte(`"account":"`+small+`"`)) {
			fewer.ServeHTTP(w, r)
			return
		}
		all.ServeHTTP(w, r)
	})
}

// goodWith returns a connector with so many orders.
func goodWith(t *testing.T, n int64) http.Handler {
	t.Helper()
	customers := cells.TableOf(t, "customers", "id:number*! name:string country:string?")
	customers.SourceDescription = "People who have bought something."
	customers.Fields[0].SourceDescription = "The customer's number."
	customers.Fields[2].SourceDescription = "ISO 3166 code; null if unknown."
	orders := cells.TableOf(t, "orders", "id:number*! customer:reference total:decimal placed:datetime status:string?")
	orders.SourceDescription = "One row for each order, <b>paid</b> or not."
	orders.Fields[1].SourceDescription = "Who ordered."
	orders.Fields[2].SourceDescription = "In euros, with tax."
	orders.ForeignKeys = []wire.ForeignKey{{Field: "customer", TargetTable: "customers", TargetField: "id"}}
	for i := range int64(12) {
		country := wire.Text([]string{"FR", "DE", "PT"}[i%3])
		if i == 7 {
			country = wire.Null()
		}
		customers.Rows = append(customers.Rows, []wire.Value{wire.Int(i + 1), wire.Text(fmt.Sprintf("Customer %c", 'A'+i)), country})
	}
	for i := range n {
		status := wire.Text([]string{"paid", "open", "returned"}[i%3])
		if i%17 == 0 {
			status = wire.Null()
		}
		orders.Rows = append(orders.Rows, []wire.Value{
			wire.Int(1000 + i), wire.Text(fmt.Sprint(i%12 + 1)), wire.Decimal(fmt.Sprintf("%d.%02d", 10+i*7%90, i%100)),
			wire.Datetime(time.Date(2026, 1, 1, 9, 30, 0, 0, time.UTC).Add(time.Duration(i) * 11 * time.Hour)), status})
	}
	src := testkit.Must(memsource.New([]memsource.Table{customers, orders}, nil))(t)
	return connectors.New(token, connector.Definition{Slug: "little-shop", Credentials: schema}, shop{src}, connectors.Quiet())
}

// broken states a size of orders that is not the number of its rows, takes gt for gte and sorts in one
// direction only, until it is mended.
func broken(h http.Handler, mended *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body := testkit.Body(r); r.URL.Path == wire.PathQuery && !mended.Load() {
			body = bytes.ReplaceAll(body, []byte(`"op":"gt"`), []byte(`"op":"gte"`))
			body = bytes.ReplaceAll(body, []byte(`"dir":"desc"`), []byte(`"dir":"asc"`)) // the check of both directions waits for that of the sort
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		if r.URL.Path == wire.PathSize && !mended.Load() && bytes.Contains(testkit.Body(r), []byte(`"table":"orders"`)) {
			testkit.JSON(http.StatusOK, `{"size":{"rows":299,"exact":true}}`)(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// bare is a connector that leaves everything to the platform: it declares nothing, and hands out all rows of its one table.
func bare(t *testing.T) http.Handler {
	tides := cells.TableOf(t, "tides", `port:string*! metres:number | "Brest" 6.1 | "Calais" 6.5 | "Nice" 0.2`)
	tides.SourceDescription = "Tidal range by port."
	src := connectors.Source{Tables: []memsource.Table{tides}}
	tables := src
	src.OnDiscover = func(ctx context.Context, r *wire.DiscoveryRequest) (*wire.Discovery, error) {
		found, err := tables.Discover(ctx, r)
		found.Warnings = []string{"Two ports were left out: they have no gauge."}
		return found, err
	}
	opts := connectors.Quiet()
	opts.Omit.Operators, opts.Omit.Sort, opts.Omit.Offset = filter.Operators(), wire.SortNone, true
	opts.Omit.Endpoints = []wire.Endpoint{wire.EndpointCount}
	return connectors.New(token, connector.Definition{Slug: "plain-tides"}, src, opts)
}

// serve serves a connector on a port and returns its URL. Every body that it gets is recorded.
func serve(t *testing.T, h http.Handler) (url string, bodies func() []string) {
	t.Helper()
	var mu sync.Mutex
	var list []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := string(testkit.Body(r))
		mu.Lock()
		list = append(list, body)
		mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string{}, list...) }
}
