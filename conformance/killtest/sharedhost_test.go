package killtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A sharedHost hosts a connector for two customers, acme and globex. Each has tables of its
// own, and its own rows in those that both have.
type sharedHost struct {
	handlers [2]http.Handler
	pick     picker
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
	t := tableOf(name, "What the customer has.", nil, "id string!", "n number", "city string?", "at datetime")
	t.RowCount = &rows
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

// twoCustomers is a sharedHost as it is.
var twoCustomers = over(newSharedHost)

// hostWith returns a sharedHost whose tables are changed.
func hostWith(change func(tables *[2][]memsource.Table)) func() http.Handler {
	return func() http.Handler {
		tables := hostTables()
		change(&tables)
		return sharedHostOf(hostDefinition, tables)
	}
}

// A picker decides whose data a request gets, or -1 to refuse it.
type picker = func(r *http.Request, set map[string]string) int

// formed returns a sharedHost whose form has other fields, and that decides otherwise.
func formed(pick picker, fields ...wire.CredentialField) func() http.Handler {
	return func() http.Handler {
		f := sharedHostOf(connector.Definition{Credentials: fields}, hostTables())
		f.pick = pick
		return f
	}
}

// picking returns a sharedHost that decides otherwise whose data a request gets.
func picking(pick picker) func() http.Handler { return formed(pick, hostDefinition.Credentials...) }

// openHost returns a sharedHost with other credentials, whatever they are.
func openHost(fields ...wire.CredentialField) func() http.Handler {
	return formed(func(*http.Request, map[string]string) int { return 0 }, fields...)
}

// branched returns a sharedHost whose form has an optional branch, which tells the customers apart.
func branched(pick picker) func() http.Handler {
	return formed(pick, wire.CredentialField{Key: "tenant", Label: "Branch", Type: wire.CredentialText, Optional: true},
		wire.CredentialField{Key: "password", Label: "Key", Type: wire.CredentialPassword})
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

// keepingWhere keeps the answers to the requests for which a condition holds by what is left of the request.
func keepingWhere(path string, holds func(body map[string]any) bool, leave ...func(body map[string]any)) layer {
	return keeping(path, func(r *http.Request, body map[string]any) string {
		if !holds(body) {
			return ""
		}
		for _, change := range leave {
			change(body)
		}
		return byRequest(r, body)
	})
}

// The keys of caches that authors write.

// byRequest is the request without the credentials and the timeouts.
func byRequest(_ *http.Request, body map[string]any) string {
	return without(body, "credentials", "timeoutMs", "idleTimeoutMs")
}

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

// ownerOf returns whose password a set has, or -1.
func ownerOf(set map[string]string) int {
	return slices.IndexFunc(hostSets, func(own map[string]string) bool { return own["password"] == set["password"] })
}

// anyKnownKey lets in who has a password of anybody, and takes the branch as it is named.
func anyKnownKey(_ *http.Request, set map[string]string) int {
	if branch := tenantNamed(set); ownerOf(set) < 0 || branch >= 0 {
		return min(branch, ownerOf(set))
	}
	return ownerOf(set)
}

// anyKey answers everybody who has any key with the first customer's data.
func anyKey(_ *http.Request, set map[string]string) int { return min(0, len(set["password"])-1) }

func checkingBy(name string, options func(*grading), accepts func(set map[string]string) bool) fault {
	return broken(name, "the check makes the cheapest call that proves the credentials", "P1.7b",
		pickingFor(wire.PathCheck, accepts, func(set credentialSet) int { return max(known(set), 0) })).
		graded(options).accepted("an answer of /check is well formed, whatever it rests on")
}

func servingBy(name string, options func(*grading), build func() http.Handler) fault {
	return broken(name, servedToNobodyElse, "T7", build).graded(options)
}

var passwordForm = regexp.MustCompile(`^[a-z]+-[a-z]+-[a-z]+-\d$`)

// credentialFaults are connectors that show to a mistyped secret, or to the credentials of two tenants mixed.
var credentialFaults = []fault{
	checkingBy("a check takes any password of the right form", apart, func(set map[string]string) bool {
		return passwordForm.MatchString(set["password"])
	}),
	checkingBy("a check looks at the beginning of the password", alone, func(set map[string]string) bool {
		return strings.HasPrefix(set["password"], hostSets[0]["password"][:8])
	}),
	checkingBy("a check that cannot tell", apart, func(set map[string]string) bool { return len(set) == 2 }),
	servingBy("any known key is let in, and the branch picks the data", apart, branched(anyKnownKey)),
	servingBy("aggregates are those of the account that is named", apart, picking(func(r *http.Request, set map[string]string) int {
		if owner := ownerOf(set); owner < 0 || r.URL.Path != wire.PathAggregate || set["tenant"] == "" {
			return owner
		}
		return tenantNamed(set)
	})),
	servingBy("only the check looks at the password", alone,
		pickingFor(wire.PathQuery, func(set credentialSet) bool { return set["password"] != "" }, tenantNamed)),
}

// TestKeysOfOneCustomer requires that two keys that both open two branches fail as a leak would, since nothing tells
// them from one, unless the caller says that both are of one customer.
func TestKeysOfOneCustomer(t *testing.T) {
	t.Parallel()
	for _, alike := range []bool{false, true} {
		g := with(apart)
		g.Match, g.Alike = `^T7$`, alike
		r := grade(t, branched(anyKnownKey)(), g)
		r.has(t, map[bool]conformance.Verdict{false: conformance.Fail, true: conformance.Pass}[alike], "T7")
		require.Contains(t, r.Outcome("T7").Fix, "-alike")
	}
}

// TestPublicData requires that a key which means nothing fails nothing with one account: whoever has another key may
// have a right to the same data.
func TestPublicData(t *testing.T) {
	t.Parallel()
	r := grade(t, picking(anyKey)(), with(alone, matching(`^(P1\.7b|T)`)))
	require.NoError(t, r.Err())
	r.has(t, conformance.Pass, "T7")
	require.Equal(t, conformance.NoData, r.Outcome("P1.7b").Reason)
}

// TestUntriedCredentials requires that a verdict says which wrong credentials it does not rest on.
func TestUntriedCredentials(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	named := hostDefinition
	named.Credentials = named.Credentials[:1]
	for _, c := range []struct {
		says    string
		build   func() http.Handler
		options func(*grading)
	}{
		{"; of wrong credentials few were tried (-wrong-credentials)", twoCustomers, alone},
		{"; a mistyped secret opens /check and /query as the right one does, which may be meant", picking(anyKey), alone},
		{"; wrong credentials were not tried (-wrong-credentials)", func() http.Handler { return sharedHostOf(named, hostTables()) }, alone},
		{"", twoCustomers, func(g *grading) { alone(g); g.WrongCredentials = true }},
	} {
		r := grade(t, c.build(), with(c.options))
		if c.says == "" {
			require.NotContains(t, r.Verdict(), "wrong")
		}
		require.True(t, strings.HasSuffix(r.Verdict(), c.says), r.Verdict())
	}
}
