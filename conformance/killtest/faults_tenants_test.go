package killtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shared returns a fault of a host of two customers, each of whom asks.
func shared(name, why, kill string, host func() http.Handler, layers ...layer) fault {
	return broken(name, why, kill, over(host, layers...)).graded(apart)
}

// tenantFaults are connectors that mix up two tenants whatever is asked.
var tenantFaults = []fault{
	shared("any tenant reads any table", "a table of one tenant answers unknown_entity for another that lacks it", "T1", twoCustomers,
		diverted(hostWith(func(tables *[2][]memsource.Table) {
			tables[0], tables[1] = append(tables[0], tables[1][3]), append(tables[1], tables[0][3])
		}), wire.PathQuery, asks("table=acme_sites|globex_depots"))),
	ofTheLast("metadata of the last discovery", nothingKept, wire.PathDiscovery, wire.PathQuery, wire.PathCount, wire.PathSize).
		behind("P3.1c", "its tables are unknown once the other account has been described"),
	shared("sizes kept by the name of the table", nothingKept, "T2", twoCustomers, keeping(wire.PathSize, byTable)),
	shared("discovery remembers every table it has seen", ofAnother, "T2", twoCustomers, func(h http.Handler) http.Handler {
		var mu sync.Mutex
		var seen []map[string]any
		return ok(func(body map[string]any) {
			mu.Lock()
			defer mu.Unlock()
			for _, t := range listOf(body, "tables") {
				if !slices.ContainsFunc(seen, asks("name="+textOf(t["name"]))) {
					seen = append(seen, t)
				}
			}
			body["tables"] = slices.Clone(seen)
		}, wire.PathDiscovery)(h)
	}),
	shared("a shared variable for the credentials", servedToNobodyElse, "T3", func() http.Handler {
		var current atomic.Int32
		return picking(func(r *http.Request, set map[string]string) int {
			tenant := known(set)
			if tenant < 0 || r.URL.Path == wire.PathCheck || r.URL.Path == wire.PathDiscovery {
				return tenant
			}
			current.Store(int32(tenant))
			time.Sleep(time.Millisecond) // what another request may use
			return int(current.Load())
		})()
	}),
	shared("whoever is asked for beside another gets an error", servedToNobodyElse, "T3", twoCustomers, func(h http.Handler) http.Handler {
		var current atomic.Int32
		return refusesWhere(500, "internal", terms.InternalMessage, func(_ *http.Request, body []byte) bool {
			set, _ := credentialsIn(body)
			tenant := int32(known(set))
			current.Store(tenant)
			time.Sleep(time.Millisecond) // a table of the other's schema is looked for
			return current.Load() != tenant && tenant >= 0
		})(h)
	}),
}

// The sentences that these faults break.
const (
	nothingKept        = "a connector keeps nothing about a tenant between calls"
	servedToNobodyElse = "data of one credential set must never be served to a request with another"
	ofAnother          = "metadata of one credential set must never be served to a request with another"
	credentialsTravel  = "credentials travel in the body of every authenticated request"
)

func keptBy(what, path string, key func(*http.Request, map[string]any) string) fault {
	return shared(what, nothingKept, "T2", twoCustomers, keeping(path, key))
}

func largeHost() *sharedHost {
	tables := [2][]memsource.Table{{hostTable("parts", "acme", 6000)}, {hostTable("parts", "globex", 7000)}}
	return sharedHostOf(hostDefinition, tables)
}

// hostFaults are connectors that mix up their tenants on one route.
var hostFaults = slices.Concat([]fault{
	keptBy("rows kept by the whole request without its credentials", wire.PathQuery,
		func(_ *http.Request, body map[string]any) string { return without(body, "credentials") }),
	keptBy("rows kept by the request without its timeouts", wire.PathQuery, byRequest),
	keptBy("rows kept by table and filters", wire.PathQuery, func(_ *http.Request, body map[string]any) string {
		return fmt.Sprint(body["table"], body["and"], body["or"])
	}).behind("P3.3: timeoutMs", "the answer to a request is kept for that with another timeoutMs"),
	keptBy("rows kept by the name of the table", wire.PathQuery, byTable).
		behind("P3.3: the shape of a filter", "the answer to a request is kept for a malformed one"),
	keptBy("counts kept by the request", wire.PathCount, byRequest),
	keptBy("counts kept by the name of the table", wire.PathCount, byTable).
		behind("L3", "the count of the whole table is kept for its filters"),
	keptBy("aggregates kept by the request", wire.PathAggregate, byRequest),
	keptBy("sizes kept by the request", wire.PathSize, byRequest),
	keptBy("cardinalities kept by the request", wire.PathCardinality, byRequest),
	keptBy("cardinalities kept by the name of the table", wire.PathCardinality, byTable),
	keptBy("link rates kept by the request", wire.PathLinkHitRate, byRequest),
	keptBy("discovery kept for everybody", wire.PathDiscovery, func(*http.Request, map[string]any) string { return "all" }).
		behind("P0.6: /discovery", "it is kept for a request without credentials, too"),
	broken("link rates of a smaller table kept by the request", nothingKept, "L9", over(
		hostWith(func(tables *[2][]memsource.Table) { linkBothWays(tables[0]); linkBothWays(tables[1]) }),
		keepingWhere(wire.PathLinkHitRate, asks("fromTable=invoices", "toTable=parts")))).graded(apart),
	shared("rows of a large table kept by the request", nothingKept, "T2", over(largeHost), keeping(wire.PathQuery, byRequest)),
	broken("large tables need no password", servedToNobodyElse, "T4", func() http.Handler {
		f := largeHost()
		f.pick = func(r *http.Request, set map[string]string) int {
			if r.URL.Path == wire.PathQuery && set["tenant"] == "globex" {
				return 1
			}
			return known(set)
		}
		return f
	}).graded(apart),
	ofTheLast("the tenant of the last check", credentialsTravel, wire.PathCheck, wire.PathQuery).behind("P3.1c", "the other tenant lacks a table"),
	ofTheLast("counts for the tenant of the last discovery", credentialsTravel, wire.PathDiscovery, wire.PathCount),
}, impostorFaults, tokenFaults, mentionFaults)

// ofTheLast returns a connector that answers some routes for the tenant of the last request to another.
func ofTheLast(name, why, noted string, answered ...string) fault {
	return broken(name, why, "T2", func() http.Handler {
		var last atomic.Int32
		return picking(func(r *http.Request, set map[string]string) int {
			tenant := known(set)
			if r.URL.Path == noted && tenant >= 0 {
				last.Store(int32(tenant))
			}
			if slices.Contains(answered, r.URL.Path) && tenant >= 0 {
				return int(last.Load())
			}
			return tenant
		})()
	}).graded(apart)
}

// credentialSet is what a request has of credentials, by their keys.
type credentialSet = map[string]string

// pickingFor picks a customer of its own for some credentials on a route, and lets in whoever is known elsewhere.
func pickingFor(path string, holds func(credentialSet) bool, pick func(credentialSet) int) func() http.Handler {
	return picking(func(r *http.Request, s map[string]string) int {
		if r.URL.Path == path && holds(s) {
			return pick(s)
		}
		return known(s)
	})
}

func remembering(path string, accept func(credentialSet) bool) func() http.Handler {
	return func() http.Handler {
		var last atomic.Int32
		return picking(func(r *http.Request, s map[string]string) int {
			if tenant := known(s); tenant >= 0 {
				last.Store(int32(tenant))
				return tenant
			}
			if r.URL.Path == path && accept(s) {
				return int(last.Load())
			}
			return -1
		})()
	}
}

func noCredentials(s credentialSet) bool { return len(s) == 0 }

func firstCustomer(credentialSet) int { return 0 }

// impostorFaults are connectors that serve credentials that are nobody's.
var impostorFaults = []fault{
	broken("a default tenant on count", servedToNobodyElse, "T4", pickingFor(wire.PathCount, noCredentials, firstCustomer)).graded(apart),
	broken("a default tenant on query, with one tenant", servedToNobodyElse, "T4",
		pickingFor(wire.PathQuery, noCredentials, firstCustomer)).graded(alone),
	broken("the last good credentials in the place of none", nothingKept, "T4", remembering(wire.PathCardinality, noCredentials)).graded(apart),
	broken("no password needed for sizes", servedToNobodyElse, "T4",
		pickingFor(wire.PathSize, func(s credentialSet) bool { return s["password"] == "" }, tenantNamed)).graded(alone),
	broken("the last good credentials in the place of wrong ones", nothingKept, "T5",
		remembering(wire.PathQuery, func(credentialSet) bool { return true })).graded(wrongly).behind("T4", "none at all are wrong ones, too"),
	broken("a password that only the check looks at", servedToNobodyElse, "T5, T7",
		picking(func(r *http.Request, s map[string]string) int {
			if r.URL.Path != wire.PathCheck && s["password"] != "" {
				return tenantNamed(s)
			}
			return known(s)
		})).graded(wrongly),
	leniently("a password compared by its first eight characters", func(own, given string) bool {
		return len(given) >= 8 && given[:8] == own[:8]
	}).behind("T7", "a mistyped password begins as the right one"),
	leniently("a password compared by its end", func(own, given string) bool { return strings.HasSuffix(given, own[4:]) }),
	leniently("a prefix of the password is enough", func(own, given string) bool { return given != "" && strings.HasPrefix(own, given) }),
	leniently("an end of the password is enough", func(own, given string) bool { return given != "" && strings.HasSuffix(own, given) }),
	leniently("whatever begins with the password", func(own, given string) bool { return strings.HasPrefix(given, own) }),
	leniently("whatever ends with the password", func(own, given string) bool { return strings.HasSuffix(given, own) }),
	leniently("a password in any case", strings.EqualFold),
	leniently("a password padded with blanks", func(own, given string) bool { return strings.TrimRight(given, " ") == own }),
	broken("rows kept by the tenant's name", servedToNobodyElse, "T5", over(twoCustomers, keeping(wire.PathQuery,
		func(r *http.Request, body map[string]any) string {
			set, _ := body["credentials"].(map[string]any)
			return fmt.Sprint(set["tenant"]) + byRequest(r, body)
		}))).graded(wrongly).behind("T4", "credentials without a key have the name alone"),
	broken("the tenant's name is a folder", servedToNobodyElse, "T5", picking(func(_ *http.Request, s map[string]string) int {
		cleaned := maps.Clone(s)
		cleaned["tenant"] = path.Clean(s["tenant"])
		return known(cleaned)
	})).graded(wrongly),
	broken("the password is that of the first part of a path", servedToNobodyElse, "T5", picking(func(_ *http.Request, s credentialSet) int {
		owner, _, _ := strings.Cut(s["tenant"], "/")
		if known(credentialSet{"tenant": owner, "password": s["password"]}) < 0 {
			return -1
		}
		return tenantNamed(credentialSet{"tenant": path.Clean(s["tenant"])})
	})).graded(wrongly),
	broken("a check that reads an optional credential unasked", "a blank optional field is missing", "P1.7c",
		regional(http.StatusInternalServerError, "internal", "internal error")).graded(withRegion),
	broken("a check that takes a missing password for an internal error", "a rejected credential set gives 400 check_failed", "P1.7",
		over(twoCustomers, refusesWhere(500, "internal", "internal error", func(r *http.Request, body []byte) bool {
			s, ok := credentialsIn(body)
			return ok && r.URL.Path == wire.PathCheck && s["password"] == ""
		}))).graded(apart),
}

// leniently returns a connector that compares the passwords of its tenants in a way of its own.
func leniently(name string, equal func(own, given string) bool) fault {
	return broken(name, servedToNobodyElse, "T5", picking(func(_ *http.Request, set map[string]string) int {
		if tenant := tenantNamed(set); tenant >= 0 && equal(hostSets[tenant]["password"], set["password"]) {
			return tenant
		}
		return -1
	})).graded(wrongly)
}

func lenient(name, id, route string, in func(presented string) bool) fault {
	return broken(name, "a wrong bearer gives 401", id, lets(func(r *http.Request, presented string) bool {
		return r.URL.Path == route && presented != "" && r.URL.RawQuery == "" && in(presented)
	}))
}

func decodedBasic(presented string) string { // "user:password"
	encoded, _ := strings.CutPrefix(presented, "Basic ")
	text, _ := base64.StdEncoding.DecodeString(encoded)
	return string(text)
}

// tokenFaults are connectors that take another token for the right one, on one route.
var tokenFaults = []fault{
	lenient("the token as a password", "P1.2b", wire.PathDiscovery,
		func(presented string) bool { return strings.HasSuffix(decodedBasic(presented), ":"+testToken) }),
	lenient("the token as a user", "P1.2b", wire.PathSize,
		func(presented string) bool { return strings.HasPrefix(decodedBasic(presented), testToken+":") }),
	lenient("blanks in the token are dropped", "P1.2b", wire.PathCount, func(presented string) bool {
		return strings.ReplaceAll(strings.TrimPrefix(presented, "Bearer"), " ", "") == testToken
	}),
	lenient("any number of Bearers", "P1.2b", wire.PathQuery, func(presented string) bool {
		return strings.TrimSpace(strings.ReplaceAll(presented, "Bearer", "")) == testToken
	}),
	lenient("the second word is the token", "P1.2b", wire.PathAggregate, func(presented string) bool {
		words := strings.Fields(presented)
		return len(words) > 1 && words[1] == testToken
	}),
	lenient("the token anywhere in the header", "P1.2b", wire.PathCheck,
		func(presented string) bool { return strings.Contains(presented, testToken) }),
	lenient("a token that was never configured", "P1.2a", wire.PathLinkHitRate,
		func(presented string) bool { return presented == "Bearer undefined" }),
	broken("a body that does not parse is refused before the token is missed", "a missing bearer gives 401", "P1.1b",
		over(usual, refusesWhere(http.StatusBadRequest, "bad_request", "the body does not parse", func(r *http.Request, body []byte) bool {
			counts := r.URL.Path == wire.PathCount && r.Header.Get("Authorization") == ""
			return counts && len(body) > 0 && parsed(body)["table"] == nil
		}))),
}

var otherCity = ofField("invoices", "city", sets("samples", []string{"globex city 1"}))

// mentionFaults are connectors that tell one tenant of another, and others that tell too much or too little.
var mentionFaults = []fault{
	shared("samples of another tenant, from one of three processes", ofAnother, "T6", twoCustomers, func(h http.Handler) http.Handler {
		var discoveries atomic.Int32
		return edits(func(body map[string]any) {
			if discoveries.Add(1)%3 == 0 {
				otherCity(body)
			}
		}, wire.PathDiscovery)(h)
	}),
	broken("a check that quotes the wrong password", "the value of a password never appears in an answer", "P1.7b",
		over(twoCustomers, between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			set, ok := credentialsIn(*body)
			wrong := ok && r.URL.Path == wire.PathCheck && known(set) < 0
			if wrong {
				refuses(w, http.StatusBadRequest, "check_failed", "the password "+set["password"]+" is wrong")
			}
			return wrong
		}))).graded(wrongly).accepted("what a message says is for the person who reads it"),
	shared("a 404 that lists the tables of everybody", ofAnother, "T6", twoCustomers, ofStatus(404, func(body map[string]any) {
		body["error"].(map[string]any)["message"] = "no such table; there are parts, invoices, acme_sites, globex_depots"
	}, wire.PathSize)),
	shared("a warning about the tables of another", ofAnother, "T6", twoCustomers, ok(
		sets("warnings", []string{"globex_depots was skipped: its rows could not be read"}), wire.PathDiscovery)),
	shared("samples of another tenant", ofAnother, "T6", twoCustomers, edits(otherCity, wire.PathDiscovery)),
	shared("samples of instants of another tenant", ofAnother, "T6", twoCustomers,
		described("invoices", "at", "samples", []string{hostInstant("globex", 1).String()})),
	shared("a foreign key to a table of another", ofAnother, "A.32", twoCustomers, edits(ofTable("parts", sets("foreignKeys",
		[]any{map[string]any{"field": "city", "targetTable": "globex_depots", "targetField": "id"}})), wire.PathDiscovery)).
		behind("P3.1b", "this account's discovery does not list the table"),
	broken("missing credentials are a wrong token", "never 401, which would read as a wrong token", "A.31",
		over(twoCustomers, refusesWhere(http.StatusUnauthorized, "unauthorized", "the credentials are missing",
			func(r *http.Request, body []byte) bool {
				set, ok := credentialsIn(body)
				return ok && r.URL.Path == wire.PathDiscovery && len(set) == 0
			}))).graded(alone),
	broken("a token of nine characters", "the token is at least 32 characters", "A.30",
		lets(func(_ *http.Request, presented string) bool { return presented == "Bearer nine-long" })).
		graded(func(g *grading) { g.token = "nine-long" }),
}

// withRegion gives the credentials of the first customer, and an optional region.
func withRegion(g *grading) {
	alone(g)
	set := maps.Clone(hostSets[0])
	set["region"] = "north"
	g.credentials = []map[string]string{set}
}

// regional returns a sharedHost whose form has an optional region, without which /check answers so.
func regional(status int, code, message string) func() http.Handler {
	region := wire.CredentialField{Key: "region", Label: "Region", Type: wire.CredentialText, Optional: true}
	return over(formed(func(_ *http.Request, set map[string]string) int {
		own := maps.Clone(set)
		delete(own, "region")
		return known(own)
	}, append(slices.Clone(hostDefinition.Credentials), region)...),
		refusesWhere(status, code, message, func(r *http.Request, body []byte) bool {
			set, ok := credentialsIn(body)
			return ok && r.URL.Path == wire.PathCheck && set["region"] == "" && known(set) >= 0
		}))
}

// Faults that show to a second account alone: it is served the first one's data for some questions, or
// its own are answered wrongly.

// archives returns the tables of both customers and a large one of each.
func archives() http.Handler {
	return hostWith(func(tables *[2][]memsource.Table) {
		tables[0] = append(tables[0], hostTable("archive", "acme", 5500))
		tables[1] = append(tables[1], hostTable("archive", "globex", 5600))
	})()
}

// forSecond returns h with the second customer's requests to a route changed, if a condition holds of them.
func forSecond(path string, holds func(body map[string]any) bool, change func(body map[string]any)) layer {
	return requests(path, where(func(body map[string]any) bool {
		set, ok := credentialsIn(marshalled(body))
		return ok && known(set) == 1 && holds(body)
	}, change))
}

func secondWrongly(name, why, kill, path string, holds func(body map[string]any) bool, change func(body map[string]any)) fault {
	return broken(name, why, kill, over(archives, forSecond(path, holds, change))).graded(apart)
}

func ofTheFirst(name, path string, holds func(body map[string]any) bool) fault {
	return secondWrongly(name, servedToNobodyElse, "T2", path, holds, sets("credentials", hostSets[0]))
}

func firstKey(holds func(key map[string]any) bool) func(body map[string]any) bool {
	return func(body map[string]any) bool {
		keys := listOf(body, "groupBy")
		return len(keys) > 0 && holds(keys[0])
	}
}

var secondFaults = []fault{
	ofTheFirst("the first account's rows of a large table", wire.PathQuery, asks("table=archive", "!sort>0")),
	ofTheFirst("the first account's count of a large table", wire.PathCount, asks("table=archive")),
	ofTheFirst("the first account's rows where they are sorted and limited", wire.PathQuery, asks("sort>0", "limit")),
	secondWrongly("bounds over the first account's rows", servedToNobodyElse, "L8", wire.PathAggregate,
		having("measures", asks("fn=min|max")), sets("credentials", hostSets[0])),
	ofTheFirst("sums over the first account's rows", wire.PathAggregate, having("measures", asks("fn=sum"))),
	ofTheFirst("periods of the first account's rows", wire.PathAggregate, firstKey(asks("grain"))),
	ofTheFirst("texts of the first account's rows as groups", wire.PathAggregate, firstKey(asks("field=city"))),
	secondWrongly("a bound is left in for the second account", "gt keeps what is greater", "L2", wire.PathQuery,
		func(body map[string]any) bool { return !asks("and>1")(body) && having("and", asks("op=gt"))(body) },
		func(body map[string]any) { listOf(body, "and")[0]["op"] = "gte" }),
	secondWrongly("the second account's rows are sorted the other way", "rows come in the order of sort", "T2", wire.PathQuery,
		asks("sort>0", "!limit"),
		func(body map[string]any) {
			key := listOf(body, "sort")[0]
			key["dir"] = map[any]string{"asc": "desc", "desc": "asc"}[key["dir"]]
		}),
}

// TestTwoAccounts requires that the verdict on a connector which was asked as two accounts says whether they could
// be told apart.
func TestTwoAccounts(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	tables := hostTables()
	toAll := picking(func(_ *http.Request, set map[string]string) int { return min(known(set), 0) })
	one := func() http.Handler { return sharedHostOf(hostDefinition, [2][]memsource.Table{tables[0], tables[0]}) }
	for _, c := range []struct {
		name, why string
		build     func() http.Handler
		alike     bool
		exit      int
		says      string
	}{
		{"one account's data for everybody", "nothing shows whose an answer is", toAll, false, check.ExitNotRun,
			"NOT GRADED FOR TENANTS: both accounts see the same rows: give two whose data differ, or the connector serves one tenant's data to all"},
		{"two users of one company", "the author has not said that it is meant", one, false, check.ExitNotRun, "NOT GRADED FOR TENANTS: "},
		{"two users of one company, as is said", "the author says that it is meant", one, true, check.ExitPass, "CONFORMANT"},
		{"two companies", "their data differ", archives, false, check.ExitPass, "CONFORMANT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := with(apart)
			g.Alike = c.alike
			r := grade(t, c.build(), g)
			require.Equal(t, c.exit, r.Exit(), "%s: %s", c.why, r.Verdict())
			require.Contains(t, r.Verdict(), c.says, c.why)
			body, err := r.JUnit()
			require.NoError(t, err)
			require.Equal(t, c.exit != check.ExitPass, strings.Contains(string(body), "<error "), "no server shows it green")
			t.Log(r.Requests, r.Verdict())
		})
	}
}
