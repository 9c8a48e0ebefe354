package shrink

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var orders = Table{Key: []string{"id"}, Columns: []wire.Column{
	{Name: "id", Type: wire.TypeNumber}, {Name: "status", Type: wire.TypeString}, {Name: "total", Type: wire.TypeDecimal},
	{Name: "placed_at", Type: wire.TypeDatetime}, {Name: "customer", Type: wire.TypeNumber},
}}

const where = `"and":[{"field":"customer","op":"gt","value":2},{"field":"total","op":"lt","value":"12.50"}],` +
	`"or":[[{"field":"id","op":"gt","value":3},{"field":"status","op":"isnull"}],[{"field":"status","op":"notnull"}],` +
	`[{"field":"id","op":"eq","value":4}]],"fieldTypes":{"total":"string"}`

const bulky = `{"table":"orders",` + where + `,"fields":["status","total","id","placed_at","customer"],"limit":9,"offset":5,` +
	`"sort":[{"field":"status","dir":"desc","collate":true},{"field":"placed_at","dir":"desc"},{"field":"id","dir":"asc"}]`

// requests have something of everything. The second hop of joined begins at the first.
var requests = map[string]string{
	"bulky": bulky + "}",
	"joined": bulky + `,"joins":[{"fromTable":"orders","fromField":"customer","toTable":"customers","toField":"id",` +
		`"fields":[{"field":"name","as":"h1_0"},{"field":"city","as":"h1_1"}]},{"fromTable":"customers","fromField":"city",` +
		`"toTable":"cities","toField":"id","fields":[{"field":"name","as":"h2_0"},{"field":"area","as":"h2_1"}]}]}`,
	"folded": `{"table":"orders",` + where + `,"groupBy":[{"field":"status","as":"s"},{"field":"placed_at","as":"g","grain":"month"}],` +
		`"measures":[{"fn":"count","as":"a"},{"fn":"sum","field":"total","as":"b"},{"fn":"min","field":"id","as":"c"}],` +
		`"stringFields":["status"]}`,
	"counted": `{"table":"orders",` + where + `}`,
}

// requestOf returns a request, with a filter more unless that is "-".
func requestOf(t *testing.T, name, filter string) wire.Request {
	t.Helper()
	made := map[string]wire.Request{"folded": new(wire.AggregateRequest), "counted": new(wire.CountRequest)}[name]
	if made == nil {
		made = new(wire.QueryRequest)
	}
	text := requests[name]
	if filter != "-" {
		text = strings.Replace(text, `}],"or":`, "},"+filter+`],"or":`, 1)
	}
	cells.Decode(t, text, made)
	return made
}

// TestRequest requires that what is left of a request is what the fault needs.
func TestRequest(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/requests.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			var needed []*regexp.Regexp
			for pattern := range strings.FieldsSeq(c[2]) {
				needed = append(needed, regexp.MustCompile(pattern))
			}
			req := requestOf(t, c[0], c[1])
			before, asked := Body(req), 0
			small := Request(t.Context(), req, orders, func(m wire.Request) bool {
				asked++
				return !slices.ContainsFunc(needed, func(r *regexp.Regexp) bool { return !r.MatchString(Body(m)) })
			})
			require.Contains(t, Body(small), c[3]+`,`)
			require.Equal(t, before, Body(req), "the original stays as it was")
			require.Less(t, asked, MaxRequests)
			require.Less(t, Size(small), Size(req))
		})
	}
}

// TestGrained requires that a grain stays where its column makes no settled groups without it.
func TestGrained(t *testing.T) {
	req := &wire.AggregateRequest{Table: "orders", GroupBy: []wire.GroupKey{{Field: "placed_at", As: "g", Grain: wire.GrainMonth}}}
	table := orders
	require.Len(t, slices.Collect(Simpler(req, table)), 1)
	table.Grained = []string{"placed_at"}
	require.Empty(t, slices.Collect(Simpler(req, table)))
}

// TestBounded requires that no more requests are sent than the limit, and none when the run ends.
func TestBounded(t *testing.T) {
	req := requestOf(t, "bulky", "-").(*wire.QueryRequest)
	for i := range int64(400) {
		req.And = append(req.And, wire.Filter{Field: "id", Op: wire.OpIn, Values: []wire.Value{wire.Int(i)}})
	}
	asked := 0
	small := Request(t.Context(), req, orders, func(wire.Request) bool { asked++; return false })
	require.Equal(t, MaxRequests, asked)
	require.Same(t, req, small, "nothing smaller is wrong, so the request stays")

	ctx, cancel := context.WithCancel(t.Context())
	asked = 0
	small = Request(ctx, req, orders, func(wire.Request) bool { asked++; cancel(); return true })
	require.Equal(t, 1, asked, "an interrupted run asks nothing more")
	require.Same(t, req, small)
}
