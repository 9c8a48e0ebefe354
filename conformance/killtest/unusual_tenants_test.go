package killtest

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// unusualTenants are connectors whose tenants or credentials are odd, and that break
// no rule. None may fail anything, whether or not wrong credentials are sent.
var unusualTenants = []struct {
	name, why string
	options   func(*grading)
	build     func() http.Handler
	alike     bool // nothing tells the tenants apart
}{
	{name: "two customers", why: "tenants that are apart", options: apart, build: func() http.Handler { return newSharedHost() }},
	{name: "two users of one company", why: "two sets of credentials may give access to the same data", options: apart, alike: true,
		build: func() http.Handler {
			tables := hostTables()
			return sharedHostOf(hostDefinition, [2][]memsource.Table{tables[0], tables[0]})
		}},
	{name: "a shared reference table and nothing else in common", why: "what belongs to the host is the same for everybody",
		options: apart,
		build: func() http.Handler {
			tables := hostTables()
			return sharedHostOf(hostDefinition, [2][]memsource.Table{tables[0][2:], tables[1][2:]})
		}},
	{name: "tenants without a table in common", why: "each tenant has data of its own", options: apart, build: func() http.Handler {
		tables := hostTables()
		return sharedHostOf(hostDefinition, [2][]memsource.Table{tables[0][3:], tables[1][3:]})
	}},
	{name: "tables of one name and other columns", why: "each tenant has data of its own", options: apart, build: func() http.Handler {
		tables := hostTables()
		parts := &tables[1][0]
		colour := wire.Field{Name: "colour", SourceColumn: "colour", Type: wire.TypeString, Nullable: true}
		parts.Fields = append(parts.Fields[:2:2], colour, parts.Fields[3])
		return sharedHostOf(hostDefinition, tables)
	}},
	{name: "the same number of rows in every table", why: "tables of one size are not one table", options: apart,
		build: func() http.Handler {
			tables := hostTables()
			tables[1][0], tables[1][1] = hostTable("parts", "globex", 12), hostTable("invoices", "globex", 9)
			return sharedHostOf(hostDefinition, tables)
		}},
	{name: "no credentials at all", why: "credentialSchema is empty when no per-tenant secret is needed", options: alone, alike: true,
		build: func() http.Handler {
			f := sharedHostOf(connector.Definition{}, hostTables())
			f.pick = func(*http.Request, map[string]string) int { return 0 }
			return f
		}},
	{name: "optional credentials alone", why: "a blank optional field is missing", options: alone, alike: true, build: func() http.Handler {
		f := sharedHostOf(connector.Definition{Credentials: []wire.CredentialField{
			{Key: "tenant", Label: "Tenant", Type: wire.CredentialText, Optional: true},
			{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
		}}, hostTables())
		f.pick = func(*http.Request, map[string]string) int { return 0 }
		return f
	}},
	{name: "an optional credential that the source misses", why: "only an internal error says that nobody thought of it",
		options: withRegion, alike: true,
		build: func() http.Handler { return regional(http.StatusBadRequest, "check_failed", "Type your region.") }},
	{name: "a secret that is enough", why: "a name beside a key may mean nothing to the source", options: apart,
		build: func() http.Handler {
			f := newSharedHost()
			f.pick = func(_ *http.Request, set map[string]string) int {
				for i, own := range hostSets {
					if set["password"] == own["password"] && set["tenant"] != "" {
						return i
					}
				}
				return -1
			}
			return f
		}},
	{name: "one password for several accounts", why: "the account may be all that differs", options: func(g *grading) {
		apart(g)
		g.credentials = []map[string]string{hostSets[0], {"tenant": "globex", "password": hostSets[0]["password"]}}
	},
		build: picking(func(_ *http.Request, set map[string]string) int {
			if ownerOf(set) == 0 {
				return tenantNamed(set)
			}
			return -1
		})},
	{name: "a branch that only one customer has", why: "a blank optional field is missing", options: func(g *grading) {
		apart(g)
		g.credentials = []map[string]string{{"password": hostSets[0]["password"]}, hostSets[1]}
	}, build: func() http.Handler { return branched(ownerOf) }},
	{name: "a required name of no meaning", why: "a field may be required that the data do not depend on", options: alone, alike: true,
		build: func() http.Handler {
			f := sharedHostOf(connector.Definition{Credentials: []wire.CredentialField{
				{Key: "tenant", Label: "Your name", Type: wire.CredentialText},
				{Key: "password", Label: "Not needed", Type: wire.CredentialPassword, Optional: true},
			}}, hostTables())
			f.pick = func(*http.Request, map[string]string) int { return 0 }
			return f
		}},
	{name: "missing credentials count as bad requests everywhere", why: "a missing key may count as a body that does not parse",
		options: apart,
		build: over(newSharedHost, refusesWhere(http.StatusBadRequest, "bad_request", "the body does not parse",
			func(r *http.Request, body []byte) bool {
				set, ok := credentialsIn(body)
				return ok && mayAsk(r) && len(set) != 2
			}))},
	{
		name: "tables of 6,000 rows and of unknown size", why: "rowCount is optional",
		options: func(g *grading) { apart(g); g.Match = `^(P0|P1|T|A\.3)` }, // the laws read large tables elsewhere
		build: func() http.Handler {
			tables := [2][]memsource.Table{{hostTable("parts", "acme", 6000)}, {hostTable("parts", "globex", 6000)}}
			tables[0][0].RowCount, tables[1][0].RowCount = nil, nil
			return sharedHostOf(hostDefinition, tables)
		},
	},
	{name: "two users of a company with 6,000 rows", why: "two sets of credentials may give access to the same data", alike: true,
		options: func(g *grading) { apart(g); g.Match = `^(P0|P1|T|A\.3)` },
		build: func() http.Handler {
			large := []memsource.Table{hostTable("parts", "acme", 6000)}
			return sharedHostOf(hostDefinition, [2][]memsource.Table{large, large})
		}},
	{name: "every aggregate is declined, and one tenant lacks a table", why: "204 with no body to decline", options: apart,
		build: over(newSharedHost, refusing(wire.PathAggregate, func(map[string]any) bool { return true }, http.StatusNoContent))},
	{name: "joins are refused by the names of both tables", why: "a table that nobody has is refused with the same words",
		options: apart,
		build: over(newSharedHost, between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			tree := parsed(*body)
			set, ok := credentialsIn(*body)
			if !ok || known(set) < 0 || !mayAsk(r) {
				return false
			}
			for _, hop := range listOf(tree, "joins") {
				text := fmt.Sprintf("no foreign key leads from %v to %v", hop["fromTable"], hop["toTable"])
				refuses(w, http.StatusUnprocessableEntity, "unsupported", text)
				return true
			}
			return false
		}))},
	{name: "a refusal proposes a column of the customer's own", why: "a table of the other has its name", options: apart,
		build: over(func() http.Handler { return alsoOfGlobex("city") }, proposing("city"))},
	{name: "a refusal has a word that is a table of the other", why: "it stands in every refusal", options: apart,
		build: over(func() http.Handler { return alsoOfGlobex("table") }, answers(func(body map[string]any, status int) (any, int) {
			if status == http.StatusNotFound {
				body["error"].(map[string]any)["message"] = "there is no table of that name"
			}
			return body, status
		}, wire.PathCount))},
	{name: "refusals with a number of their own", why: "a message is for people", options: apart, build: over(newSharedHost, withNumbers)},
	{name: "later pages are kept by the request and its credentials", why: "nothing of it reaches another credential set",
		options: apart,
		build: over(newSharedHost, keepingPages(func(map[string]any) bool { return true },
			func(r *http.Request, body map[string]any) string {
				return fmt.Sprint(body["credentials"]) + byRequest(r, body)
			}))},
	{name: "blanks around a password are removed", why: "they are pasted with it", options: apart,
		build: picking(func(_ *http.Request, set map[string]string) int {
			own := maps.Clone(set)
			if own["password"] = strings.TrimSpace(own["password"]); own["password"] == "" {
				return -1
			}
			return known(own)
		})},
	{name: "sizes that are estimates", why: "exact is false when the source estimates", options: apart,
		build: over(newSharedHost, ok(func(body map[string]any) {
			body["size"] = map[string]any{"rows": 1000, "exact": false}
		}, wire.PathSize))},
}

// withNumbers gives each refusal of what is unknown a number of its own.
func withNumbers(h http.Handler) http.Handler {
	var n atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded(w, r, h, func(rec *httptest.ResponseRecorder) {
			if rec.Code == http.StatusNotFound || rec.Code == http.StatusUnprocessableEntity {
				tree := parsed(rec.Body.Bytes())
				e := tree["error"].(map[string]any)
				e["message"] = fmt.Sprintf("%v (request %d)", e["message"], n.Add(1))
				rec.Body.Reset()
				_, _ = rec.Body.Write(marshalled(tree))
			}
		})
	})
}

// alsoOfGlobex returns a host whose second customer has one table more.
func alsoOfGlobex(name string) http.Handler {
	tables := hostTables()
	tables[1] = append([]memsource.Table{hostTable(name, "globex", 5)}, tables[1]...)
	return sharedHostOf(hostDefinition, tables)
}

// TestUnusualTenants grades every unusual multi-tenant connector with the whole
// program, with wrong credentials and without.
func TestUnusualTenants(t *testing.T) {
	t.Parallel()
	for i, u := range unusualTenants {
		if !testrun.Runs(i, 12) {
			continue
		}
		for _, wrong := range []bool{false, true} {
			t.Run(u.name, func(t *testing.T) {
				t.Parallel()
				var g grading
				u.options(&g)
				g.WrongCredentials, g.Requests, g.Alike = wrong, testrun.Budget(300), u.alike
				r := grade(t, u.build(), g)
				for _, o := range r.Failures() {
					t.Errorf("%s: but %s %s: %s\nexpected %s\nreceived %s\n%+v",
						u.why, o.ID, o.Title, o.Detail, o.Expected, o.Received, o.Request)
				}
				require.Equal(t, check.ExitPass, r.Exit(), "%v", r.Err())
				for _, id := range []string{"T2", "T3"} {
					want := conformance.Pass
					if u.alike {
						want = conformance.Skip
					}
					require.Equal(t, want, r.Outcome(id).Verdict, "%s: %s", id, r.Outcome(id).Detail)
				}
			})
		}
	}
}

// TestTablesNamedLikeARefusal requires that no table's name makes a fixed 401 a leak.
func TestTablesNamedLikeARefusal(t *testing.T) {
	for _, names := range [][]string{{"error"}, {"t"}, {"unauthorized"}, {"code"}, {"message", "error", "t", "token"}} {
		var tables []memsource.Table
		for i, name := range names {
			tables = append(tables, hostTable(name, "acme", 3+i))
		}
		h := serve(connector.Definition{}, source(tables...), nil)
		r := grade(t, h, grading{Options: conformance.Options{Mode: conformance.ModeLive, Match: `^P1\.`}})
		require.Equal(t, check.ExitPass, r.Exit(), "%v: %v", names, r.Err())
	}
}
