package killtest

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// preparedFaults returns connectors that keep what one kind of filter, a key or a join takes to prepare, or a refusal,
// without the tenant.
func preparedFaults() (list []fault) {
	prepared := func(name string, host func() http.Handler, path string, isKept func(body map[string]any) bool) fault {
		return fault{
			name: name, why: nothingKept, kills: []string{"T2"}, options: apart,
			build: over(host, keeping(path, func(r *http.Request, body map[string]any) string {
				if !isKept(body) {
					return rand.Text() // is not found again
				}
				return byRequest(r, body)
			})),
		}
	}
	filtered := func(isKept func(filter map[string]any) bool) func(body map[string]any) bool {
		return func(body map[string]any) bool {
			filters, _ := body["and"].([]any)
			for _, f := range filters {
				if isKept(f.(map[string]any)) {
					return true
				}
			}
			return false
		}
	}
	byKey := filtered(func(f map[string]any) bool { return f["op"] == "eq" && f["field"] == "id" })
	return append(list,
		prepared("a row kept by its key", numberedHost, wire.PathQuery, byKey),
		fault{name: "the values of a column are those of whoever came first", why: nothingKept, kills: []string{"T2"}, options: apart,
			build: over(newSharedHost, valuesOfTheFirst)},
		fault{name: "an unknown column stays unknown", why: nothingKept, kills: []string{"T1"}, options: apart,
			build: over(manyTables, keepingUnknown)},
		fault{name: "a refusal proposes tables of everybody", why: servedToNobodyElse, kills: []string{"T6"}, options: apart,
			build: over(newSharedHost, proposing("acme_sites", "globex_depots"))},
		prepared("counts of a list kept by the filter", linkedHost, wire.PathCount, filtered(func(f map[string]any) bool {
			values, _ := f["values"].([]any)
			return f["op"] == "in" && len(values) > 2
		})),
		prepared("counts of an element kept by the filter", linkedHost, wire.PathCount, filtered(func(f map[string]any) bool {
			return f["op"] == "contains"
		})),
		prepared("counts of groups of or kept by the groups", linkedHost, wire.PathCount, func(body map[string]any) bool {
			groups, _ := body["or"].([]any)
			return len(groups) > 1
		}),
		prepared("rows with those of the smaller of two tables kept by the join", linkedHost, wire.PathQuery, func(body map[string]any) bool {
			return strings.Contains(fmt.Sprint(body["joins"]), "toTable:invoices")
		}),
		prepared("the order by two columns kept by the request", linkedHost, wire.PathQuery, func(body map[string]any) bool {
			return len(listOf(body, "sort")) > 1
		}),
		prepared("whole reads of one of many tables kept by the request", manyTables, wire.PathQuery, func(body map[string]any) bool {
			isPage := 0 < integer(body, "limit") && integer(body, "limit") < 100
			return body["table"] == "ledger3" && !isPage && !strings.Contains(fmt.Sprint(body["and"]), "op:eq")
		}),
	)
}

// numberedHost returns a host whose customers number their rows alike.
func numberedHost() http.Handler { return alikeNumbered(hostTables()) }

func alikeNumbered(tables [2][]memsource.Table) http.Handler {
	for i := range tables {
		for n := range tables[i] {
			for r, row := range tables[i][n].Rows {
				row[0] = wire.Text(fmt.Sprint(r))
			}
		}
	}
	return sharedHostOf(hostDefinition, tables)
}

// valuesOfTheFirst counts nothing for a city that is not among those of the customer who asked for one first.
func valuesOfTheFirst(h http.Handler) http.Handler {
	var first sync.Map // by table: the customer's name
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		tree := parsed(*body)
		set, ok := credentialsIn(*body)
		if !ok || r.URL.Path != wire.PathCount || !mayAsk(r) || known(set) < 0 {
			return false
		}
		for _, f := range listOf(tree, "and") {
			if f["op"] != "eq" || f["field"] != "city" {
				continue
			}
			name, _ := first.LoadOrStore(tree["table"], set["tenant"])
			for _, own := range hostSets {
				if value := fmt.Sprint(f["value"]); own["tenant"] != name && strings.HasPrefix(value, own["tenant"]) {
					w.Header().Set("Content-Type", terms.MediaJSON)
					_, _ = w.Write([]byte(`{"count":0}`))
					return true
				}
			}
		}
		return false
	})(h)
}

// keepingUnknown refuses filters on a column of a table since the customer who lacks it has asked for it.
func keepingUnknown(h http.Handler) http.Handler {
	var unknown atomic.Bool
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		tree := parsed(*body)
		set, _ := credentialsIn(*body)
		filters := listOf(tree, "and")
		if !mayAsk(r) || tree["table"] != "ledger3" || !slices.ContainsFunc(filters, func(f map[string]any) bool { return f["field"] == "at" }) {
			return false
		}
		if known(set) == 1 {
			unknown.Store(true)
			return false
		}
		if unknown.Load() {
			refuses(w, http.StatusUnprocessableEntity, "unsupported", "table ledger3 has no field at")
		}
		return unknown.Load()
	})(h)
}

// proposing refuses a table whose name lacks a letter of one of these, and names that one.
func proposing(tables ...string) layer {
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		asked, _ := parsed(*body)["table"].(string)
		for _, name := range tables {
			for i := range name {
				if mayAsk(r) && asked == name[:i]+name[i+1:] {
					refuses(w, http.StatusNotFound, "unknown_entity", "no table "+asked+"; did you mean "+name+"?")
					return true
				}
			}
		}
		return false
	})
}

// linkedHost returns a host whose tables have a column of arrays, and refer to each other.
func linkedHost() http.Handler { return sharedHostOf(hostDefinition, linkedTables()) }

func linkedTables() [2][]memsource.Table {
	tables := hostTables()
	for i := range tables {
		for n, to := range []string{"invoices", "parts"} { // of parts, the larger table, and of invoices
			t := &tables[i][n]
			t.ForeignKeys = []wire.ForeignKey{{Field: "id", TargetTable: to, TargetField: "id"}}
			t.Fields = append(t.Fields, wire.Field{Name: "tags", SourceColumn: "tags", Type: wire.TypeArray})
			for r := range t.Rows {
				t.Rows[r] = append(t.Rows[r], wire.Array(wire.Text([]string{"red", "blue"}[r%2])))
			}
		}
	}
	return tables
}

// manyTables returns a host with tables besides those that most is asked about. Of one of them, the second customer lacks
// a column.
func manyTables() http.Handler {
	tables := hostTables()
	for i, mark := range []string{"acme", "globex"} {
		for n := range 8 {
			t := hostTable(fmt.Sprint("ledger", n), mark, 50-5*n+i)
			if n == 3 && i == 1 {
				t.Fields = t.Fields[:3]
				for r := range t.Rows {
					t.Rows[r] = t.Rows[r][:3]
				}
			}
			tables[i] = append(tables[i], t)
		}
	}
	return sharedHostOf(hostDefinition, tables)
}
