package restsource_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	wholeList   = `, "pageInfo": {"hasNextPage": false}`
	firstOrders = `{"data": {"orders": {"nodes": [
		{"id": "o1", "state": "OPEN", "customer": {"id": "k1", "address": {"city": "Oslo"}}, "total": {"amount": "1.50"},
			"createdAt": "2026-01-02T10:00:00Z",
			"lines": {"edges": [{"node": {"product": {"sku": "a"}, "quantity": 1}}, {"node": {"product": {"sku": "b"}, "quantity": 2}}]%s}},
		{"id": "o2", "state": "PAID", "customer": {"id": "k2", "address": null}, "total": {"amount": "2.00"},
			"lines": {"edges": [], "pageInfo": {"hasNextPage": false}}}],
		"pageInfo": {"hasNextPage": true, "endCursor": "c1"}}}}`
	lastOrders = `{"data": {"orders": {"nodes": [{"id": "o3", "state": "OPEN", "customer": null, "total": {"amount": "7.50"},
		"lines": {"edges": [{"node": {"product": {"sku": "a"}, "quantity": 9}}], "pageInfo": {"hasNextPage": false}}}],
		"pageInfo": {"hasNextPage": false, "endCursor": "c2"}}}}`
)

var blanks = regexp.MustCompile(`\s+`)

// graph returns an API that answers queries with orders of two pages, whose connection lines has more members. What first
// returns for the n-th query, unless it is "", is answered in place of the orders.
func graph(line string, first func(n int, query string) string) *remote {
	var n atomic.Int64
	return &remote{answer: func(r *http.Request) string {
		var asked struct {
			Query     string
			Variables struct{ After, ID string }
		}
		if err := json.Unmarshal(testkit.Body(r), &asked); err != nil {
			return "400"
		}
		if first != nil {
			if body := first(int(n.Add(1)), asked.Query); body != "" {
				return body
			}
		}
		body := fmt.Sprintf(firstOrders, line)
		switch {
		case strings.Contains(asked.Query, "order(id"):
			body = fmt.Sprintf(`{"data": {"order": {"notes": [{"text": "of %s"}]}}}`, asked.Variables.ID)
		case asked.Variables.After == "c1":
			body = lastOrders
		}
		if !strings.Contains(asked.Query, "total(") { // what is not asked for is not answered
			body = strings.ReplaceAll(body, `"total"`, `"other"`)
		}
		return body
	}}
}

var graphAPI = restsource.API{Base: "https://shop.example/graphql", Authorize: restsource.Bearer("token")}

// TestGraphQL requires that a query asks for the columns that a request needs, and for no others.
func TestGraphQL(t *testing.T) {
	const orders = `query Orders($first: Int!, $after: String, $state: OrderState, $ids: [ID!], $since: DateTime) { ` +
		`# the orders of the shop orders(first: $first, after: $after, filter: {state: $state, ids: $ids, since: $since}) { ` +
		`pageInfo { hasNextPage endCursor } nodes { %s } } }`
	for _, c := range testkit.Table(t, "testdata/graphql.tsv", 7) {
		t.Run(c[0], func(t *testing.T) {
			api := graph(wholeList, nil)
			req := wire.QueryRequest{Table: c[1], Where: whereOf(t, c[2]), Fields: strings.Fields(c[3])}
			answer := testkit.Must(serve(t, graphAPI, declared("graph"), api).Query(req))(t)
			assert.JSONEq(t, c[4], answer.JSON())
			assert.Equal(t, []string{"POST /graphql", "POST /graphql"}, api.asked)
			for i, variables := range []string{c[6], strings.Replace(c[6], `{`, `{"after":"c1",`, 1)} {
				var asked struct {
					Query     string
					Variables json.RawMessage
				}
				require.NoError(t, json.Unmarshal([]byte(api.bodies[i]), &asked))
				assert.Equal(t, blanks.ReplaceAllString(fmt.Sprintf(orders, c[5]), " "), blanks.ReplaceAllString(asked.Query, " "))
				assert.Equal(t, variables, string(asked.Variables))
			}
		})
	}
	t.Run("a query for each row of the parent", func(t *testing.T) {
		api := graph("", nil)
		tables := declared("graph")
		tables[2].GraphQL = strings.ReplaceAll(strings.ReplaceAll(tables[2].GraphQL, "$key", "$token"), "key:", "token:")
		answer, err := serve(t, graphAPI, tables, api).Query(wire.QueryRequest{Table: "notes", Fields: []string{"order", "text"}})
		require.NoError(t, err)
		assert.JSONEq(t, `[{"order": "o1", "text": "of o1"}, {"order": "o2", "text": "of o2"}, {"order": "o3", "text": "of o3"}]`, answer.JSON())
		assert.Contains(t, strings.Join(api.bodies, " "), `"variables":{"id":"o2","token":"`+shopToken+`"}}`, "the parent's column, and the credential of that name")
	})
	t.Run("a filter that has the name of the parent's column", func(t *testing.T) {
		api := graph("", nil)
		tables := declared("graph")
		tables[2].GraphQL = `query($id: ID!, $state: String) { order(id: $id, text: $state) { notes { * } } }`
		tables[2].Filters = []restsource.Param{{Column: "text", Op: wire.OpEq, Name: "state"}}
		testkit.Must(serve(t, graphAPI, tables, api).Query(wire.QueryRequest{Table: "notes", Fields: []string{"text"}}))(t)
		assert.Contains(t, strings.Join(api.bodies, " "), `"variables":{"id":"o1"}}`, "it is the filter's, and there is no filter")
	})
	t.Run("a variable without a value", func(t *testing.T) {
		_, err := serve(t, graphAPI, declared("graph"), graph("", nil)).Query(wire.QueryRequest{Table: "notes", Fields: []string{"text"}})
		requireCode(t, wire.CodeInternal, err)
	})
	t.Run("a list that is cut", func(t *testing.T) {
		tenant := serve(t, graphAPI, declared("graph"), graph(`, "pageInfo": {"hasNextPage": true}`, nil))
		_, err := tenant.Query(wire.QueryRequest{Table: "lines", Fields: []string{"sku"}})
		requireCode(t, wire.CodeInternal, err)
	})
	t.Run("discovery", func(t *testing.T) {
		found := testkit.Must(serve(t, graphAPI, declared("graph")[:2], graph("", nil)).Discover())(t)
		assert.Len(t, found.Tables, 2)
	})
}

// TestGraphQLFails: errors beside data are no answer, and a limit inside a 200 is waited for.
func TestGraphQLFails(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/graphs.tsv", 6) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			api := graph("", func(n int, _ string) string { return map[string]string{c[1]: c[2]}[strconv.Itoa(n)] })
			begun := time.Now()
			answer, err := serve(t, graphAPI, declared("graph"), api).Query(wire.QueryRequest{Table: "orders", Fields: []string{"id"}})
			assert.Equal(t, c[4], strconv.Itoa(len(api.asked)))
			assert.Equal(t, c[5], time.Since(begun).String())
			if err != nil {
				saysAll(t, c[3], err, "")
				return
			}
			assert.Equal(t, c[3], strconv.Itoa(len(answer.Column("id"))))
		})
	}
}

// TestGraphQLSpellings reads queries as people write them.
func TestGraphQLSpellings(t *testing.T) {
	for query, body := range map[string]string{
		`{ numbers { * } }`: `{"data": {"numbers": [{"id": 1}]}}`,
		`query Q($a: [Int!]! = [1, 2], $b: In = {x: "}", y: -1.5}, $c: F = 1.5)
			@cached(ttl: 60) { numbers(a: $a) @include(if: true) { * } }`: `{"data": {"numbers": [{"id": 1}]}}`,
		`{ all: numbers { * } }`:                             `{"data": {"all": [{"id": 1}]}}`,
		`{ viewer { name, ... on User { numbers { * } } } }`: `{"data": {"viewer": {"name": "x", "numbers": [{"id": 1}]}}}`,
		"{ numbers(text: \"\"\"a { \" \"\"\") { # {\n * } }": `{"data": {"numbers": [{"id": 1}]}}`,
		`{ numbers(text: "\"}") { ...Some * } }`:             `{"data": {"numbers": [{"id": 1}]}}`,
		`query($after: String) { numbers(after: $after) { nodes { * } totalCount } }`: `{"data": {"numbers": {"nodes": [{"id": 1}], "totalCount": 1,
			"pageInfo": {"hasNextPage": false, "endCursor": null}}}}`,
		`{ number(id: 7) { * } }`: `{"data": {"number": {"id": 1}}}`,
	} {
		tables := numbersTable(onePage, func(t *restsource.Table) { t.Path, t.Rows, t.GraphQL = "/graphql", "", query })
		answer, err := serve(t, shopAPI, tables, inTurn(body)).Query(allNumbers)
		if assert.NoError(t, err, query) {
			assert.JSONEq(t, `[{"id": 1}]`, answer.JSON(), query)
		}
	}
}

// TestGraphQLNumbers: a variable of a number is spelled as JSON has it, wherever the number comes from.
func TestGraphQLNumbers(t *testing.T) {
	tables := numbersTable(onePage, func(t *restsource.Table) {
		t.Path, t.Rows, t.GraphQL = "/graphql", "", `query($n: Float!) { numbers(n: $n) { * } }`
		t.Partitions = restsource.Partitions{Param: "n", Values: []string{"007", "+8.50", "x"}}
	})
	api := inTurn(`{"data": {"numbers": [{"id": 1}]}}`)
	testkit.Must(serve(t, shopAPI, tables, api).Query(allNumbers))(t)
	for i, want := range []string{"7", "8.50", `"x"`} {
		assert.Contains(t, api.bodies[i], `"n":`+want+"}")
	}
}

// TestIntrospect finds columns and their types in the API's schema.
func TestIntrospect(t *testing.T) {
	schema := string(testkit.Must(os.ReadFile("testdata/schema.json"))(t))
	id, tags := `{"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "ID"}}`, `{"kind": "NON_NULL", "ofType": {"kind": "LIST"`
	nullable := strings.Replace(schema, id, `{"kind": "SCALAR", "name": "ID"}`, 1)
	tables := []restsource.Table{{
		Name: "orders", Pages: onePage, GraphQL: `{ orders { * } }`, ColumnsOf: restsource.Introspect("Order"), Key: []string{"count"},
		Columns: []restsource.Column{{Name: "city", Path: "customer.city", Type: wire.TypeString}, {Name: "count", Type: wire.TypeDecimal}},
	}}
	var api *remote
	ask := func(first string) ([]wire.Field, error) {
		api = graph("", func(_ int, query string) string {
			if strings.Contains(query, "__type") {
				return first
			}
			return `{"data": {"orders": [{"customer": {"city": "Oslo"}, "count": 7}]}}`
		})
		found, err := serve(t, graphAPI, tables, api).Discover()
		if err != nil {
			return nil, err
		}
		return found.Tables[0].Fields, nil
	}
	_, err := ask(schema)
	requireCode(t, wire.CodeInternal, err) // id is never null in the schema, and the answer has none
	fields, err := ask(nullable)
	requireCode(t, wire.CodeInternal, err) // nor are tags
	require.Nil(t, fields)
	fields = testkit.Must(ask(strings.ReplaceAll(nullable, tags, strings.Replace(tags, "NON_NULL", "X", 1))))(t)
	types := map[string]wire.Type{}
	for _, f := range fields {
		types[f.Name] = f.Type
	}
	assert.Equal(t, map[string]wire.Type{"city": "string", "id": "string", "count": "decimal", "price": "decimal", "day": "date",
		"at":   "datetime",
		"open": "boolean", "state": "string", "extra": "json", "rank": "number"}, types)
	assert.Contains(t, api.bodies[1], "{ customer { city } count id price day at open state extra rank }")
	_, err = ask(`{"data": {"__type": null}}`)
	requireCode(t, wire.CodeInternal, err)
}
