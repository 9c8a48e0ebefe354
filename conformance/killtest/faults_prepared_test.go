package killtest

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// preparedFaults returns connectors that keep what one kind of filter, or a join, takes to prepare, without the tenant.
func preparedFaults() (list []fault) {
	prepared := func(name, path string, isKept func(body map[string]any) bool) fault {
		return fault{
			name: name, why: nothingKept, kills: []string{"T2"}, options: apart,
			build: over(linkedHost, keeping(path, func(r *http.Request, body map[string]any) string {
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
	return append(list,
		prepared("counts of a list kept by the filter", wire.PathCount, filtered(func(f map[string]any) bool {
			values, _ := f["values"].([]any)
			return f["op"] == "in" && len(values) > 2
		})),
		prepared("counts of an element kept by the filter", wire.PathCount, filtered(func(f map[string]any) bool {
			return f["op"] == "contains"
		})),
		prepared("counts of groups of or kept by the groups", wire.PathCount, func(body map[string]any) bool {
			groups, _ := body["or"].([]any)
			return len(groups) > 1
		}),
		prepared("rows with those of the smaller of two tables kept by the join", wire.PathQuery, func(body map[string]any) bool {
			return strings.Contains(fmt.Sprint(body["joins"]), "toTable:invoices")
		}),
	)
}

// linkedHost returns a host whose tables have a column of arrays, and refer to each other.
func linkedHost() http.Handler {
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
	return sharedHostOf(hostDefinition, tables)
}
