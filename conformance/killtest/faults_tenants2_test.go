package killtest

import (
	"crypto/rand"
	"encoding/base64"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The sentences that these faults break.
const (
	nothingKept        = "a connector keeps nothing about a tenant between calls"
	servedToNobodyElse = "data of one credential set must never be served to a request with another"
	credentialsTravel  = "credentials travel in the body of every authenticated request"
)

// hostFaults returns connectors that mix up their tenants on one route.
func hostFaults() []fault {
	var list []fault
	kept := func(what, path string, key func(*http.Request, map[string]any) string) fault {
		return fault{name: what, why: nothingKept, kills: []string{"T2"}, options: apart, build: over(newSharedHost, keeping(path, key))}
	}
	list = append(list,
		kept("rows kept by the whole request without its credentials", wire.PathQuery, byBody),
		kept("rows kept by the request without its timeouts", wire.PathQuery, byRequest),
		kept("rows kept by table and filters", wire.PathQuery, byFilters).
			behind("P3.3: timeoutMs", "the answer to a request is kept for that with another timeoutMs"),
		kept("rows kept by the name of the table", wire.PathQuery, byTable).
			behind("P3.3: the shape of a filter", "the answer to a request is kept for a malformed one"),
		kept("counts kept by the request", wire.PathCount, byRequest),
		kept("counts kept by the name of the table", wire.PathCount, byTable).
			behind("L3", "the count of the whole table is kept for its filters"),
		kept("aggregates kept by the request", wire.PathAggregate, byRequest),
		kept("sizes kept by the request", wire.PathSize, byRequest),
		kept("cardinalities kept by the request", wire.PathCardinality, byRequest),
		kept("cardinalities kept by the name of the table", wire.PathCardinality, byTable),
		kept("link rates kept by the request", wire.PathLinkHitRate, byRequest),
		kept("discovery kept for everybody", wire.PathDiscovery, func(*http.Request, map[string]any) string { return "" }).
			behind("P0.6: /discovery", "it is kept for a request without credentials, too"),
	)
	linkedBothWays := func() http.Handler {
		tables := hostTables()
		for i := range tables {
			for n, to := range []string{"invoices", "parts"} { // of parts, the larger table, and of invoices
				tables[i][n].ForeignKeys = []wire.ForeignKey{{Field: "id", TargetTable: to, TargetField: "id"}}
			}
		}
		return sharedHostOf(hostDefinition, tables)
	}
	list = append(list, fault{name: "link rates of a smaller table kept by the request", why: nothingKept, kills: []string{"T2"},
		options: apart,
		build: over(linkedBothWays, keeping(wire.PathLinkHitRate, func(r *http.Request, body map[string]any) string {
			if body["fromTable"] == "invoices" && body["toTable"] == "parts" {
				return byRequest(r, body)
			}
			return rand.Text() // is not found again
		}))})
	large := func() http.Handler {
		tables := [2][]memsource.Table{{hostTable("parts", "acme", 6000)}, {hostTable("parts", "globex", 7000)}}
		return sharedHostOf(hostDefinition, tables)
	}
	list = append(list, fault{name: "rows of a large table kept by the request", why: nothingKept, kills: []string{"T2"}, options: apart,
		build: over(large, keeping(wire.PathQuery, byRequest))})
	list = append(list, fault{name: "large tables need no password", why: servedToNobodyElse, kills: []string{"T4"}, options: apart,
		build: func() http.Handler {
			f := large().(*sharedHost)
			f.pick = func(r *http.Request, set map[string]string) int {
				if r.URL.Path == wire.PathQuery && set["tenant"] == "globex" {
					return 1
				}
				return known(set)
			}
			return f
		}})
	list = append(list,
		ofTheLast("the tenant of the last check", wire.PathCheck, wire.PathQuery).behind("P3.1c", "the other tenant lacks a table"),
		ofTheLast("counts for the tenant of the last discovery", wire.PathDiscovery, wire.PathCount))
	list = append(list, impostorFaults()...)
	list = append(list, tokenFaults()...)
	list = append(list, mentionFaults()...)
	return list
}

// ofTheLast returns a connector that answers some routes for the tenant of the last request to another.
func ofTheLast(name, noted string, answered ...string) fault {
	return fault{name: name, why: credentialsTravel, kills: []string{"T2"}, options: apart, build: func() http.Handler {
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
	}}
}

// impostorFaults returns connectors that serve credentials that are nobody's.
func impostorFaults() []fault {
	remembering := func(path string, accept func(set map[string]string) bool) http.Handler {
		var last atomic.Int32
		return picking(func(r *http.Request, set map[string]string) int {
			if tenant := known(set); tenant >= 0 {
				last.Store(int32(tenant))
				return tenant
			}
			if r.URL.Path == path && accept(set) {
				return int(last.Load())
			}
			return -1
		})()
	}
	return []fault{
		{name: "a default tenant on count", why: servedToNobodyElse, kills: []string{"T4"}, options: apart,
			build: picking(func(r *http.Request, set map[string]string) int {
				if r.URL.Path == wire.PathCount && len(set) == 0 {
					return 0
				}
				return known(set)
			})},
		{name: "a default tenant on query, with one tenant", why: servedToNobodyElse, kills: []string{"T4"}, options: alone,
			build: picking(func(r *http.Request, set map[string]string) int {
				if r.URL.Path == wire.PathQuery && len(set) == 0 {
					return 0
				}
				return known(set)
			})},
		{name: "the last good credentials in the place of none", why: nothingKept, kills: []string{"T4"}, options: apart,
			build: func() http.Handler {
				return remembering(wire.PathCardinality, func(set map[string]string) bool { return len(set) == 0 })
			}},
		{name: "no password needed for sizes", why: servedToNobodyElse, kills: []string{"T4"}, options: alone,
			build: picking(func(r *http.Request, set map[string]string) int {
				if r.URL.Path == wire.PathSize && set["password"] == "" {
					return tenantNamed(set)
				}
				return known(set)
			})},
		{name: "the last good credentials in the place of wrong ones", why: nothingKept, kills: []string{"T5"},
			first: "T4", because: "none at all are wrong ones, too", options: wrongly,
			build: func() http.Handler {
				return remembering(wire.PathQuery, func(map[string]string) bool { return true })
			}},
		{name: "a password that only the check looks at", why: servedToNobodyElse, kills: []string{"T5", "T7"}, options: wrongly,
			build: picking(func(r *http.Request, set map[string]string) int {
				if r.URL.Path != wire.PathCheck && set["password"] != "" {
					return tenantNamed(set)
				}
				return known(set)
			})},
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
		{name: "rows kept by the tenant's name", why: servedToNobodyElse, kills: []string{"T5"},
			first: "T4", because: "credentials without a key have the name alone", options: wrongly,
			build: over(newSharedHost, keeping(wire.PathQuery, byTenantName))},
		{name: "the tenant's name is a folder", why: servedToNobodyElse, kills: []string{"T5"}, options: wrongly,
			build: picking(func(_ *http.Request, set map[string]string) int {
				cleaned := maps.Clone(set)
				cleaned["tenant"] = path.Clean(set["tenant"])
				return known(cleaned)
			})},
		{name: "the password is that of the first part of a path", why: servedToNobodyElse, kills: []string{"T5"}, options: wrongly,
			build: picking(func(_ *http.Request, set map[string]string) int {
				owner, _, _ := strings.Cut(set["tenant"], "/")
				if known(map[string]string{"tenant": owner, "password": set["password"]}) < 0 {
					return -1
				}
				return tenantNamed(map[string]string{"tenant": path.Clean(set["tenant"])})
			})},
		{name: "a check that reads an optional credential unasked", why: "a blank optional field is missing", kills: []string{"P1.7c"},
			options: withRegion,
			build:   func() http.Handler { return regional(http.StatusInternalServerError, "internal", "internal error") }},
		{name: "a check that takes a missing password for an internal error", why: "a rejected credential set gives 400 check_failed",
			kills: []string{"P1.7"}, options: apart,
			build: over(newSharedHost, refusesWhere(500, "internal", "internal error", func(r *http.Request, body []byte) bool {
				set, ok := credentialsIn(body)
				return ok && r.URL.Path == wire.PathCheck && set["password"] == ""
			}))},
	}
}

// leniently returns a connector that compares the passwords of its tenants in a way of its own.
func leniently(name string, equal func(own, given string) bool) fault {
	return fault{name: name, why: servedToNobodyElse, kills: []string{"T5"}, options: wrongly,
		build: picking(func(_ *http.Request, set map[string]string) int {
			if tenant := tenantNamed(set); tenant >= 0 && equal(hostSets[tenant]["password"], set["password"]) {
				return tenant
			}
			return -1
		})}
}

// tokenFaults returns connectors that take another token for the right one, on one
// route.
func tokenFaults() []fault {
	var list []fault
	lenient := func(name, id, route string, in func(presented string) bool) {
		list = append(list, fault{name: name, why: "a wrong bearer gives 401", kills: []string{id},
			build: lets(func(r *http.Request, presented string) bool {
				return r.URL.Path == route && presented != "" && r.URL.RawQuery == "" && in(presented)
			})})
	}
	lenient("the token as a password", "P1.2b", wire.PathDiscovery, func(presented string) bool {
		encoded, ok := strings.CutPrefix(presented, "Basic ")
		text, _ := base64.StdEncoding.DecodeString(encoded)
		return ok && strings.HasSuffix(string(text), ":"+testToken)
	})
	lenient("the token as a user", "P1.2b", wire.PathSize, func(presented string) bool {
		encoded, ok := strings.CutPrefix(presented, "Basic ")
		text, _ := base64.StdEncoding.DecodeString(encoded)
		return ok && strings.HasPrefix(string(text), testToken+":")
	})
	lenient("blanks in the token are dropped", "P1.2b", wire.PathCount, func(presented string) bool {
		return strings.ReplaceAll(strings.TrimPrefix(presented, "Bearer"), " ", "") == testToken
	})
	lenient("any number of Bearers", "P1.2b", wire.PathQuery, func(presented string) bool {
		return strings.TrimSpace(strings.ReplaceAll(presented, "Bearer", "")) == testToken
	})
	lenient("the second word is the token", "P1.2b", wire.PathAggregate, func(presented string) bool {
		words := strings.Fields(presented)
		return len(words) > 1 && words[1] == testToken
	})
	lenient("the token anywhere in the header", "P1.2b", wire.PathCheck, func(presented string) bool {
		return strings.Contains(presented, testToken)
	})
	lenient("a token that was never configured", "P1.2a", wire.PathLinkHitRate, func(presented string) bool {
		return presented == "Bearer undefined"
	})
	return append(list, fault{name: "a body that does not parse is refused before the token is missed", why: "a missing bearer gives 401",
		kills: []string{"P1.1b"},
		build: over(usual, refusesWhere(http.StatusBadRequest, "bad_request", "the body does not parse", func(r *http.Request, body []byte) bool {
			counts := r.URL.Path == wire.PathCount && r.Header.Get("Authorization") == ""
			return counts && len(body) > 0 && parsed(body)["table"] == nil
		}))})
}

// mentionFaults returns connectors that tell one tenant of another.
func mentionFaults() []fault {
	told := func(name, id string, edit func(body map[string]any, status int), paths ...string) fault {
		return fault{name: name, why: "metadata of one credential set must never be served to a request with another", kills: []string{id},
			options: apart,
			build: over(newSharedHost, answers(func(body map[string]any, status int) (any, int) {
				edit(body, status)
				return body, status
			}, paths...))}
	}
	sampling := func(body map[string]any, _ int) {
		for _, table := range listOf(body, "tables") {
			for _, field := range listOf(table, "fields") {
				if table["name"] == "invoices" && field["name"] == "city" {
					field["samples"] = []string{"globex city 1"}
				}
			}
		}
	}
	var discoveries atomic.Int32
	return []fault{
		told("samples of another tenant, from one of three processes", "T6", func(body map[string]any, status int) {
			if discoveries.Add(1)%3 == 0 {
				sampling(body, status)
			}
		}, wire.PathDiscovery),
		{name: "a check that quotes the wrong password", why: "the value of a password never appears in an answer",
			kills: []string{"P1.7b"}, harmless: "what a message says is for the person who reads it", options: wrongly,
			build: over(newSharedHost, between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
				if set, ok := credentialsIn(*body); ok && r.URL.Path == wire.PathCheck && known(set) < 0 {
					refuses(w, http.StatusBadRequest, "check_failed", "the password "+set["password"]+" is wrong")
					return true
				}
				return false
			}))},
		told("a 404 that lists the tables of everybody", "T6", func(body map[string]any, status int) {
			if status == http.StatusNotFound {
				body["error"].(map[string]any)["message"] = "no such table; there are parts, invoices, acme_sites, globex_depots"
			}
		}, wire.PathSize),
		told("a warning about the tables of another", "T6", func(body map[string]any, status int) {
			if status == http.StatusOK {
				body["warnings"] = []string{"globex_depots was skipped: its rows could not be read"}
			}
		}, wire.PathDiscovery),
		told("samples of another tenant", "T6", sampling, wire.PathDiscovery),
		told("samples of instants of another tenant", "T6", func(body map[string]any, _ int) {
			for _, table := range listOf(body, "tables") {
				for _, field := range listOf(table, "fields") {
					if table["name"] == "invoices" && field["name"] == "at" {
						field["samples"] = []string{hostInstant("globex", 1).String()}
					}
				}
			}
		}, wire.PathDiscovery),
		told("a foreign key to a table of another", "A.32", func(body map[string]any, _ int) {
			for _, table := range listOf(body, "tables") {
				if table["name"] == "parts" {
					table["foreignKeys"] = []any{map[string]any{"field": "city", "targetTable": "globex_depots", "targetField": "id"}}
				}
			}
		}, wire.PathDiscovery).behind("P3.1b", "this account's discovery does not list the table"),
		{name: "missing credentials are a wrong token", why: "never 401, which would read as a wrong token", kills: []string{"A.31"},
			options: alone,
			build: over(newSharedHost, refusesWhere(http.StatusUnauthorized, "unauthorized", "the credentials are missing",
				func(r *http.Request, body []byte) bool {
					set, ok := credentialsIn(body)
					return ok && r.URL.Path == wire.PathDiscovery && len(set) == 0
				}))},
		{name: "a token of nine characters", why: "the token is at least 32 characters", kills: []string{"A.30"},
			options: func(g *grading) { g.token = "nine-long" },
			build: over(usual, between(func(_ http.ResponseWriter, r *http.Request, _ *[]byte) bool {
				if r.Header.Get("Authorization") == "Bearer nine-long" {
					r.Header.Set("Authorization", "Bearer "+testToken)
				}
				return false
			}))},
	}
}

// withRegion gives the credentials of the first customer, and an optional region.
func withRegion(g *grading) {
	alone(g)
	set := maps.Clone(hostSets[0])
	set["region"] = "north"
	g.credentials = []map[string]string{set}
}

// regional returns a sharedHost whose form has an optional region, without which /check answers so.
func regional(status int, code, message string) http.Handler {
	definition := hostDefinition
	definition.Credentials = append(slices.Clone(definition.Credentials),
		wire.CredentialField{Key: "region", Label: "Region", Type: wire.CredentialText, Optional: true})
	host := sharedHostOf(definition, hostTables())
	host.pick = func(_ *http.Request, set map[string]string) int {
		own := maps.Clone(set)
		delete(own, "region")
		return known(own)
	}
	return refusesWhere(status, code, message, func(r *http.Request, body []byte) bool {
		set, ok := credentialsIn(body)
		return ok && r.URL.Path == wire.PathCheck && set["region"] == "" && known(set) >= 0
	})(host)
}
