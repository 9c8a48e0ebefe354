package killtest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// noRows is the answer of a query that finds none.
const noRows = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n" + `{"end":1}` + "\n"

// echoFaults returns connectors that keep of one tenant what only another question would show: what there is not, what a row
// refers to, the bounds of a column, a kind of filter that is asked rarely, and what is built while another asks.
func echoFaults() []fault {
	shared := func(name, kills string, build func() http.Handler, layers ...layer) fault {
		return fault{name: name, why: nothingKept, kills: []string{kills}, options: apart, build: over(build, layers...)}
	}
	host := func() http.Handler { return newSharedHost() }
	return []fault{
		shared("the last cardinalities of four columns are kept by the request", "T8", host, lastCardinalities).
			behind("T8, or L4", "which of them asks right after the first account is chance"),
		shared("a key that one customer lacks stays unknown", "T2", host, absentForAll),
		shared("sorted rows are kept by the request and their number", "T2", host, sortedByNumber),
		shared("values beyond the first customer's are not looked for", "T2", numberedByCustomer, boundsOfTheFirst),
		shared("what a row refers to is kept by its key", "T2", func() http.Handler { return alikeNumbered(linkedTables()) },
			keeping(wire.PathQuery, func(r *http.Request, body map[string]any) string {
				if body["joins"] == nil || !strings.Contains(fmt.Sprint(body["and"]), "field:id op:eq") {
					return rand.Text()
				}
				return byRequest(r, body)
			})),
		shared("discovery adds the columns that any customer has", "T8", manyTables, columnsOfAll),
		shared("discoveries under way at once are one", "T3", host, oneDiscovery),
	}
}

// lastCardinalities answers for four columns at once, more than T2 asks for, what the same request was answered right before.
func lastCardinalities(h http.Handler) http.Handler {
	var last struct {
		sync.Mutex
		key string
		rec *httptest.ResponseRecorder
	}
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		tree := parsed(*body)
		set, ok := credentialsIn(*body)
		columns, _ := tree["columns"].([]any)
		if r.URL.Path != wire.PathCardinality || !ok || known(set) < 0 || !mayAsk(r) || len(columns) < 4 {
			return false
		}
		last.Lock()
		defer last.Unlock()
		if key := byRequest(r, tree); last.key != key {
			last.key, last.rec = key, httptest.NewRecorder()
			h.ServeHTTP(last.rec, withBody(r, *body))
		}
		replay(w, last.rec)
		return true
	})(h)
}

// numberedByCustomer returns a host whose second customer has greater numbers.
func numberedByCustomer() http.Handler {
	tables := hostTables()
	for n := range tables[1] {
		for r, row := range tables[1][n].Rows {
			row[1] = wire.Int(int64(r % 6))
		}
	}
	return sharedHostOf(hostDefinition, tables)
}

// absentForAll answers no rows for a key since the customer who lacks it has asked for it.
func absentForAll(h http.Handler) http.Handler {
	var absent sync.Map
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		tree := parsed(*body)
		set, ok := credentialsIn(*body)
		if !ok || r.URL.Path != wire.PathQuery || !mayAsk(r) || known(set) < 0 || tree["joins"] != nil {
			return false
		}
		for _, f := range listOf(tree, "and") {
			if f["op"] != "eq" || f["field"] != "id" {
				continue
			}
			key := fmt.Sprint(tree["table"], f["value"])
			if !strings.HasPrefix(fmt.Sprint(f["value"]), set["tenant"]) {
				absent.Store(key, true)
			} else if _, is := absent.Load(key); is {
				sends(w, http.StatusOK, terms.MediaNDJSON, noRows)
				return true
			}
		}
		return false
	})(h)
}

// sortedByNumber answers what is sorted with the rows that the same request was answered, if they are as many.
func sortedByNumber(h http.Handler) http.Handler {
	var kept sync.Map
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		tree := parsed(*body)
		set, ok := credentialsIn(*body)
		if !ok || r.URL.Path != wire.PathQuery || !mayAsk(r) || known(set) < 0 || tree["sort"] == nil || tree["limit"] != nil {
			return false
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, withBody(r, *body))
		rows := 0
		for line := range bytes.Lines(rec.Body.Bytes()) {
			rows += len(rowsOf(line))
		}
		first, _ := kept.LoadOrStore(fmt.Sprint(rows, byRequest(r, tree)), rec)
		replay(w, first.(*httptest.ResponseRecorder))
		return true
	})(h)
}

// boundsOfTheFirst counts nothing beyond the numbers of the first customer, once that one has asked for some.
func boundsOfTheFirst(h http.Handler) http.Handler {
	var first sync.Map // by table: the customer's name
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		tree := parsed(*body)
		set, ok := credentialsIn(*body)
		if !ok || r.URL.Path != wire.PathQuery || !mayAsk(r) || known(set) < 0 {
			return false
		}
		for _, f := range listOf(tree, "and") {
			value, isNumber := f["value"].(json.Number)
			if f["op"] != "gt" || f["field"] != "n" || !isNumber {
				continue
			}
			name, _ := first.LoadOrStore(tree["table"], set["tenant"])
			if n, err := value.Int64(); err == nil && n >= 2 && name == "acme" && set["tenant"] == "globex" {
				sends(w, http.StatusOK, terms.MediaNDJSON, noRows)
				return true
			}
		}
		return false
	})(h)
}

// columnsOfAll adds to a customer's discovery, of tables that this one has, the columns that another had in them.
func columnsOfAll(h http.Handler) http.Handler {
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
}

// oneDiscovery answers a discovery that comes while another is under way with that one.
func oneDiscovery(h http.Handler) http.Handler {
	var mu sync.Mutex
	var current *sync.WaitGroup
	var rec *httptest.ResponseRecorder
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		set, ok := credentialsIn(*body)
		if r.URL.Path != wire.PathDiscovery || !mayAsk(r) || !ok || known(set) < 0 {
			return false
		}
		mu.Lock()
		building, answer := current, rec
		if building == nil {
			building, answer = &sync.WaitGroup{}, httptest.NewRecorder()
			building.Go(func() {
				h.ServeHTTP(answer, withBody(r, *body))
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
}
