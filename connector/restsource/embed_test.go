package restsource_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	order1 = `{"id": 1, "status": "open", "tags": ["new", "big"], "lines": [
		{"sku": "a", "quantity": 2, "taxes": [{"kind": "vat", "rate": "0.19"}, {"kind": "eco", "rate": "0.01"}]},
		{"sku": "b", "quantity": 1, "taxes": []}]}`
	order2 = `{"id": 2, "status": "paid", "tags": [], "lines": []}`
	order3 = `{"id": 3, "status": "open", "lines": [{"sku": "a", "quantity": 5, "taxes": [{"kind": "vat", "rate": "0.07"}]}]}`
)

// nested returns an API of three orders on two pages, with their lines and the taxes of these.
func nested() *remote {
	return &remote{answer: func(r *http.Request) string {
		if r.Header.Get("Authorization") != "Bearer "+shopToken {
			return "401"
		}
		query := r.URL.Query()
		orders, next := []string{order1, order2}, `"2"`
		if query.Get("after") == "2" { // the second order comes again, because it was changed
			orders, next = []string{order2, order3}, "null"
		}
		orders = slices.DeleteFunc(orders, func(order string) bool { return !strings.Contains(order, query.Get("status")) })
		return fmt.Sprintf(`{"data": [%s], "next": %s}`, strings.Join(orders, ","), next)
	}}
}

// TestEmbedded reads lists in rows as tables: each element once, in the order of the API,
// with the parent's values beside it.
func TestEmbedded(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/nested.tsv", 6) {
		t.Run(c[0], func(t *testing.T) {
			api := nested()
			req := wire.QueryRequest{Table: c[1], Where: whereOf(t, c[2]), Fields: strings.Fields(c[3])}
			answer := testkit.Must(serve(t, shopAPI, declared("nested"), api).Query(req))(t)
			assert.JSONEq(t, c[4], answer.JSON())
			assert.Equal(t, c[5], strings.Join(api.takeQueries(), " "))
		})
	}
	t.Run("the conformance program", func(t *testing.T) {
		src := testkit.Must(restsource.New(shopAPI, declared("nested"), &restsource.Options{Transport: nested()}))(t)
		connectortest.Run(t, shopDefinition, src, &connectortest.Options{Credentials: shopCredentials, Requests: 300})
	})
	t.Run("the description", func(t *testing.T) {
		found := testkit.Must(serve(t, shopAPI, declared("nested"), nested()).Discover())(t)
		assert.Empty(t, found.Warnings)
		lines := found.Tables[1]
		assert.Equal(t, []string{"order", "position"}, lines.PrimaryKey)
		assert.Contains(t, lines.ForeignKeys, wire.ForeignKey{Field: "order", TargetTable: "orders", TargetField: "id"})
		assert.Nil(t, lines.RowCount)
	})
}

// TestEmbeddedInChild: the lists may be in the rows of a child table, and a child table
// may have an embedded one as its parent.
func TestEmbeddedInChild(t *testing.T) {
	api := atPlaces("/numbers", "1-2",
		"/numbers/1/boxes", `{"rows": [{"box": "b1", "things": [{"thing": "t1"}]}]}`,
		"/numbers/2/boxes", `{"rows": [{"box": "b2", "things": [{"thing": "t2"}]}]}`,
		"/things/t1/notes", `{"rows": [{"note": "of the first"}]}`, "/things/t2/notes", `{"rows": [{"note": "of the second"}]}`)
	tenant := serve(t, shopAPI, declared("boxes"), api)
	answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "things", Fields: []string{"box", "number", "thing"}}))(t)
	assert.JSONEq(t, `[{"box": "b1", "number": 1, "thing": "t1"}, {"box": "b2", "number": 2, "thing": "t2"}]`, answer.JSON())
	api.takeAsked()
	answer = testkit.Must(tenant.Query(wire.QueryRequest{Table: "things", Fields: []string{"thing"}, Where: whereOf(t, "number eq 2")}))(t)
	assert.JSONEq(t, `[{"thing": "t2"}]`, answer.JSON())
	assert.Equal(t, []string{"/numbers", "/numbers/2/boxes"}, api.takeAsked(), "only the endpoint of that number")
	answer = testkit.Must(tenant.Query(wire.QueryRequest{Table: "notes", Fields: []string{"thing", "note"}}))(t)
	assert.JSONEq(t, `[{"thing": "t1", "note": "of the first"}, {"thing": "t2", "note": "of the second"}]`, answer.JSON())
	found := testkit.Must(tenant.Discover())(t)
	assert.Len(t, found.Tables, 4)
}

// TestEmbeddedWhole: a list in a row is whole, or the read fails and says what to do.
func TestEmbeddedWhole(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/embedded.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			body := `{"data": [{"id": 1, "lines": [{"sku": "a"}]}, {"id": 2, ` + c[2] + `}], "next": null}`
			tables := declared("nested")
			lines := &tables[1]
			for word := range strings.FieldsSeq(c[1]) {
				switch word {
				case "alone":
					body = `{"data": [{"id": 2, ` + c[2] + `}], "next": null}`
				case "optional":
					lines.AbsentIsEmpty = true
				case "keyless":
					lines.Key = nil
				case "key=order,sku":
					lines.Key = []string{"order", "sku"}
				default:
					lines.Rows = word
				}
			}
			answer, said, err := query(t, tables[:2], inTurn(body), wire.QueryRequest{Table: "lines", Fields: []string{"order", "sku"}})
			if err != nil {
				saysAll(t, "internal: & "+c[3], err, said)
				return
			}
			assert.Equal(t, c[3], strconv.Itoa(len(answer.Column("order"))))
		})
	}
	t.Run("discovery warns", func(t *testing.T) {
		tables := declared("nested")[:2]
		tables[1].Rows = "line"
		found := testkit.Must(serve(t, shopAPI, tables, nested()).Discover())(t)
		require.Len(t, found.Warnings, 1)
		assert.Contains(t, found.Warnings[0], `Table "lines": no row of the parent has a list at Rows ("line")`)
	})
}
