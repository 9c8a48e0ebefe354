package killtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// noRows is the answer of a query that finds none.
const noRows = served + `{"end":1}` + "\n"

var greaterNumbers = hostEach(func(customer int, t *memsource.Table) {
	for r := range t.Rows[:customer*len(t.Rows)] { // the second one's numbers
		t.Rows[r][1] = wire.Int(int64(r % 6))
	}
})

// echoFaults are connectors that keep of one tenant what only another question would show: what there is not, what a row
// refers to, the bounds of a column, a kind of filter that is asked rarely, and what is built while another asks.
var echoFaults = []fault{
	shared("the last cardinalities of four columns are kept by the request", nothingKept, "T8", twoCustomers, lastCardinalities).
		behind("T8, or L4", "which of them asks right after the first account is chance"),
	shared("a key that one customer lacks stays unknown", nothingKept, "T2", twoCustomers, func(h http.Handler) http.Handler {
		var absent sync.Map
		return ofCustomers(wire.PathQuery, func(w http.ResponseWriter, _ *http.Request, body map[string]any, customer int) bool {
			value := operandOf(body, "eq", "id")
			if value == nil || body["joins"] != nil {
				return false
			}
			key := fmt.Sprint(body["table"], value)
			if !strings.HasPrefix(fmt.Sprint(value), hostSets[customer]["tenant"]) {
				absent.Store(key, true)
				return false
			}
			_, is := absent.Load(key)
			if is {
				sends(w, http.StatusOK, terms.MediaNDJSON, noRows)
			}
			return is
		})(h)
	}),
	shared("sorted rows are kept by the request and their number", nothingKept, "T2", twoCustomers, func(h http.Handler) http.Handler {
		var kept sync.Map
		return ofCustomers(wire.PathQuery, func(w http.ResponseWriter, r *http.Request, body map[string]any, _ int) bool {
			if body["sort"] == nil || body["limit"] != nil {
				return false
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			rows := 0
			for line := range bytes.Lines(rec.Body.Bytes()) {
				rows += len(rowsOf(line))
			}
			first, _ := kept.LoadOrStore(fmt.Sprint(rows, byRequest(r, body)), rec)
			replay(w, first.(*httptest.ResponseRecorder))
			return true
		})(h)
	}),
	shared("values beyond the first customer's are not looked for", nothingKept, "T2", greaterNumbers, beyondTheFirst(wire.PathQuery, "gt", "n",
		func(w http.ResponseWriter, _ *http.Request) { sends(w, http.StatusOK, terms.MediaNDJSON, noRows) },
		func(value any, first, customer int) bool {
			n, _ := value.(json.Number)
			least, err := n.Int64()
			return err == nil && least >= 2 && first == 0 && customer == 1
		})),
	shared("what a row refers to is kept by its key", nothingKept, "T2", func() http.Handler { return alikeNumbered(linkedTables()) },
		keepingWhere(wire.PathQuery, func(body map[string]any) bool { return body["joins"] != nil && operandOf(body, "eq", "id") != nil })),
	shared("hotels: answers about nulls are kept by the request", nothingKept, "T8", chains, keepingWhere(wire.PathCount, aboutNulls),
		keepingWhere(wire.PathQuery, aboutNulls), keepingWhere(wire.PathAggregate, aboutNulls)).
		behind("T8, or M12", "M12 asks the second account the same that it asked the first"),
	shared("hotels: the measures of a whole table are kept by their number", nothingKept, "L8", chains,
		keeping(wire.PathAggregate, func(_ *http.Request, body map[string]any) string {
			measures := len(listOf(body, "measures"))
			if measures < 4 || len(listOf(body, "and"))+len(listOf(body, "groupBy"))+len(listOf(body, "joins")) > 0 {
				return ""
			}
			return fmt.Sprint(body["table"], measures)
		})),
	shared("discovery adds the columns that any customer has", nothingKept, "T8", manyTables, func(h http.Handler) http.Handler {
		var seen sync.Map // by table: its fields, as many as anybody has
		return answers(func(body map[string]any, status int) (any, int) {
			for _, t := range listOf(body, "tables") {
				fields := t["fields"].([]any)
				if more, ok := seen.Load(t["name"]); ok && len(more.([]any)) > len(fields) {
					t["fields"] = more
				} else {
					seen.Store(t["name"], fields)
				}
			}
			return body, status
		}, wire.PathDiscovery)(h)
	}),
	shared("discoveries under way at once are one", nothingKept, "T3", twoCustomers, func(h http.Handler) http.Handler {
		var mu sync.Mutex
		var current *sync.WaitGroup
		var rec *httptest.ResponseRecorder
		return ofCustomers(wire.PathDiscovery, func(w http.ResponseWriter, r *http.Request, _ map[string]any, _ int) bool {
			mu.Lock()
			building, answer := current, rec
			if building == nil {
				building, answer = &sync.WaitGroup{}, httptest.NewRecorder()
				building.Go(func() {
					h.ServeHTTP(answer, r)
					time.Sleep(5 * time.Millisecond) // the upstream is no faster
					mu.Lock()
					defer mu.Unlock()
					current, rec = nil, nil
				})
				current, rec = building, answer
			}
			mu.Unlock()
			building.Wait()
			replay(w, answer)
			return true
		})(h)
	}),
}

// aboutNulls reports whether a request has a filter that looks for null, or for all else.
var aboutNulls = having("and", asks("op=isnull|notnull"))

// lastCardinalities answers for four columns at once, more than T2 asks for, what the same request was answered right before.
func lastCardinalities(h http.Handler) http.Handler {
	var last struct {
		sync.Mutex
		key string
		rec *httptest.ResponseRecorder
	}
	return ofCustomers(wire.PathCardinality, func(w http.ResponseWriter, r *http.Request, body map[string]any, _ int) bool {
		if len(alternatives(body, "columns")) < 4 {
			return false
		}
		last.Lock()
		defer last.Unlock()
		if key := byRequest(r, body); last.key != key {
			last.key, last.rec = key, httptest.NewRecorder()
			h.ServeHTTP(last.rec, r)
		}
		replay(w, last.rec)
		return true
	})(h)
}

// beyondTheFirst answers that there is nothing to filters whose operand is beyond the data of the customer who was the first to
// ask the table with such a filter.
func beyondTheFirst(path, op, field string, nothing http.HandlerFunc, beyond func(value any, first, customer int) bool) layer {
	return func(h http.Handler) http.Handler {
		var first sync.Map // customer by table
		return ofCustomers(path, func(w http.ResponseWriter, r *http.Request, body map[string]any, customer int) bool {
			value := operandOf(body, op, field)
			if value == nil {
				return false
			}
			was, _ := first.LoadOrStore(body["table"], customer)
			is := beyond(value, was.(int), customer)
			if is {
				nothing(w, r)
			}
			return is
		})(h)
	}
}

func prepared(name string, host func() http.Handler, path string, isKept func(body map[string]any) bool) fault {
	return shared(name, nothingKept, "T2", host, keepingWhere(path, isKept))
}

// preparedFaults are connectors that keep what one kind of filter, a key or a join takes to prepare, or a refusal,
// without the tenant.
var preparedFaults = []fault{
	prepared("a row kept by its key", func() http.Handler { return alikeNumbered(hostTables()) }, wire.PathQuery,
		having("and", asks("op=eq", "field=id", "value"))),
	shared("the values of a column are those of whoever came first", nothingKept, "T2", twoCustomers,
		beyondTheFirst(wire.PathCount, "eq", "city", text(http.StatusOK, terms.MediaJSON, `{"count":0}`),
			func(value any, first, _ int) bool {
				return strings.HasPrefix(fmt.Sprint(value), hostSets[1-first]["tenant"])
			})),
	shared("an unknown column stays unknown", nothingKept, "T1", manyTables, func(h http.Handler) http.Handler {
		var unknown atomic.Bool
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			tree := parsed(*body)
			set, _ := credentialsIn(*body)
			if !mayAsk(r) || tree["table"] != "ledger3" || !having("and", asks("field=at"))(tree) {
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
	}),
	shared("a refusal proposes tables of everybody", servedToNobodyElse, "T6", twoCustomers, proposing("acme_sites", "globex_depots")),
	prepared("counts of a list kept by the filter", linkedHost, wire.PathCount, having("and", asks("op=in", "values>2"))),
	prepared("counts of an element kept by the filter", linkedHost, wire.PathCount, having("and", asks("op=contains"))),
	prepared("counts of groups of or kept by the groups", linkedHost, wire.PathCount, asks("or>1")),
	prepared("rows with those of the smaller of two tables kept by the join", linkedHost, wire.PathQuery, func(body map[string]any) bool {
		return strings.Contains(fmt.Sprint(body["joins"]), "toTable:invoices")
	}),
	prepared("the order by two columns kept by the request", linkedHost, wire.PathQuery, asks("sort>1")),
	prepared("whole reads of one of many tables kept by the request", manyTables, wire.PathQuery, func(body map[string]any) bool {
		isPage := 0 < integer(body, "limit") && integer(body, "limit") < 100
		return body["table"] == "ledger3" && !isPage && !strings.Contains(fmt.Sprint(body["and"]), "op:eq")
	}),
}

// alikeNumbered returns a host whose customers number their rows alike.
func alikeNumbered(tables [2][]memsource.Table) http.Handler {
	for _, t := range slices.Concat(tables[0], tables[1]) {
		for r, row := range t.Rows {
			row[0] = wire.Text(fmt.Sprint(r))
		}
	}
	return sharedHostOf(hostDefinition, tables)
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
		linkBothWays(tables[i])
		for n := range 2 {
			t := &tables[i][n]
			t.Fields = append(t.Fields, wire.Field{Name: "tags", SourceColumn: "tags", Type: wire.TypeArray})
			for r := range t.Rows {
				t.Rows[r] = append(t.Rows[r], wire.Array(wire.Text([]string{"red", "blue"}[r%2])))
			}
		}
	}
	return tables
}

// linkBothWays links parts, the larger table of a customer, and invoices.
func linkBothWays(tables []memsource.Table) {
	tables[0].ForeignKeys, tables[1].ForeignKeys = links("id invoices.id"), links("id parts.id")
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
