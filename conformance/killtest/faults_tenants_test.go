package killtest

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tenantFaults returns connectors that mix up two tenants whatever is asked.
func tenantFaults() []fault {
	mixed := func(name, why, kill string, build func() http.Handler) fault {
		return fault{name: name, why: why, kills: []string{kill}, options: apart, build: build}
	}
	tables := hostTables()
	for i, own := range tables {
		tables[i] = append(slices.Clone(own), hostTables()[1-i][3])
	}
	last := ofTheLast("metadata of the last discovery", wire.PathDiscovery, wire.PathQuery, wire.PathCount, wire.PathSize)
	last.why = nothingKept
	return []fault{
		mixed("any tenant reads any table", "a table of one tenant answers unknown_entity for another that lacks it", "T1",
			func() http.Handler {
				return diverted(sharedHostOf(hostDefinition, tables), wire.PathQuery, func(body map[string]any) bool {
					return slices.Contains([]any{"acme_sites", "globex_depots"}, body["table"])
				})(newSharedHost())
			}),
		last.behind("P3.1c", "its tables are unknown once the other account has been described"),
		mixed("sizes kept by the name of the table", nothingKept, "T2", over(newSharedHost, keeping(wire.PathSize, byTable))),
		mixed("discovery remembers every table it has seen", "metadata of one credential set must never be served to a request with another",
			"T2", over(newSharedHost, describingAll)),
		mixed("a shared variable for the credentials", servedToNobodyElse, "T3", func() http.Handler {
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
		mixed("whoever is asked for beside another gets an error", servedToNobodyElse, "T3",
			over(newSharedHost, func(h http.Handler) http.Handler {
				var current atomic.Int32
				return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
					set, _ := credentialsIn(*body)
					tenant := int32(known(set))
					current.Store(tenant)
					time.Sleep(time.Millisecond) // a table of the other's schema is looked for
					if current.Load() == tenant || tenant < 0 {
						return false
					}
					refuses(w, http.StatusInternalServerError, string(wire.CodeInternal), terms.InternalMessage)
					return true
				})(h)
			})),
	}
}

// describingAll lists the tables of all discoveries so far.
func describingAll(h http.Handler) http.Handler {
	var mu sync.Mutex
	var seen []map[string]any
	return ok(func(body map[string]any) {
		mu.Lock()
		defer mu.Unlock()
		for _, t := range listOf(body, "tables") {
			if !slices.ContainsFunc(seen, func(other map[string]any) bool { return other["name"] == t["name"] }) {
				seen = append(seen, t)
			}
		}
		body["tables"] = slices.Clone(seen)
	}, wire.PathDiscovery)(h)
}
