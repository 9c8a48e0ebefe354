package connector_test

import (
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var pushColumns = []wire.Column{
	{Name: "status", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal}, {Name: "paid", Type: wire.TypeBoolean},
	{Name: "at", Type: wire.TypeDatetime}, {Name: "day", Type: wire.TypeDate}, {Name: "code"},
	{Name: "price", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString}, {Name: "tags", Type: wire.TypeArray},
	{Name: "late", Type: wire.TypeDatetime},
}

// pushShop has parameters, conditions of which there may be any number, and one
// declaration of a field that does not exist.
var pushShop = connector.Pushdown{
	Columns: pushColumns,
	Filters: []connector.PushFilter{
		{Field: "status", Op: wire.OpIn, Param: "status", Exact: true},
		{Field: "status", Op: wire.OpIncludes, Param: "q"},
		{Field: "amount", Op: wire.OpGte, Param: "min", Exact: true},
		{Field: "amount", Op: wire.OpEq, Param: "amount", Exact: true},
		{Field: "paid", Op: wire.OpEq, Param: "paid", Exact: true},
		{Field: "paid", Op: wire.OpIsNull, Param: "unknown", Exact: true},
		{Field: "at", Op: wire.OpLte, Exact: true},
		{Field: "at", Op: wire.OpGte, Exact: true},
		{Field: "day", Op: wire.OpGt, Param: "after", Exact: true},
		{Field: "day", Op: wire.OpIncludes, Param: "month", Exact: true},
		{Field: "code", Op: wire.OpEq, Param: "code", Exact: true,
			Spell: func(f wire.Filter) ([]string, bool) { return []string{f.Value.Text()}, f.Value.Text() != "" }},
		{Field: "none", Op: wire.OpEq, Param: "none", Exact: true},
		{Field: "price", Op: wire.OpGte, Param: "from", Exact: true}, // behind it, what narrows more
		{Field: "price", Op: wire.OpGt, Param: "above", Exact: true},
		{Field: "price", Op: wire.OpLte, Param: "to", Exact: true},
		{Field: "price", Op: wire.OpIn, Exact: true},
		{Field: "price", Op: wire.OpEq, Exact: true},
		{Field: "name", Op: wire.OpIncludes, Param: "part", Exact: true},
		{Field: "name", Op: wire.OpStartsWith, Param: "prefix", Exact: true},
		{Field: "tags", Op: wire.OpContains, Param: "tag", Exact: true},
		{Field: "late", Op: wire.OpGte, Param: "late", Exact: true,
			Spell: func(f wire.Filter) ([]string, bool) {
				return []string{"May"}, f.Value.String() == "2024-05-01T00:00:00Z"
			}},
	},
	Sorts: []wire.SortKey{{Field: "at", Dir: wire.Desc}, {Field: "status"}},
}

// TestPushdown pushes what testdata/pushdown.tsv asks.
func TestPushdown(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/pushdown.tsv", 5) {
		why, more, served := c[0], c[1], c[4]
		if !strings.Contains(more, `"sort"`) {
			more += `,"sort":[]`
		}
		var req wire.QueryRequest
		require.NoError(t, wire.Decode([]byte(query(more+`,"fields":[]`)), &req), why)
		params := testkit.Must(url.ParseQuery(c[2]))(t, why)
		p := pushShop.Push(req.Where, req.Sort)
		assert.Equal(t, params, p.Params, why)
		assert.Equal(t, c[3], itoa(len(p.Filters)), why)
		require.Len(t, p.Declared, len(p.Filters), why)
		for i, f := range p.Filters {
			declared := pushShop.Filters[p.Declared[i]]
			assert.Equal(t, []any{declared.Field, declared.Op}, []any{f.Field, f.Op}, why)
			assert.Equal(t, declared.Param != "", params.Has(declared.Param), why)
		}
		sorted := strings.Contains(served, "sort")
		assert.Equal(t, connector.Applied{Filters: strings.Contains(served, "filters"), Sort: sorted}, p.Served, why)
		if sorted && len(req.Sort) > 0 {
			assert.Equal(t, &req.Sort[0], p.Sort, why)
		} else {
			assert.Nil(t, p.Sort, why)
		}
	}
	p := pushShop.Push(wire.Where{And: []wire.Filter{cells.Filter("status", wire.OpEq, wire.Invalid("no"))}}, nil)
	assert.Equal(t, connector.Pushed{Params: url.Values{}, Served: connector.Applied{Sort: true}}, p,
		"an operand without a spelling")
}

// TestPushdownKeepsTheAnswer checks generated requests: the upstream loses no row,
// and leaves none too many if the filters are served.
func TestPushdownKeepsTheAnswer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cells := map[string][]wire.Value{
		"status": {wire.Text("open"), wire.Text("paid"), wire.Text(""), wire.Null()},
		"amount": {wire.Decimal("1.5"), wire.Decimal("1.50"), wire.Decimal("-2"), wire.Null()},
		"paid":   {wire.Bool(true), wire.Bool(false), wire.Null()},
		"at":     {wire.Text("2024-05-01T00:00:00Z"), wire.Text("2024-05-01T02:00:00+02:00"), wire.Text("2024-05-01T10:00:00Z"), wire.Null()},
		"day":    {wire.Text("2024-05-01"), wire.Text("2024-05-02"), wire.Null()},
		"code":   {wire.Text("7"), wire.Int(7), wire.Text("7.0"), wire.Text(""), wire.Null()},
		"price":  {wire.Int(1), wire.Int(2), wire.Float(1.5), wire.Null()},
		"name":   {wire.Text("a"), wire.Text("ab"), wire.Text("ba"), wire.Null()},
		"tags":   {wire.JSON(`["a"]`), wire.JSON(`["a","b"]`), wire.JSON(`[]`), wire.Null()},
		"late":   {wire.Text("2024-05-01T00:00:00Z"), wire.Text("2024-05-01T10:00:00Z"), wire.Null()},
	}
	filterOf := func() wire.Filter {
		field := one(random, pushColumns...).Name
		return randomFilter(random, field, filter.Operators(), func() wire.Value {
			if random.IntN(4) == 0 {
				return one(random, cells["at"]...)
			}
			return one(random, cells[field]...)
		})
	}
	served, narrowed := 0, 0
	for range 3000 {
		var where wire.Where
		for range 1 + random.IntN(2) {
			where.And = append(where.And, filterOf())
		}
		for range random.IntN(8) / 6 {
			where.Or = append(where.Or, []wire.Filter{filterOf()})
		}
		p := pushShop.Push(where, nil)
		upstream := testkit.Must(filter.Compile(wire.Where{And: p.Filters}, pushColumns))(t)
		whole := testkit.Must(filter.Compile(where, pushColumns))(t)
		for range 20 {
			row := make([]wire.Value, len(pushColumns))
			for i, c := range pushColumns {
				row[i] = one(random, cells[c.Name]...)
			}
			kept := testkit.Must(upstream.Match(row))(t)
			wanted := testkit.Must(whole.Match(row))(t)
			switch {
			case !kept:
				narrowed++
				require.False(t, wanted, "a row was lost: %v", where)
			case p.Served.Filters:
				served++
				require.True(t, wanted, "served, and not filtered: %v", where)
			}
		}
	}
	assert.Greater(t, served, 200)
	assert.Greater(t, narrowed, 2000)
}
