package restsource_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/record"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// shop is an API of a common shape: a bearer token, {"data": [...], "pagination":
// {...}}, limit and offset, filters by the names of fields, sort=-field, and an
// endpoint for the items of each order.
type shop struct {
	remote
	change func(r *http.Request) string // answers in place of the shop, unless with ""
}

const shopToken = "tok-3f1d9c0a7e"

func newShop() *shop { return newShopOf(33) }

// newShopOf returns a shop with so many orders of testdata/shop.json. Another tenant has other customers.
func newShopOf(count int) *shop {
	type rows = []map[string]any
	tenants := map[string]map[string]rows{} // by token, then by path
	for token, customer := range map[string]string{shopToken: "C0-", "tok-of-another-tenant": "C1-"} {
		paths := map[string]rows{}
		d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(shopJSON, "C0-", customer)))
		d.UseNumber()
		if err := d.Decode(&paths); err != nil {
			panic(err)
		}
		paths["/v1/orders"] = paths["/v1/orders"][:count]
		tenants[token] = paths
	}
	s := &shop{change: func(*http.Request) string { return "" }}
	s.answer = func(r *http.Request) string {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		paths := tenants[token]
		if paths == nil {
			return `401 {"error": "unknown token ` + token + `"}`
		}
		if changed := s.change(r); changed != "" {
			return changed
		}
		if list, ok := paths[r.URL.Path]; ok {
			return listed(list, r.URL.Query())
		}
		if r.URL.Path == "/v1/whoami" {
			return `{"data": {"id": "u1"}}`
		}
		return "404"
	}
	return s
}

// listed filters, sorts and cuts as the API does.
func listed(rows []map[string]any, query url.Values) string {
	after := "" // by the date alone, and early enough for every zone
	if at, err := time.Parse(time.RFC3339, query.Get("created_after")); err == nil {
		after = at.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row map[string]any) bool {
		return query.Has("status") && !slices.Contains(query["status"], row["status"].(string)) ||
			after != "" && row["created_at"].(string) < after ||
			query.Get("paid") != "" && fmt.Sprint(row["paid"]) != query.Get("paid")
	})
	switch query.Get("sort") {
	case "", "id":
	case "-id":
		slices.Reverse(rows)
	default:
		return "400"
	}
	total := len(rows)
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit > 10 {
		limit = 10 // the cap of this API, in silence
	}
	offset, _ := strconv.Atoi(query.Get("offset"))
	if page, err := strconv.Atoi(query.Get("page")); err == nil {
		offset = (page - 1) * limit
	}
	rows = rows[min(offset, total):min(offset+limit, total)]
	text, _ := json.Marshal(map[string]any{
		"data": rows, "pagination": map[string]any{"total": total, "limit": limit, "offset": offset, "hasMore": offset+len(rows) < total},
	})
	return string(text)
}

var shopAPI = restsource.API{
	Base:      "https://shop.example/v1",
	Authorize: restsource.Bearer("token"),
	Check:     "/whoami",
}

var shopDefinition = connector.Definition{
	Slug:         "shop",
	Credentials:  []wire.CredentialField{{Key: "token", Label: "Access token", Type: wire.CredentialPassword}},
	KeysEnforced: true,
}

// declared returns tables of testdata/tables.json.
func declared(name string) []restsource.Table {
	var all map[string][]restsource.Table
	d := json.NewDecoder(bytes.NewReader(tablesJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		panic(err)
	}
	return all[name]
}

var (
	//go:embed testdata/tables.json
	tablesJSON []byte
	//go:embed testdata/shop.json
	shopJSON string
)

// TestIsolation asks as two tenants, and with wrong credentials.
func TestIsolation(t *testing.T) {
	src := testkit.Must(restsource.New(shopAPI, declared("shop"), &restsource.Options{Transport: newShopOf(13)}))(t)
	connectortest.Isolation(t, shopDefinition, src, shopCredentials, map[string]string{"token": "tok-of-another-tenant"})
}

var shopCredentials = map[string]string{"token": shopToken}

// asTenant serves a source over an API for one tenant. Its answers are verified.
func asTenant(t *testing.T, api http.RoundTripper, tables []restsource.Table) *connectortest.Tenant {
	t.Helper()
	src := testkit.Must(restsource.New(shopAPI, tables, &restsource.Options{Transport: api}))(t)
	return connectortest.Start(t, shopDefinition, src, nil).As(shopCredentials)
}

// serve serves a source over whatever answers its requests, for one tenant.
func serve(t *testing.T, api restsource.API, tables []restsource.Table, upstream http.RoundTripper) *connectortest.Tenant {
	t.Helper()
	tenant, _ := logged(t, api, tables, upstream)
	return tenant
}

// logged serves as serve does, and returns the log of the connector. Requests come one after the
// other, so that an upstream of a test can count them.
func logged(
	t *testing.T, api restsource.API, tables []restsource.Table, upstream http.RoundTripper,
) (*connectortest.Tenant, *testkit.Log) {
	t.Helper()
	return connect(t, api, tables, restsource.Options{Transport: upstream, Concurrency: 1})
}

// connect serves a source for one tenant.
func connect(t *testing.T, api restsource.API, tables []restsource.Table, o restsource.Options) (*connectortest.Tenant, *testkit.Log) {
	t.Helper()
	return connectAs(t, shopDefinition, shopCredentials, api, tables, o)
}

// connectAs serves a source that asks for other credentials.
func connectAs(
	t *testing.T, def connector.Definition, credentials map[string]string,
	api restsource.API, tables []restsource.Table, o restsource.Options,
) (*connectortest.Tenant, *testkit.Log) {
	t.Helper()
	src, log := testkit.Must(restsource.New(api, tables, &o))(t), &testkit.Log{}
	return connectortest.Start(t, def, src, connectors.Logging(log)).As(credentials).Unverified(), log
}

// query asks for rows in virtual time. It returns what the log says too, with quotation marks that are escaped once.
func query(
	t *testing.T, tables []restsource.Table, upstream http.RoundTripper, req wire.QueryRequest,
) (answer *connectortest.Answer, said string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tenant, log := logged(t, shopAPI, tables, upstream)
		answer, err = tenant.Query(req)
		synctest.Wait() // the request is logged when it is over
		said = strings.ReplaceAll(log.String(), `\\`, `\`)
	})
	return answer, said, err
}

// namesOf returns the names of the tables that a discovery found.
func namesOf(found *wire.Discovery) (names []string) {
	for _, table := range found.Tables {
		names = append(names, table.Name)
	}
	return names
}

// idsOf returns the column id of an answer.
func idsOf(answer *connectortest.Answer) []int64 { return intsOf(answer, "id") }

// intsOf returns a column of numbers.
func intsOf(answer *connectortest.Answer, column string) []int64 {
	numbers := []int64{}
	for _, v := range answer.Column(column) {
		numbers = append(numbers, v.Int64())
	}
	return numbers
}

// TestRecordedRun grades a source over the shop, and again over a recording, which asks the API nothing: the author of
// a connector over a limited API may grade it as often as needed. The requests suffice for all questions: a run that
// uses its last one asks others when the machine is slow.
func TestRecordedRun(t *testing.T) {
	if !testrun.Race {
		testrun.Long(t)
	}
	dir, api := t.TempDir(), newShopOf(13)
	for _, upstream := range []http.RoundTripper{api, nil} {
		recorder := &record.Recorder{Dir: dir, Upstream: upstream}
		src := testkit.Must(restsource.New(shopAPI, declared("shop"), &restsource.Options{Transport: recorder}))(t)
		connectortest.Run(t, shopDefinition, src, &connectortest.Options{Credentials: shopCredentials, Requests: 1000})
	}
}
