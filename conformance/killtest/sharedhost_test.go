package killtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A sharedHost hosts a connector for two customers, acme and globex. Each has tables of its
// own, and its own rows in those that both have.
type sharedHost struct {
	handlers [2]http.Handler
	// pick returns whose data a request gets, or -1 to refuse it.
	pick func(r *http.Request, set map[string]string) int
}

// hostSets are the credentials of its customers.
var hostSets = []map[string]string{
	{"tenant": "acme", "password": "acmes-own-password-1"},
	{"tenant": "globex", "password": "globexs-own-password-2"},
}

func apart(g *grading)   { g.Mode, g.credentials = conformance.ModeLive, hostSets }
func alone(g *grading)   { g.Mode, g.credentials = conformance.ModeLive, hostSets[:1] }
func wrongly(g *grading) { apart(g); g.WrongCredentials = true }

var hostDefinition = connector.Definition{Credentials: []wire.CredentialField{
	{Key: "tenant", Label: "Tenant", Type: wire.CredentialText},
	{Key: "password", Label: "Password", Type: wire.CredentialPassword},
}}

// hostTable returns a table of one customer.
func hostTable(name, mark string, n int) memsource.Table {
	rows := int64(n)
	t := memsource.Table{Table: wire.Table{
		Name: name, SourceDescription: "What the customer has.", PrimaryKey: []string{"id"}, RowCount: &rows,
		Fields: fieldsOf("id string!", "n number", "city string?", "at datetime"),
	}}
	for i := range n {
		city := wire.Text(mark + " city " + fmt.Sprint(i%4))
		if i%5 == 0 {
			city = wire.Null()
		}
		t.Rows = append(t.Rows, []wire.Value{wire.Text(fmt.Sprintf("%s-%d", mark, i)), wire.Int(int64(i % 3)), city, hostInstant(mark, i)})
	}
	return t
}

// hostInstant returns an instant that only the customer with the mark has.
func hostInstant(mark string, i int) wire.Value {
	return wire.DatetimeWidth(time.Date(2024, time.May, len(mark), i, 0, 0, 0, time.UTC), 0)
}

// hostTables returns the tables of both customers: countries are the same for both.
func hostTables() [2][]memsource.Table {
	countries := hostTable("countries", "land", 6)
	return [2][]memsource.Table{
		{hostTable("parts", "acme", 12), hostTable("invoices", "acme", 9), countries, hostTable("acme_sites", "acme", 3)},
		{hostTable("parts", "globex", 17), hostTable("invoices", "globex", 7), countries, hostTable("globex_depots", "globex", 4)},
	}
}

func newSharedHost() *sharedHost { return sharedHostOf(hostDefinition, hostTables()) }

func sharedHostOf(definition connector.Definition, tables [2][]memsource.Table) *sharedHost {
	f := &sharedHost{pick: func(_ *http.Request, set map[string]string) int { return known(set) }}
	for i := range f.handlers {
		f.handlers[i] = serve(definition, source(tables[i]...), nil)
	}
	return f
}

// picking returns a sharedHost that decides otherwise whose data a request gets.
func picking(pick func(r *http.Request, set map[string]string) int) func() http.Handler {
	return func() http.Handler {
		f := newSharedHost()
		f.pick = pick
		return f
	}
}

// known returns whose credentials a set is, or -1.
func known(set map[string]string) int {
	for i, own := range hostSets {
		if maps.Equal(set, own) {
			return i
		}
	}
	return -1
}

// tenantNamed returns which customer a set names, or -1.
func tenantNamed(set map[string]string) int {
	for i, own := range hostSets {
		if set["tenant"] == own["tenant"] {
			return i
		}
	}
	return -1
}

// ServeHTTP passes a request to the customer's own connector. What is malformed, or
// has no token, is refused by the first.
func (f *sharedHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, tenant := []byte(bodyOf(r)), 0
	if set, ok := credentialsIn(body); ok && mayAsk(r) {
		tenant = f.pick(r, set)
		if tenant < 0 {
			if r.URL.Path == wire.PathCheck {
				refuses(w, http.StatusBadRequest, "check_failed", "The tenant or the password is wrong.")
				return
			}
			refuses(w, http.StatusBadRequest, "bad_request", "the credentials are not accepted")
			return
		}
		if !maps.Equal(set, hostSets[tenant]) {
			body = withSet(body, hostSets[tenant])
		}
	}
	f.handlers[tenant].ServeHTTP(w, withBody(r, body))
}

// credentialsIn returns the credentials of a request.
func credentialsIn(body []byte) (map[string]string, bool) {
	var message struct{ Credentials map[string]string }
	if !json.Valid(body) || json.Unmarshal(body, &message) != nil || message.Credentials == nil {
		return nil, false
	}
	return message.Credentials, true
}

// withSet returns a request with other credentials.
func withSet(body []byte, set map[string]string) []byte {
	tree := parsed(body)
	tree["credentials"] = set
	return marshalled(tree)
}

// keeping returns h with a cache in front of one route; key says under what a request
// is kept.
func keeping(path string, key func(r *http.Request, body map[string]any) string) layer {
	return func(h http.Handler) http.Handler {
		var kept sync.Map
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			tree := parsed(*body)
			if r.URL.Path != path || tree == nil || r.Header.Get("Authorization") != "Bearer "+testToken {
				return false
			}
			k := key(r, tree)
			rec, ok := kept.Load(k)
			if !ok {
				fresh := httptest.NewRecorder()
				h.ServeHTTP(fresh, withBody(r, *body))
				rec = fresh
				if fresh.Code == http.StatusOK {
					kept.Store(k, rec)
				}
			}
			replay(w, rec.(*httptest.ResponseRecorder))
			return true
		})(h)
	}
}

// The keys of caches that authors write.

// byRequest is the request without the credentials and the timeouts.
func byRequest(_ *http.Request, body map[string]any) string {
	rest := maps.Clone(body)
	for _, name := range []string{"credentials", "timeoutMs", "idleTimeoutMs"} {
		delete(rest, name)
	}
	return fmt.Sprint(rest)
}

// byBody is everything but the credentials.
func byBody(_ *http.Request, body map[string]any) string {
	rest := maps.Clone(body)
	delete(rest, "credentials")
	return fmt.Sprint(rest)
}

// byTable is the name of the table.
func byTable(_ *http.Request, body map[string]any) string {
	return fmt.Sprint(body["table"], body["fromTable"])
}

// byFilters is the table and what is asked of its rows.
func byFilters(_ *http.Request, body map[string]any) string {
	return fmt.Sprint(body["table"], body["and"], body["or"])
}

// byTenantName is the name of the tenant, whatever the password.
func byTenantName(r *http.Request, body map[string]any) string {
	set, _ := body["credentials"].(map[string]any)
	return fmt.Sprint(set["tenant"]) + byRequest(r, body)
}
