package restsource_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSorted: an API is asked to sort by v, and answers these pages. What is not in
// order is sorted here, or fails.
func TestSorted(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/sorted.tsv", 5) {
		var pages [][]any
		require.NoError(t, json.Unmarshal([]byte(c[1]), &pages))
		var answers []string
		id := 0
		for i, page := range pages {
			rows := []map[string]any{}
			for _, v := range page {
				id++
				rows = append(rows, map[string]any{"id": id, "v": v})
			}
			answers = append(answers, fmt.Sprint("?page=", i+1), string(testkit.Must(json.Marshal(rows))(t)))
		}
		api := atPlaces(append(answers, "", "[]")...)
		answer, err := serve(t, shopAPI, declared("sorted"), api).Query(asks(wire.QueryRequest{Table: "t", Fields: []string{"v"}}, c[2]))
		assert.Equal(t, c[4], strconv.Itoa(len(api.takeAsked())), "%s", c)
		if c[3] == "" {
			requireCode(t, wire.CodeInternal, err)
			continue
		}
		require.NoError(t, err)
		got := testkit.Must(json.Marshal(answer.Column("v")))(t)
		assert.JSONEq(t, c[3], string(got), "%s", c)
	}
}

// TestSortIgnored: where the first page is not in order, the read begins again, with
// whole pages, without the sort and with the filters.
func TestSortIgnored(t *testing.T) {
	for _, c := range []struct {
		where wire.Where
		limit int64
		want  []string
	}{
		{wire.Where{}, 1, []string{"limit=2&offset=0&sort=-id", "limit=20&offset=0", "limit=20&offset=9"}},
		{wire.Where{}, 3, []string{"limit=3&offset=0&sort=-id", "limit=20&offset=0", "limit=20&offset=9"}},
		{wire.Where{And: []wire.Filter{cond("paid", wire.OpEq, wire.Bool(true))}}, 1,
			[]string{"limit=20&offset=0&paid=true&sort=-id", "limit=20&offset=0&paid=true"}},
	} {
		for _, refuses := range []bool{false, true} {
			api := newShopOf(13)
			api.change = func(r *http.Request) string {
				query := r.URL.Query()
				if refuses && query.Has("sort") {
					return "422 {}"
				}
				query.Del("sort")
				r.URL.RawQuery = query.Encode()
				return ""
			}
			answer := testkit.Must(asTenant(t, api, declared("shop")).Unverified().Query(wire.QueryRequest{
				Table: "orders", Fields: []string{"id"}, Where: c.where, Sort: descending, Limit: c.limit}))(t)
			assert.Equal(t, c.want, api.takeQueries())
			assert.GreaterOrEqual(t, answer.Column("id")[0].Int64(), int64(12), "the last order, or the last that is paid")
		}
	}
}

// TestJoined: the filters narrow the base table, and no other. The rows that a join
// leads to are kept within a budget.
func TestJoined(t *testing.T) {
	api := newShop()
	tables := declared("shop")
	tables[1].Filters = []restsource.Param{{Column: "status", Op: wire.OpEq, Name: "status"}}
	tables[1].Columns = append(tables[1].Columns, restsource.Column{Name: "status", Type: wire.TypeString})
	join := wire.QueryRequest{
		Table: "orders", Fields: []string{"id"}, Where: wire.Where{And: []wire.Filter{cond("status", wire.OpEq, wire.Text("paid"))}},
		Joins: []wire.JoinHop{{FromTable: "orders", ToTable: "customers", FromField: "customer", ToField: "code",
			Fields: []wire.JoinField{{Field: "name", As: "who"}}}},
	}
	answer := testkit.Must(asTenant(t, api, tables).Unverified().Query(join))(t)
	assert.Len(t, answer.Column("who"), 9)
	for _, address := range api.takeAsked() {
		assert.Equal(t, strings.HasPrefix(address, "/orders?"), strings.Contains(address, "status="), address)
	}

	tenant, _ := connect(t, shopAPI, tables, restsource.Options{Transport: api, JoinBudget: 1})
	_, err := tenant.Query(join)
	require.Equal(t, wire.CodeUnsupported, wire.CodeOf(err))
}

// join asks for a join of two tables by one column each.
func join(table, to, left, right, field, joined string) wire.QueryRequest {
	return wire.QueryRequest{Table: table, Fields: []string{field}, Joins: []wire.JoinHop{{
		FromTable: table, FromField: left, ToTable: to, ToField: right, Fields: []wire.JoinField{{Field: joined, As: "joined"}},
	}}}
}

// TestReadOnce: what several tables of one join or one discovery are read from is asked
// for once.
func TestReadOnce(t *testing.T) {
	t.Run("a table and the list in its rows", func(t *testing.T) {
		api := nested()
		tenant := serve(t, shopAPI, declared("nested"), api)
		answer := testkit.Must(tenant.Query(join("lines", "orders", "order", "id", "sku", "status")))(t)
		assert.Len(t, answer.Rows, 3)
		assert.Equal(t, []string{"/orders", "/orders?after=2"}, api.takeAsked())
		testkit.Must(tenant.Discover())(t)
		others := func(address string) bool { return address != "/orders" }
		assert.Len(t, slices.DeleteFunc(api.takeAsked(), others), 1, "the first page of four tables")
	})
	t.Run("each request asks anew", func(t *testing.T) {
		api := nested()
		tenant := serve(t, shopAPI, declared("nested"), api)
		for range 2 {
			testkit.Must(tenant.Query(join("lines", "orders", "order", "id", "sku", "status")))(t)
		}
		assert.Len(t, api.asked, 4)
	})
	t.Run("two tables over one endpoint, and one over another", func(t *testing.T) {
		tables := append(numbersTable(onePage), numbersTable(onePage)...)
		tables[1].Name, tables[1].Rows = "letters", "letters"
		tables = append(tables, tables[0])
		tables[2].Name, tables[2].Query = "others", "archived=true"
		for to, requests := range map[string]int{"letters": 1, "others": 2} {
			api := inTurn(`{"rows": [{"id": 1}], "letters": [{"id": 1}]}`)
			testkit.Must(serve(t, shopAPI, tables, api).Query(join("numbers", to, "id", "id", "id", "id")))(t)
			assert.Len(t, api.asked, requests, to)
		}
	})
	t.Run("the parent of a child table", func(t *testing.T) {
		tables := append(numbersTable(onePage), children(restsource.Column{Name: "x", Type: wire.TypeNumber}))
		api := atPlaces("/numbers", bodyOfOne, "/numbers/1/children", bodyOfRows)
		testkit.Must(serve(t, shopAPI, tables, api).Query(join("children", "numbers", "id", "id", "x", "id")))(t)
		assert.Equal(t, []string{"/numbers", "/numbers/1/children"}, api.takeAsked())
	})
	t.Run("a GraphQL query and the list in its rows", func(t *testing.T) {
		api := graph(wholeList, nil)
		answer, err := serve(t, graphAPI, declared("graph")[:2], api).Query(join("lines", "orders", "order", "id", "sku", "total"))
		require.NoError(t, err)
		assert.Len(t, answer.Rows, 3)
		assert.Len(t, api.asked, 2, "each page once, with the fields of both")
		assert.Contains(t, api.bodies[0], "total(currency: EUR)")
		assert.Contains(t, api.bodies[0], "product { sku } quantity")
	})
}

// TestReadAgainWithoutRoom: a page that there is no room to keep is asked for again.
func TestReadAgainWithoutRoom(t *testing.T) {
	testrun.Long(t)
	cursor := restsource.Pages{By: restsource.PagingCursor, Param: "at", Next: "next"}
	tables := append(numbersTable(cursor), numbersTable(cursor)...)
	tables[1].Name = "again"
	asked, much := map[string]int{}, strings.Repeat("x", 17<<20)
	large := join("numbers", "again", "id", "id", "id", "id")
	large.TimeoutMS = 120_000 // 50 MB take their time on a busy machine
	testkit.Must(serve(t, shopAPI, tables, testkit.Transport(func(r *http.Request) (*http.Response, error) {
		at := r.URL.Query().Get("at")
		asked[at]++
		next := map[string]string{"": `"2"`, "2": "null"}[at]
		return reply(200, `{"rows": [{"id": 1`+at+`}], "next": `+next+`, "x": "`+much+`"}`), nil
	})).Query(large))(t)
	assert.Equal(t, map[string]int{"": 1, "2": 2}, asked, "the second page has no room, and is asked for again")
}
