package restsource_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// family is an API of three parents with two pages of children each. Other answers may come before.
func family(other ...string) *remote {
	return atPlaces(append(other,
		"/parents", `{"rows": [
			{"id": "a/1", "kind": "x", "code": 1}, {"id": "b", "kind": "y", "code": null}, {"id": "c", "kind": "x"}]}`,
		"?after=n", `{"rows": [{"id": 2, "kind": "q"}]}`,
		"", `{"rows": [{"id": 1, "kind": "p"}], "next": "n"}`)...)
}

// TestFamily shows which endpoints a query asks, and that no filter goes to a table that it does not concern.
func TestFamily(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/family.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			api := family()
			tenant, _ := connect(t, shopAPI, declared("family"), restsource.Options{Transport: api})
			answer, err := tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id", "parent"}, Where: whereOf(t, c[1])})
			require.NoError(t, err)
			var got []string
			for i, id := range answer.Column("id") {
				got = append(got, id.String()+answer.Column("parent")[i].String())
			}
			assert.Equal(t, c[2], strings.Join(got, " "))
			assert.ElementsMatch(t, strings.Fields(c[3]), api.asked)
		})
	}
}

// TestFamilyTrouble: an endpoint that fails is no endpoint without rows. One that answers 404 has
// no rows, but when all do and no filter has chosen them, there is no such table.
func TestFamilyTrouble(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/families.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			var failing []string
			for failure := range strings.FieldsSeq(c[3]) {
				at := strings.LastIndex(failure, "=")
				failing = append(failing, failure[:at], failure[at+1:])
			}
			api, tables := family(failing...), declared("family")
			tables[0].Path = c[1]
			answer, said, err := query(t, tables, api, wire.QueryRequest{
				Table: "children", Fields: []string{"id"}, Where: whereOf(t, c[2])})
			if err != nil {
				require.NotRegexp(t, `^\d*$`, c[4], "%s", err)
				saysAll(t, c[4], err, said)
			} else {
				assert.Equal(t, c[4], strconv.Itoa(len(answer.Column("id"))))
			}
			asked := api.takeAsked()
			slices.Sort(asked)
			assert.Equal(t, slices.Compact(slices.Clone(asked)), asked, "no address is asked twice")
		})
	}
}

// TestDiscoveredFamily: discovery asks for each first page once, and takes the first parent for all.
func TestDiscoveredFamily(t *testing.T) {
	for _, c := range []struct {
		fail             []string
		tables, warnings []string
		asked            []string // without the controls
	}{
		{nil, []string{"children", "parents"}, nil, []string{"/parents", "/parents/a%2F1/children",
			"/parents/a%2F1/children?after=n", "/parents/a%2F1/children", "/parents/a%2F1/children?after=n"}},
		{[]string{"/parents/a%2F1/children", "404"}, []string{"children", "parents"}, nil, []string{"/parents", "/parents/a%2F1/children"}},
		{[]string{"/parents/a%2F1/children", "403"}, []string{"parents"},
			[]string{`Table "children" is left out: these credentials may not read it.`}, []string{"/parents", "/parents/a%2F1/children"}},
	} {
		api := family(c.fail...)
		tenant, _ := connect(t, shopAPI, declared("family"), restsource.Options{Transport: api})
		assert.Equal(t, c.tables, namesOf(testkit.Must(tenant.Discover())(t)))
		controls := func(address string) bool { return strings.Contains(address, "kind=") }
		assert.Equal(t, c.asked, slices.DeleteFunc(api.takeAsked(), controls))
	}
}

// TestDiscoveredOrphans: where there is no parent yet, the child table is described all
// the same. A text that is long is no sample.
func TestDiscoveredOrphans(t *testing.T) {
	long := strings.Repeat("x", 100)
	for rows, samples := range map[string]int{`[]`: 0, `[{"id": "` + long + `"}, {"id": "` + long + `y"}]`: 1} {
		api := atPlaces("/parents", `{"rows": `+rows+`}`, "", "none")
		found := testkit.Must(serve(t, shopAPI, declared("family"), api).Discover())(t)
		require.Len(t, found.Tables, 2)
		assert.Len(t, found.Tables[1].Fields[0].Samples, samples)
	}
}

// TestLeft: when a query of a child table ends before its last row, the requests that
// are under way end before the query does.
func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, ended atomic.Int32
		api := family()
		src := testkit.Must(restsource.New(shopAPI, declared("family"), &restsource.Options{Concurrency: 3,
			Transport: testkit.Transport(func(r *http.Request) (*http.Response, error) {
				if !strings.Contains(r.URL.Path, "/b/") {
					time.Sleep(time.Second) // the others have begun by then
					return api.RoundTrip(r)
				}
				running.Add(1)
				defer running.Add(-1)
				<-r.Context().Done()
				time.Sleep(time.Second)
				return nil, r.Context().Err()
			})}))(t)
		opts := connectors.Quiet()
		opts.Intercept = func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
			err := next(ctx)
			if call.Method == "Query" {
				ended.Add(1)
				assert.Zero(t, running.Load())
			}
			return err
		}
		tenant := connectortest.Start(t, shopDefinition, src, opts).As(shopCredentials).Unverified()
		testkit.Must(tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id"}, Limit: 1}))(t)
		time.Sleep(3 * time.Second)
		assert.EqualValues(t, 1, ended.Load())
	})
}

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
	assert.Len(t, testkit.Must(tenant.Discover())(t).Tables, 4)
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
