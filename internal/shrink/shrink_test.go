package shrink

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

var orders = Table{Key: []string{"id"}, Columns: []wire.Column{
	{Name: "id", Type: wire.TypeNumber}, {Name: "status", Type: wire.TypeString}, {Name: "total", Type: wire.TypeDecimal},
	{Name: "placed_at", Type: wire.TypeDatetime}, {Name: "customer", Type: wire.TypeNumber},
}}

func is(field string, op wire.Op, value wire.Value, values ...wire.Value) wire.Filter {
	return wire.Filter{Field: field, Op: op, Value: value, Values: values}
}

var (
	null    = wire.Null()
	isNull  = is("status", wire.OpIsNull, null)
	notNull = is("status", wire.OpNotNull, null)
)

// bulky returns a query with something of everything, and further filters.
func bulky(and ...wire.Filter) *wire.QueryRequest {
	return &wire.QueryRequest{
		Table: "orders", Fields: []string{"status", "total", "id", "placed_at", "customer"}, Limit: 9, Offset: 5,
		Where: wire.Where{
			And:        append([]wire.Filter{is("customer", wire.OpGt, wire.Int(2)), is("total", wire.OpLt, wire.Text("12.50"))}, and...),
			Or:         [][]wire.Filter{{is("id", wire.OpGt, wire.Int(3)), isNull}, {notNull}, {is("id", wire.OpEq, wire.Int(4))}},
			FieldTypes: map[string]wire.Type{"total": wire.TypeString},
		},
		Sort: []wire.SortKey{
			{Field: "status", Dir: wire.Desc, Collate: true}, {Field: "placed_at", Dir: wire.Desc}, {Field: "id", Dir: wire.Asc},
		},
	}
}

// joined returns the same with two hops, of which the second begins at the first.
func joined() *wire.QueryRequest {
	req := bulky()
	req.Joins = []wire.JoinHop{
		{FromTable: "orders", FromField: "customer", ToTable: "customers", ToField: "id",
			Fields: []wire.JoinField{{Field: "name", As: "h1_0"}, {Field: "city", As: "h1_1"}}},
		{FromTable: "customers", FromField: "city", ToTable: "cities", ToField: "id",
			Fields: []wire.JoinField{{Field: "name", As: "h2_0"}, {Field: "area", As: "h2_1"}}},
	}
	return req
}

func asks(m wire.Request, f wire.Filter) bool {
	q := partsOf(m, orders)
	return slices.ContainsFunc(slices.Collect(q.Filters()), func(o wire.Filter) bool { return o.Field == f.Field && o.Op == f.Op })
}

// TestRequest requires that what is left of a request is what the fault needs.
func TestRequest(t *testing.T) {
	month := wire.GroupKey{Field: "placed_at", As: "g", Grain: wire.GrainMonth}
	folded := func(groups ...wire.GroupKey) *wire.AggregateRequest {
		return &wire.AggregateRequest{
			Table: "orders", Where: bulky().Where, GroupBy: groups, StringFields: []string{"status"}, Limit: wire.AggregateLimit,
			Measures: []wire.Measure{{Fn: wire.AggCount, As: "a"}, {Fn: wire.AggSum, Field: "total", As: "b"},
				{Fn: wire.AggMin, Field: "id", As: "c"}},
		}
	}
	query := func(m wire.Request) *wire.QueryRequest { return m.(*wire.QueryRequest) }
	fold := func(m wire.Request) *wire.AggregateRequest { return m.(*wire.AggregateRequest) }
	cases := []struct {
		why   string
		req   wire.Request
		wrong func(wire.Request) bool
		want  string
	}{
		{
			"a fault of one filter leaves that filter alone, moved out of its group", bulky(),
			func(m wire.Request) bool { return asks(m, isNull) },
			`{"table":"orders","and":[{"field":"status","op":"isnull"}],"sort":[],"fields":["status"]`,
		},
		{
			"a fault that needs two groups keeps two", bulky(),
			func(m wire.Request) bool { return len(query(m).Or) > 1 && asks(m, isNull) && asks(m, notNull) },
			`{"table":"orders","and":[],"or":[[{"field":"status","op":"isnull"}],[{"field":"status","op":"notnull"}]],"sort":[],"fields":["status"]`,
		},
		{
			"a list is cut to the members that matter",
			bulky(is("customer", wire.OpIn, null, wire.Int(1), wire.Int(2), null, wire.Int(3), wire.Int(4))),
			func(m wire.Request) bool {
				return slices.ContainsFunc(query(m).And, func(f wire.Filter) bool {
					return slices.Contains(f.Values, null) && slices.Contains(f.Values, wire.Int(4))
				})
			},
			`{"table":"orders","and":[{"field":"customer","op":"in","values":[null,4]}],"sort":[],"fields":["customer"]`,
		},
		{
			"a text is shortened", bulky(is("status", wire.OpIncludes, wire.Text("abcdefghi"))),
			func(m wire.Request) bool {
				return slices.ContainsFunc(query(m).And, func(f wire.Filter) bool { return f.Op == wire.OpIncludes && len(f.Value.String()) > 3 })
			},
			`{"table":"orders","and":[{"field":"status","op":"includes","value":"abcd"}],"sort":[],"fields":["status"]`,
		},
		{
			"a decimal is not, since a shorter one may mean something else", bulky(),
			func(m wire.Request) bool { return asks(m, is("total", wire.OpLt, null)) },
			`{"table":"orders","and":[{"field":"total","op":"lt","value":"12.50"}],"sort":[],"fields":["total"]`,
		},
		{
			"a fault of the window keeps a small window", bulky(),
			func(m wire.Request) bool { return query(m).Offset > 0 && query(m).Limit > 0 },
			`{"table":"orders","and":[],"sort":[],"fields":["id"],"limit":1,"offset":1`,
		},
		{
			"a fault of the second key keeps two, ascending", bulky(),
			func(m wire.Request) bool { return len(query(m).Sort) > 1 },
			`{"table":"orders","and":[],"sort":[{"field":"placed_at","dir":"asc"},{"field":"id","dir":"asc"}],"fields":["id","placed_at"]`,
		},
		{
			"a fault of a column of a hop keeps the hop, and the key of the row", joined(),
			func(m wire.Request) bool {
				return slices.ContainsFunc(query(m).Joins, func(j wire.JoinHop) bool {
					return j.ToTable == "customers" && slices.ContainsFunc(j.Fields, func(f wire.JoinField) bool { return f.Field == "city" })
				})
			},
			`{"table":"orders","and":[],"sort":[],"fields":["id"],"joins":[{"fromTable":"orders","toTable":"customers",` +
				`"fromField":"customer","toField":"id","fields":[{"field":"city","as":"h1_1"}]}]`,
		},
		{
			"a hop at which another begins stays", joined(),
			func(m wire.Request) bool {
				return slices.ContainsFunc(query(m).Joins, func(j wire.JoinHop) bool { return j.ToTable == "cities" })
			},
			`{"table":"orders","and":[],"sort":[],"fields":["id"],"joins":[{"fromTable":"orders","toTable":"customers","fromField":"customer",` +
				`"toField":"id","fields":[]},{"fromTable":"customers","toTable":"cities","fromField":"city","toField":"id","fields":[]}]`,
		},
		{
			"a fault of one measure keeps it, without groups", folded(month),
			func(m wire.Request) bool {
				return slices.ContainsFunc(fold(m).Measures, func(m wire.Measure) bool { return m.Fn == wire.AggSum })
			},
			`{"table":"orders","and":[],"groupBy":[],"measures":[{"fn":"sum","field":"total","as":"b"}]`,
		},
		{
			"a fault of a grain keeps it", folded(wire.GroupKey{Field: "status", As: "s"}, month),
			func(m wire.Request) bool { return slices.Contains(fold(m).GroupBy, month) },
			`{"table":"orders","and":[],"groupBy":[{"field":"placed_at","as":"g","grain":"month"}],"measures":[]`,
		},
		{
			"a count keeps the filter", &wire.CountRequest{Table: "orders", Where: bulky().Where},
			func(m wire.Request) bool { return asks(m, isNull) },
			`{"table":"orders","and":[{"field":"status","op":"isnull"}]`,
		},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			before, asked := body(c.req), 0
			small := Request(t.Context(), c.req, orders, func(m wire.Request) bool {
				asked++
				return c.wrong(m)
			})
			require.Contains(t, body(small), c.want+`,`)
			require.Equal(t, before, body(c.req), "the original stays as it was")
			require.Less(t, asked, MaxRequests)
			require.Less(t, Size(small), Size(c.req))
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
	req := bulky()
	for i := range int64(400) {
		req.And = append(req.And, is("id", wire.OpIn, null, wire.Int(i)))
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
