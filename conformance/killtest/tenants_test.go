package killtest

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTenantOfTheConnection requires that a connector is found which takes all that
// comes over one connection for the tenant that came first.
func TestTenantOfTheConnection(t *testing.T) {
	t.Parallel()
	for i, path := range []string{wire.PathQuery, wire.PathCount, wire.PathCardinality} {
		if !testrun.Runs(i, 3) {
			continue
		}
		var first sync.Map
		h := picking(func(r *http.Request, set map[string]string) int {
			if known(set) < 0 {
				return -1
			}
			tenant, _ := first.LoadOrStore(r.RemoteAddr, known(set))
			if r.URL.Path == path {
				return tenant.(int)
			}
			return known(set)
		})()
		gradeOverTCP(t, h, with(apart, matching("^T2$"))).has(t, conformance.Fail, "T2")
	}
}

// TestOnlyOwnCredentials requires that hardly anything but parts of a tenant's own credentials
// is sent unless the run may send wrong ones, and no two wrong ones in a row.
func TestOnlyOwnCredentials(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, allowed := range []bool{false, true} {
		var mu sync.Mutex
		strange, row, longest := 0, 0, 0
		f := newSharedHost()
		h := between(func(_ http.ResponseWriter, _ *http.Request, body *[]byte) bool {
			set, ok := credentialsIn(*body)
			own := slices.ContainsFunc(hostSets, func(own map[string]string) bool {
				for key, value := range set {
					if own[key] != value && key != "key" {
						return false
					}
				}
				return true
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case !own:
				strange++
				row++
				longest = max(longest, row)
			case ok && known(set) >= 0:
				row = 0
			}
			return false
		})(f)
		g := with(apart)
		g.WrongCredentials = allowed
		r := grade(t, h, g)
		require.Equal(t, check.ExitPass, r.Exit(), "%v", r.Err())
		require.Positive(t, strange)
		if allowed {
			require.LessOrEqual(t, strange, 100)
		} else {
			require.LessOrEqual(t, strange, 5)
			require.Equal(t, 1, longest)
		}
	}
}

// TestTenantsOnABudget requires that every check about tenants judges something with few requests.
func TestTenantsOnABudget(t *testing.T) {
	t.Parallel()
	r := grade(t, newSharedHost(), with(wrongly, atMost(600)))
	for _, id := range []string{"P1.1", "P1.1b", "P1.2a", "P1.2b", "P1.3", "T1", "T2", "T3", "T4", "T5", "T6", "T7"} {
		o := r.Outcome(id)
		require.Equal(t, conformance.Pass, o.Verdict, "%s: %s", id, o.Detail)
		require.Positive(t, o.Cases, id)
	}
	t.Log(r.Coverage().Requests, "requests")
}

// TestWhoseAnswer requires that T8 says whose answer it was given, or that it has nothing to ask of accounts without a table in
// common; then it does not count as left out.
func TestWhoseAnswer(t *testing.T) {
	t.Parallel()
	g := with(apart, matching("^(L4|T8)$"))
	own := [2][]memsource.Table{{hostTable("acme_sites", "acme", 9)}, {hostTable("globex_depots", "globex", 7)}}
	o := grade(t, sharedHostOf(hostDefinition, own), g).Outcome("T8")
	require.Equal(t, conformance.NoData, o.Reason, o.Detail)
	o = grade(t, lastCardinalities(newSharedHost()), g).Outcome("T8")
	require.Contains(t, o.Detail, "what the other account is answered")
}

// TestSilenceIsAwaitedOnce requires that a host which never answers a wrong token does not cost a wait for each of them.
func TestSilenceIsAwaitedOnce(t *testing.T) {
	t.Parallel()
	h := between(func(_ http.ResponseWriter, r *http.Request, _ *[]byte) bool {
		if r.Method == http.MethodPost && r.Header.Get("Authorization") != "Bearer "+testToken {
			<-r.Context().Done()
			return true
		}
		return false
	})(newSharedHost())
	r := grade(t, h, with(apart, matching(`^P1\.`)))
	r.has(t, conformance.Fail, "P1.1")
	require.Less(t, r.Duration, 90*time.Second)
}

// TestTenantsWhoseDataMove requires that two users of one company, whose data change while they are read, fail nothing.
func TestTenantsWhoseDataMove(t *testing.T) {
	t.Parallel()
	for i, every := range []int64{3, 1, 5, 13} {
		if !testrun.Runs(i, 4) {
			continue
		}
		same := moving(hostDefinition, every)
		f := newSharedHost()
		f.handlers = [2]http.Handler{same, same}
		grade(t, f, with(wrongly, matching(`^(T|A\.3[12])`))).nothingFound(t, fmt.Sprint("every ", every))
	}
}

// TestLostRowsAreNoLeak grades hosts whose reads without a limit lose rows. What compares with whole reads is then
// blocked by L11, so that no leak is reported where there is none; a leak beside it still is.
func TestLostRowsAreNoLeak(t *testing.T) {
	t.Parallel()
	cut := bodies(func(body map[string]any) {
		if integer(body, "limit") == 0 {
			body["limit"] = 600
		}
	}, wire.PathQuery)
	for _, c := range []struct {
		name  string
		outer layer
		t2    conformance.Verdict
	}{
		{"rows are lost", func(h http.Handler) http.Handler { return h }, conformance.Skip},
		{"rows are lost, and kept for the other tenant", keeping(wire.PathQuery, byRequest), conformance.Fail},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables := [2][]memsource.Table{{hostTable("parts", "acme", 612)}, {hostTable("parts", "globex", 717)}}
			for i := range tables {
				tables[i][0].RowCount = nil
			}
			r := grade(t, c.outer(cut(sharedHostOf(hostDefinition, tables))), with(apart, matching(`^(L11|T2)$`)))
			r.has(t, conformance.Fail, "L11")
			r.has(t, c.t2, "T2")
			if c.t2 == conformance.Skip {
				require.Equal(t, "L11", r.blockedBy()["T2"])
			}
		})
	}
}

// TestRefusedForGood grades a host that mixes up its customers, and refuses all requests of one after so many: what was
// wrong is asked again of tables that cannot be read any more. Whatever the verdict, the program itself must not fail.
func TestRefusedForGood(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	kept := keepingWhere(wire.PathQuery, func(body map[string]any) bool { return strings.Contains(fmt.Sprint(body["and"]), "op:eq") })
	for most := int32(20); most < 120; most += 3 {
		t.Run(fmt.Sprint("after ", most), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			r := grade(t, over(twoCustomers, kept, refusesWhere(http.StatusInternalServerError, "internal", "internal error",
				func(_ *http.Request, body []byte) bool {
					set, ok := credentialsIn(body)
					return ok && known(set) == 1 && asked.Add(1) > most
				}))(), with(apart, matching("^T2$")))
			require.NotEmpty(t, r.Outcomes)
		})
	}
}

// TestWrongRowsAreNoLeak grades hosts that answer wrongly and no tenant with the other's rows: the check of the fault tells
// it, and none of tenants.
func TestWrongRowsAreNoLeak(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	nulls := bodies(func(body map[string]any) {
		if len(listOf(body, "joins")) > 0 {
			return // M21 is not what this is about
		}
		filters := body["and"].([]any)
		for _, f := range filters {
			if f := f.(map[string]any); f["op"] == "nin" {
				filters = append(filters, map[string]any{"field": f["field"], "op": "notnull"})
			}
		}
		body["and"] = filters
	}, wire.PathQuery, wire.PathCount, wire.PathAggregate)
	hop := forSecond(wire.PathQuery, asks("joins>0"),
		func(body map[string]any) {
			eachOf(where(asks("field=city"), sets("field", "id")), "fields")(listOf(body, "joins")[0])
		})
	rate := forSecond(wire.PathLinkHitRate, func(body map[string]any) bool { return body["fromTable"] != body["toTable"] },
		sets("fromColumn", "city"))
	joined := func(t *memsource.Table) {
		if t.Name == "invoices" {
			t.ForeignKeys = links("id parts.id")
		}
	}
	for _, c := range []struct {
		name, kills string
		wrong       layer
		change      func(*memsource.Table)
	}{
		{"nin drops nulls, where the first text has some", "L2", nulls, func(t *memsource.Table) {
			t.Fields[0], t.Fields[2] = t.Fields[2], t.Fields[0]
			for _, row := range t.Rows {
				row[0], row[2] = row[2], row[0]
			}
		}},
		{"the second tenant's joins answer another column", "M21", hop, joined},
		{"the second tenant's links go from another column", "L9", rate, joined},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			host := hostEach(func(_ int, table *memsource.Table) { c.change(table) })
			r := grade(t, c.wrong(host()), with(apart, matching(`^(L2|L9|M21|T.*)$`)))
			r.has(t, conformance.Fail, c.kills)
			for _, o := range r.Failures() {
				require.Equal(t, c.kills, o.ID, o.Detail)
			}
		})
	}
}

// unusualTenants are connectors whose tenants or credentials are odd, and that break
// no rule. None may fail anything, whether or not wrong credentials are sent.
var unusualTenants = []struct {
	name, why string
	options   func(*grading)
	build     func() http.Handler
	alike     bool // nothing tells the tenants apart
}{
	{name: "two customers", why: "tenants that are apart", options: apart, build: twoCustomers},
	{name: "two users of one company", why: "two sets of credentials may give access to the same data", options: apart, alike: true,
		build: hostWith(func(tables *[2][]memsource.Table) { tables[1] = tables[0] })},
	{name: "a shared reference table and nothing else in common", why: "what belongs to the host is the same for everybody",
		options: apart,
		build:   hostWith(func(tables *[2][]memsource.Table) { tables[0], tables[1] = tables[0][2:], tables[1][2:] })},
	{name: "tenants without a table in common", why: "each tenant has data of its own", options: apart,
		build: hostWith(func(tables *[2][]memsource.Table) { tables[0], tables[1] = tables[0][3:], tables[1][3:] })},
	{name: "tables of one name and other columns", why: "each tenant has data of its own", options: apart,
		build: hostWith(func(tables *[2][]memsource.Table) {
			parts := &tables[1][0]
			colour := wire.Field{Name: "colour", SourceColumn: "colour", Type: wire.TypeString, Nullable: true}
			parts.Fields = append(parts.Fields[:2:2], colour, parts.Fields[3])
		})},
	{name: "the same number of rows in every table", why: "tables of one size are not one table", options: apart,
		build: hostWith(func(tables *[2][]memsource.Table) {
			tables[1][0], tables[1][1] = hostTable("parts", "globex", 12), hostTable("invoices", "globex", 9)
		})},
	{name: "no credentials at all", why: "credentialSchema is empty when no per-tenant secret is needed", options: alone, alike: true,
		build: openHost()},
	{name: "optional credentials alone", why: "a blank optional field is missing", options: alone, alike: true, build: openHost(
		wire.CredentialField{Key: "tenant", Label: "Tenant", Type: wire.CredentialText, Optional: true},
		wire.CredentialField{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true})},
	{name: "an optional credential that the source misses", why: "only an internal error says that nobody thought of it",
		options: withRegion, alike: true,
		build: regional(http.StatusBadRequest, "check_failed", "Type your region.")},
	{name: "a secret that is enough", why: "a name beside a key may mean nothing to the source", options: apart,
		build: picking(func(_ *http.Request, set map[string]string) int {
			if set["tenant"] == "" {
				return -1
			}
			return ownerOf(set)
		})},
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
	}, build: branched(func(_ *http.Request, set map[string]string) int { return ownerOf(set) })},
	{name: "a required name of no meaning", why: "a field may be required that the data do not depend on", options: alone, alike: true,
		build: openHost(wire.CredentialField{Key: "tenant", Label: "Your name", Type: wire.CredentialText},
			wire.CredentialField{Key: "password", Label: "Not needed", Type: wire.CredentialPassword, Optional: true})},
	{name: "missing credentials count as bad requests everywhere", why: "a missing key may count as a body that does not parse",
		options: apart,
		build: over(twoCustomers, refusesWhere(http.StatusBadRequest, "bad_request", "the body does not parse",
			func(r *http.Request, body []byte) bool {
				set, ok := credentialsIn(body)
				return ok && mayAsk(r) && len(set) != 2
			}))},
	{
		name: "tables of 6,000 rows and of unknown size", why: "rowCount is optional",
		options: func(g *grading) { apart(g); g.Match = `^(P0|P1|T|A\.3)` }, // the laws read large tables elsewhere
		build: hostWith(func(tables *[2][]memsource.Table) {
			tables[0], tables[1] = []memsource.Table{hostTable("parts", "acme", 6000)}, []memsource.Table{hostTable("parts", "globex", 6000)}
			tables[0][0].RowCount, tables[1][0].RowCount = nil, nil
		}),
	},
	{name: "two users of a company with 6,000 rows", why: "two sets of credentials may give access to the same data", alike: true,
		options: func(g *grading) { apart(g); g.Match = `^(P0|P1|T|A\.3)` },
		build: hostWith(func(tables *[2][]memsource.Table) {
			large := []memsource.Table{hostTable("parts", "acme", 6000)}
			tables[0], tables[1] = large, large
		})},
	{name: "every aggregate is declined, and one tenant lacks a table", why: "204 with no body to decline", options: apart,
		build: over(twoCustomers, refusing(wire.PathAggregate, asks(), http.StatusNoContent))},
	{name: "joins are refused by the names of both tables", why: "a table that nobody has is refused with the same words",
		options: apart,
		build: over(twoCustomers, ofCustomers("", func(w http.ResponseWriter, _ *http.Request, body map[string]any, _ int) bool {
			for _, hop := range listOf(body, "joins") {
				text := fmt.Sprintf("no foreign key leads from %v to %v", hop["fromTable"], hop["toTable"])
				refuses(w, http.StatusUnprocessableEntity, "unsupported", text)
				return true
			}
			return false
		}))},
	{name: "a refusal proposes a column of the customer's own", why: "a table of the other has its name", options: apart,
		build: over(alsoOfGlobex("city"), proposing("city"))},
	{name: "a refusal has a word that is a table of the other", why: "it stands in every refusal", options: apart,
		build: over(alsoOfGlobex("table"), answers(func(body map[string]any, status int) (any, int) {
			if status == http.StatusNotFound {
				body["error"].(map[string]any)["message"] = "there is no table of that name"
			}
			return body, status
		}, wire.PathCount))},
	{name: "refusals with a number of their own", why: "a message is for people", options: apart, build: over(twoCustomers, withNumbers)},
	{name: "later pages are kept by the request and its credentials", why: "nothing of it reaches another credential set",
		options: apart,
		build: over(twoCustomers, keepingPages(asks(),
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
		build: over(twoCustomers, ok(func(body map[string]any) {
			body["size"] = map[string]any{"rows": 1000, "exact": false}
		}, wire.PathSize))},
}

// withNumbers gives each refusal of what is unknown a number of its own.
func withNumbers(h http.Handler) http.Handler {
	var n atomic.Int32
	return answered(func(_ *http.Request, rec *httptest.ResponseRecorder) {
		if rec.Code == http.StatusNotFound || rec.Code == http.StatusUnprocessableEntity {
			tree := parsed(rec.Body.Bytes())
			e := tree["error"].(map[string]any)
			e["message"] = fmt.Sprintf("%v (request %d)", e["message"], n.Add(1))
			rec.Body = bytes.NewBuffer(marshalled(tree))
		}
	}, routePaths...)(h)
}

// alsoOfGlobex returns a host whose second customer has one table more.
func alsoOfGlobex(name string) func() http.Handler {
	return hostWith(func(tables *[2][]memsource.Table) {
		tables[1] = append([]memsource.Table{hostTable(name, "globex", 5)}, tables[1]...)
	})
}

// TestUnusualTenants grades every unusual multi-tenant connector with the whole program, with wrong credentials and without.
func TestUnusualTenants(t *testing.T) {
	t.Parallel()
	for i, u := range unusualTenants {
		if !testrun.Runs(i, 12) {
			continue
		}
		for _, wrong := range []bool{false, true} {
			t.Run(u.name, func(t *testing.T) {
				t.Parallel()
				g := with(u.options)
				g.WrongCredentials, g.Requests, g.Alike = wrong, testrun.Budget(300), u.alike
				r := grade(t, u.build(), g)
				r.nothingFound(t, u.why)
				require.Equal(t, check.ExitPass, r.Exit(), "%v", r.Err())
				r.has(t, map[bool]conformance.Verdict{false: conformance.Pass, true: conformance.Skip}[u.alike], "T2", "T3")
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
		r := grade(t, plain(tables...), ofLive(`^P1\.`))
		require.Equal(t, check.ExitPass, r.Exit(), "%v: %v", names, r.Err())
	}
}
