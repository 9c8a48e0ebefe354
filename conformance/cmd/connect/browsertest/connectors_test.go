package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"account":"`+small+`"`)) {
			fewer.ServeHTTP(w, r)
			return
		}
		all.ServeHTTP(w, r)
	})
}

// goodWith returns a connector with so many orders.
func goodWith(t *testing.T, n int64) http.Handler {
	t.Helper()
	customers := memsource.Table{
		Table: wire.Table{Name: "customers", SourceDescription: "People who have bought something.", StoresRows: true,
			PrimaryKey: []string{"id"},
			Fields: []wire.Field{
				{Name: "id", Type: wire.TypeNumber, Unique: true, SourceDescription: "The customer's number."},
				{Name: "name", Type: wire.TypeString},
				{Name: "country", Type: wire.TypeString, Nullable: true, SourceDescription: "ISO 3166 code; null if unknown."},
			}},
	}
	orders := memsource.Table{
		Table: wire.Table{Name: "orders", SourceDescription: "One row for each order, <b>paid</b> or not.", StoresRows: true,
			PrimaryKey:  []string{"id"},
			ForeignKeys: []wire.ForeignKey{{Field: "customer", TargetTable: "customers", TargetField: "id"}},
			Fields: []wire.Field{
				{Name: "id", Type: wire.TypeNumber, Unique: true},
				{Name: "customer", Type: wire.TypeReference, SourceDescription: "Who ordered."},
				{Name: "total", Type: wire.TypeDecimal, SourceDescription: "In euros, with tax."},
				{Name: "placed", Type: wire.TypeDatetime},
				{Name: "status", Type: wire.TypeString, Nullable: true},
			}},
	}
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
	h := testkit.New(token, connector.Definition{Slug: "little-shop", Credentials: schema}, shop{src}, testkit.Quiet())
	return h
}

// broken states a size of orders that is not the number of its rows, takes gt for gte and sorts in one
// direction only, until it is mended.
func broken(h http.Handler, mended *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		if r.URL.Path == wire.PathQuery && !mended.Load() {
			body = bytes.ReplaceAll(body, []byte(`"op":"gt"`), []byte(`"op":"gte"`))
			body = bytes.ReplaceAll(body, []byte(`"dir":"desc"`), []byte(`"dir":"asc"`)) // the check of both directions waits for that of the sort
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		if r.URL.Path != wire.PathSize || mended.Load() {
			h.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(answer, r)
		text := strings.Replace(answer.Body.String(), "300", "299", 1)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = io.WriteString(w, text)
	})
}

// tides are the rows of the foreign connector.
var tides = []map[string]any{{"port": "Brest", "metres": 6.1}, {"port": "Calais", "metres": 6.5}, {"port": "Nice", "metres": 0.2}}

// foreign is a connector that leaves everything to the platform: it has one table and ignores
// filters, sorts and windows, states nothing as served, and sends each row in a line of its own.
func foreign(w http.ResponseWriter, r *http.Request) {
	say := func(kind string, status int, text string) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
	refuse := func(status int, code wire.Code, message string) {
		body, _ := wire.EncodeAnswer(&wire.ErrorAnswer{Error: wire.Error{Code: code, Message: message}})
		say(terms.MediaJSON, status, string(body))
	}
	body, _ := io.ReadAll(r.Body)
	query := &wire.QueryRequest{}
	message := map[string]wire.Request{
		wire.PathCheck: &wire.CheckRequest{}, wire.PathDiscovery: &wire.DiscoveryRequest{}, wire.PathQuery: query}[r.URL.Path]
	switch {
	case r.URL.Path == wire.PathDocument:
		say(terms.MediaJSON, 200, `{"protocolVersion": 1, "slug": "plain-tides", "capabilities": {"operators": [], "dateBucket": false,
			"sort": "none", "offset": false, "join": false, "keysEnforced": false, "limits": {}}, "credentialSchema": [], "endpoints": []}`)
		return
	case message == nil:
		refuse(404, "not_found", "no such path")
		return
	case r.Header.Get("Authorization") != "Bearer "+token || r.URL.RawQuery != "":
		refuse(401, wire.CodeUnauthorized, "the bearer token is missing or wrong")
		return
	}
	if err := wire.Decode(body, message); err != nil {
		refuse(400, wire.CodeBadRequest, err.Error())
		return
	}
	switch r.URL.Path {
	case wire.PathCheck:
		say(terms.MediaJSON, 200, `{"ok": true}`)
	case wire.PathDiscovery:
		say(terms.MediaJSON, 200, `{"tables": [{"name": "tides", "sourceDescription": "Tidal range by port.", "storesRows": true,
			"primaryKey": ["port"], "foreignKeys": [], "fields": [
			{"name": "port", "sourceColumn": "port", "type": "string", "nullable": false, "unique": true,
				"samples": [], "sourceDescription": ""},
			{"name": "metres", "sourceColumn": "metres", "type": "number", "nullable": false, "unique": false,
				"samples": [], "sourceDescription": ""}]}],
			"warnings": ["Two ports were left out: they have no gauge."]}`)
	case wire.PathQuery:
		named := append([]string{}, query.Fields...)
		for f := range query.Filters() {
			named = append(named, f.Field)
		}
		for _, key := range query.Sort {
			named = append(named, key.Field)
		}
		unknown := slices.ContainsFunc(named, func(name string) bool { return tides[0][name] == nil })
		switch {
		case query.Table != "tides":
			refuse(404, wire.CodeUnknownEntity, "there is only the table tides")
		case len(query.Joins) > 0 || unknown:
			refuse(422, wire.CodeUnsupported, "no joins, and only the fields port and metres")
		default:
			say(terms.MediaNDJSON, 200, "")
			for _, row := range tides {
				own := map[string]any{}
				for _, f := range query.Fields {
					own[f] = row[f]
				}
				_ = json.NewEncoder(w).Encode(map[string]any{"rows": []any{own}})
			}
			_, _ = io.WriteString(w, `{"end": 1}`+"\n")
		}
	}
}

// serve serves a connector on a port and returns its URL. Every body that it gets is recorded.
func serve(t *testing.T, h http.Handler) (url string, bodies func() []string) {
	t.Helper()
	var mu sync.Mutex
	var list []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		list = append(list, string(body))
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string{}, list...) }
}

// nowhere returns the URL of a port at which nothing listens.
func nowhere(t *testing.T) string {
	t.Helper()
	l := testkit.Must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	require.NoError(t, l.Close())
	return "http://" + l.Addr().String()
}
