package restsource_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
		api := &nested{}
		tenant := serve(t, shopAPI, nestedTables(), handlerTransport{api})
		answer, err := tenant.Query(join("lines", "orders", "order", "id", "sku", "status"))
		require.NoError(t, err)
		assert.Len(t, answer.Rows, 3)
		assert.Equal(t, []string{"", "after=2"}, api.asked)
		api.asked = nil
		_, err = tenant.Discover()
		require.NoError(t, err)
		first := 0
		for _, query := range api.asked {
			if query == "" {
				first++
			}
		}
		assert.Equal(t, 1, first, "%s: the first page of four tables", api.asked)
	})
	t.Run("each request asks anew", func(t *testing.T) {
		api := &nested{}
		tenant := serve(t, shopAPI, nestedTables(), handlerTransport{api})
		for range 2 {
			_, err := tenant.Query(join("lines", "orders", "order", "id", "sku", "status"))
			require.NoError(t, err)
		}
		assert.Len(t, api.asked, 4)
	})
	t.Run("two tables over one endpoint, and one over another", func(t *testing.T) {
		tables := append(numbersTable(onePage), numbersTable(onePage)...)
		tables[1].Name, tables[1].Rows = "letters", "letters"
		tables = append(tables, tables[0])
		tables[2].Name, tables[2].Query = "others", "archived=true"
		for to, requests := range map[string]int{"letters": 1, "others": 2} {
			asked := 0
			_, err := serve(t, shopAPI, tables, transportFunc(func(*http.Request) (*http.Response, error) {
				asked++
				return reply(200, `{"rows": [{"id": 1}], "letters": [{"id": 1}]}`), nil
			})).Query(join("numbers", to, "id", "id", "id", "id"))
			require.NoError(t, err)
			assert.Equal(t, requests, asked, to)
		}
	})
	t.Run("the parent of a child table", func(t *testing.T) {
		tables := append(numbersTable(onePage), children(restsource.Column{Name: "x", Type: wire.TypeNumber}))
		var asked []string
		_, err := serve(t, shopAPI, tables, handlerTransport{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			if strings.HasSuffix(r.URL.Path, "children") {
				_, _ = io.WriteString(w, bodyOfRows)
				return
			}
			_, _ = io.WriteString(w, bodyOfOne)
		})}).Query(join("children", "numbers", "id", "id", "x", "id"))
		require.NoError(t, err)
		assert.Equal(t, []string{"/v1/numbers", "/v1/numbers/1/children"}, asked)
	})
	t.Run("a GraphQL query and the list in its rows", func(t *testing.T) {
		api := &graph{line: `, "pageInfo": {"hasNextPage": false}`}
		answer, err := serve(t, graphAPI, graphTables()[:2], api).Query(join("lines", "orders", "order", "id", "sku", "total"))
		require.NoError(t, err)
		assert.Len(t, answer.Rows, 3)
		assert.Len(t, api.asked, 2, "each page once, with the fields of both")
		assert.Contains(t, api.asked[0], "total(currency: EUR)")
		assert.Contains(t, api.asked[0], "product { sku } quantity")
	})
	t.Run("more than is kept", func(t *testing.T) {
		cursor := restsource.Pages{By: restsource.PagingCursor, Param: "at", Next: "next"}
		tables := append(numbersTable(cursor), numbersTable(cursor)...)
		tables[1].Name = "again"
		asked := map[string]int{}
		large := join("numbers", "again", "id", "id", "id", "id")
		large.TimeoutMS = 120_000 // 60 MB take their time where the race detector watches
		_, err := serve(t, shopAPI, tables, transportFunc(func(r *http.Request) (*http.Response, error) {
			at := r.URL.Query().Get("at")
			asked[at]++
			return reply(200, fmt.Sprintf(`{"rows": [{"id": 1%s}], "next": %s, "x": %q}`, at,
				map[string]string{"": `"2"`, "2": "null"}[at], strings.Repeat("x", 20<<20))), nil
		})).Query(large)
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"": 1, "2": 2}, asked, "the second page has no room, and is asked for again")
	})
}
