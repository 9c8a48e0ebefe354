package killtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
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
		city := unless(i%5 == 0, wire.Text(mark+" city "+fmt.Sprint(i%4)))
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

// hostWith returns a sharedHost whose tables are changed.
func hostWith(change func(tables *[2][]memsource.Table)) func() http.Handler {
	return func() http.Handler {
		tables := hostTables()
		change(&tables)
		return sharedHostOf(hostDefinition, tables)
	}
}

// openHost returns a sharedHost with other credentials, whatever they are.
func openHost(fields ...wire.CredentialField) func() http.Handler {
	return func() http.Handler {
		f := sharedHostOf(connector.Definition{Credentials: fields}, hostTables())
		f.pick = func(*http.Request, map[string]string) int { return 0 }
		return f
	}
}

// hostEach returns a sharedHost of which each table of each customer is changed.
func hostEach(change func(customer int, t *memsource.Table)) func() http.Handler {
	return hostWith(func(tables *[2][]memsource.Table) {
		for i := range tables {
			for n := range tables[i] {
				change(i, &tables[i][n])
			}
		}
	})
}

// ofCustomers puts f in front of what a customer asks with the right credentials, of one route or of all if path is empty.
func ofCustomers(path string, f func(w http.ResponseWriter, r *http.Request, body map[string]any, customer int) bool) layer {
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		set, ok := credentialsIn(*body)
		return ok && mayAsk(r) && known(set) >= 0 && (path == "" || r.URL.Path == path) && f(w, r, parsed(*body), known(set))
	})
}

// operandOf returns the operand of a request's filter with an operator on a field, or nil.
func operandOf(body map[string]any, op, field string) any {
	for _, f := range listOf(body, "and") {
		if f["op"] == op && f["field"] == field {
			return f["value"]
		}
	}
	return nil
}

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
	return slices.IndexFunc(hostSets, func(own map[string]string) bool { return maps.Equal(set, own) })
}

// tenantNamed returns which customer a set names, or -1.
func tenantNamed(set map[string]string) int {
	return slices.IndexFunc(hostSets, func(own map[string]string) bool { return set["tenant"] == own["tenant"] })
}

// ServeHTTP passes a request to the customer's own connector. What is malformed, or has no token, is refused by the first.
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

// keeping returns h with a cache in front of one route; key says under what a request is kept. Under an empty key none is.
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
				if fresh.Code == http.StatusOK && k != "" {
					kept.Store(k, rec)
				}
			}
			replay(w, rec.(*httptest.ResponseRecorder))
			return true
		})(h)
	}
}

// keepingWhere keeps the answers to the requests for which a condition holds by the request.
func keepingWhere(path string, holds func(body map[string]any) bool) layer {
	return keeping(path, func(r *http.Request, body map[string]any) string {
		if !holds(body) {
			return ""
		}
		return byRequest(r, body)
	})
}

// The keys of caches that authors write.

// byRequest is the request without the credentials and the timeouts.
func byRequest(_ *http.Request, body map[string]any) string {
	return without(body, "credentials", "timeoutMs", "idleTimeoutMs")
}

// byBody is everything but the credentials.
func byBody(_ *http.Request, body map[string]any) string { return without(body, "credentials") }

func without(body map[string]any, members ...string) string {
	rest := maps.Clone(body)
	for _, name := range members {
		delete(rest, name)
	}
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
