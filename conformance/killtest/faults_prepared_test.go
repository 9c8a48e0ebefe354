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
	return append(list,
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
