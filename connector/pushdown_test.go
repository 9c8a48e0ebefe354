package connector_test

import (
	"math/rand/v2"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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

// cond is short for the rows of a table.
var cond = testkit.Filter

func TestPushdown(t *testing.T) {
	text, texts := wire.Text, func(all ...string) (values []wire.Value) {
		for _, s := range all {
			values = append(values, wire.Text(s))
		}
		return values
	}
	eq := func(field, value string) wire.Filter {
		return cond(field, wire.OpEq, text(value))
	}
	for _, c := range []struct {
		why    string
		and    []wire.Filter
		or     [][]wire.Filter
		params url.Values
		pushed int
		served bool
	}{
		{"nothing asked: everything is served", nil, nil, url.Values{}, 0, true},
		{"an eq is an in of one value", []wire.Filter{eq("status", "open")}, nil, url.Values{"status": {"open"}}, 1, true},
		{"several values", []wire.Filter{cond("status", wire.OpIn, append(texts("open", "paid"), wire.Null())...)}, nil,
			url.Values{"status": {"open", "paid"}}, 1, true},
		{"no value at all", []wire.Filter{cond("status", wire.OpIn, wire.Null())}, nil, url.Values{}, 0, false},
		{"an in of one value is an eq", []wire.Filter{cond("amount", wire.OpIn, texts("1.50")...)}, nil,
			url.Values{"amount": {"1.50"}}, 1, true},
		{"an in of two is no eq", []wire.Filter{cond("amount", wire.OpIn, texts("1.50", "2")...)}, nil, url.Values{}, 0, false},
		{"a parameter takes one condition", []wire.Filter{eq("status", "open"), eq("status", "paid")}, nil,
			url.Values{"status": {"open"}}, 1, false},
		{"gt narrows as gte, and is not served", []wire.Filter{cond("amount", wire.OpGt, wire.Int(3))}, nil,
			url.Values{"min": {"3"}}, 1, false},
		{"gte itself is served", []wire.Filter{cond("amount", wire.OpGte, wire.Int(3))}, nil, url.Values{"min": {"3"}}, 1, true},
		{"what is not exact is not served", []wire.Filter{cond("status", wire.OpIncludes, text("op"))}, nil,
			url.Values{"q": {"op"}}, 1, false},
		{"startswith narrows as includes", []wire.Filter{cond("status", wire.OpStartsWith, text("op"))}, nil,
			url.Values{"q": {"op"}}, 1, false},
		{"an operator without a declaration", []wire.Filter{cond("amount", wire.OpLt, wire.Int(3))}, nil, url.Values{}, 0, false},
		{"null is never compared", []wire.Filter{cond("amount", wire.OpGte, wire.Null())}, nil, url.Values{}, 0, false},
		{"text in a column of numbers", []wire.Filter{eq("amount", "n/a")}, nil, url.Values{}, 0, false},
		{"text in a column of booleans", []wire.Filter{eq("paid", "1")}, nil, url.Values{}, 0, false},
		{"a boolean", []wire.Filter{cond("paid", wire.OpEq, wire.Bool(true))}, nil, url.Values{"paid": {"true"}}, 1, true},
		{"no operand", []wire.Filter{cond("paid", wire.OpIsNull)}, nil, url.Values{"unknown": {""}}, 1, true},
		{"conditions without a parameter", []wire.Filter{
			cond("at", wire.OpGte, text("2024-05-01")), cond("at", wire.OpGte, text("2024-06-01")),
			cond("at", wire.OpLte, text("2024-07-01"))}, nil, url.Values{}, 3, true},
		{"text in a column of dates", []wire.Filter{cond("at", wire.OpGte, text("May"))}, nil, url.Values{}, 0, false},
		{"a day", []wire.Filter{cond("day", wire.OpGt, text("2024-05-01T00:00:00Z"))}, nil,
			url.Values{"after": {"2024-05-01"}}, 1, true},
		{"a day that a spelling would cut", []wire.Filter{cond("day", wire.OpGt, text("2024-05-01T10:00:00Z"))}, nil,
			url.Values{}, 0, false},
		{"Spell accepts", []wire.Filter{eq("code", "7")}, nil, url.Values{"code": {"7"}}, 1, true},
		{"Spell refuses", []wire.Filter{eq("code", "")}, nil, url.Values{}, 0, false},
		{"a field that the table has not", []wire.Filter{eq("none", "a")}, nil, url.Values{}, 0, false},
		{"or is the library's", []wire.Filter{eq("status", "open")}, [][]wire.Filter{{eq("status", "paid")}, {eq("code", "7")}},
			url.Values{"status": {"open"}}, 1, false},
		{"or alone pushes nothing", nil, [][]wire.Filter{{eq("status", "paid")}, {cond("code", wire.OpIncludes, text("7"))}},
			url.Values{}, 0, false},
		{"an empty group beside an unknown field", nil, [][]wire.Filter{{}, {eq("nosuch", "paid")}}, url.Values{}, 0, false},
		{"empty groups alone", nil, [][]wire.Filter{{}, {}}, url.Values{}, 0, true},
		{"an empty group makes nothing served that is not", []wire.Filter{eq("none", "a")}, [][]wire.Filter{{}}, url.Values{}, 0, false},
		{"an operator of its own before a wider one", []wire.Filter{cond("price", wire.OpGt, wire.Int(3))}, nil,
			url.Values{"above": {"3"}}, 1, true},
		{"lt narrows as lte, and is not served", []wire.Filter{cond("price", wire.OpLt, wire.Int(3))}, nil,
			url.Values{"to": {"3"}}, 1, false},
		{"gt is no gte: it loses the equal rows", []wire.Filter{cond("day", wire.OpGte, text("2024-05-01"))}, nil, url.Values{}, 0, false},
		{"a part of the text is not how it begins", []wire.Filter{cond("name", wire.OpIncludes, text("a"))}, nil,
			url.Values{"part": {"a"}}, 1, true},
		{"startswith of its own", []wire.Filter{cond("name", wire.OpStartsWith, text("a"))}, nil,
			url.Values{"prefix": {"a"}}, 1, true},
		{"an element of a list", []wire.Filter{cond("tags", wire.OpContains, text("red"))}, nil,
			url.Values{"tag": {"red"}}, 1, true},
		{"a null element", []wire.Filter{cond("tags", wire.OpContains, wire.Null())}, nil, url.Values{}, 0, false},
		{"a null part", []wire.Filter{cond("name", wire.OpIncludes, wire.Null())}, nil, url.Values{}, 0, false},
		{"a part of a date is no date", []wire.Filter{cond("day", wire.OpIncludes, text("2024-05"))}, nil,
			url.Values{"month": {"2024-05"}}, 1, true},
		{"false is a boolean too", []wire.Filter{cond("paid", wire.OpEq, wire.Bool(false))}, nil,
			url.Values{"paid": {"false"}}, 1, true},
		{"an operand without a spelling", []wire.Filter{cond("status", wire.OpEq, wire.Invalid("no"))}, nil,
			url.Values{}, 0, false},
		{"a time that has no year in UTC", []wire.Filter{cond("late", wire.OpGte, text("9999-12-31T23:59:59-01:00"))}, nil,
			url.Values{}, 0, false},
		{"Spell sees what would be pushed, and spells it", []wire.Filter{cond("late", wire.OpGte, text("2024-05-01T02:00:00+02:00"))}, nil,
			url.Values{"late": {"May"}}, 1, true},
	} {
		p := pushShop.Push(wire.Where{And: c.and, Or: c.or}, nil)
		assert.Equal(t, c.params, p.Params, c.why)
		assert.Len(t, p.Filters, c.pushed, c.why)
		require.Len(t, p.Declared, c.pushed, c.why)
		for i, f := range p.Filters {
			declared := pushShop.Filters[p.Declared[i]]
			assert.Equal(t, []any{declared.Field, declared.Op}, []any{f.Field, f.Op}, c.why)
			assert.Equal(t, declared.Param != "", c.params.Has(declared.Param), c.why)
		}
		assert.Equal(t, connector.Applied{Filters: c.served, Sort: true}, p.Served, c.why)
		assert.Nil(t, p.Sort, c.why)
	}
}

// TestPushdownFieldTypes checks that a column without a type has the one that the
// request states.
func TestPushdownFieldTypes(t *testing.T) {
	f := cond("code", wire.OpEq, wire.Text("7a"))
	for typ, pushed := range map[wire.Type]int{"": 1, wire.TypeString: 1, wire.TypeNumber: 0} {
		p := pushShop.Push(wire.Where{And: []wire.Filter{f}, FieldTypes: map[string]wire.Type{"code": typ}}, nil)
		assert.Len(t, p.Filters, pushed, typ)
	}
}

// TestPushdownSort checks that one declared key is served, in the declared
// direction.
func TestPushdownSort(t *testing.T) {
	key := func(field string, dir wire.Direction) wire.SortKey { return wire.SortKey{Field: field, Dir: dir} }
	for _, c := range []struct {
		sort   []wire.SortKey
		served bool
	}{
		{[]wire.SortKey{key("at", wire.Desc)}, true},
		{[]wire.SortKey{key("at", wire.Asc)}, false},
		{[]wire.SortKey{key("status", wire.Asc)}, true},
		{[]wire.SortKey{key("status", wire.Desc)}, true},
		{[]wire.SortKey{key("status", wire.Asc), key("at", wire.Desc)}, false},
		{[]wire.SortKey{key("amount", wire.Asc)}, false},
	} {
		p := pushShop.Push(wire.Where{}, c.sort)
		assert.Equal(t, connector.Applied{Filters: true, Sort: c.served}, p.Served, c.sort)
		if c.served {
			require.NotNil(t, p.Sort, c.sort)
			assert.Equal(t, c.sort[0], *p.Sort)
		} else {
			assert.Nil(t, p.Sort, c.sort)
		}
	}
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
	pick := func(values []wire.Value) wire.Value { return values[random.IntN(len(values))] }
	one := func() wire.Filter {
		f := wire.Filter{Field: pushColumns[random.IntN(len(pushColumns))].Name}
		f.Op = filter.Operators()[random.IntN(len(filter.Operators()))]
		switch terms.ShapeOf(f.Op) {
		case terms.ShapeValue:
			f.Value = pick(cells[f.Field])
			if random.IntN(4) == 0 {
				f.Value = pick(cells["at"])
			}
		case terms.ShapeMember:
			for range random.IntN(3) {
				f.Values = append(f.Values, pick(cells[f.Field]))
			}
		}
		return f
	}
	served, narrowed := 0, 0
	for range 3000 {
		var where wire.Where
		for range 1 + random.IntN(2) {
			where.And = append(where.And, one())
		}
		for range random.IntN(8) / 6 {
			where.Or = append(where.Or, []wire.Filter{one()})
		}
		p := pushShop.Push(where, nil)
		upstream := testkit.Must(filter.Compile(wire.Where{And: p.Filters}, pushColumns))(t)
		whole := testkit.Must(filter.Compile(where, pushColumns))(t)
		for range 20 {
			row := make([]wire.Value, len(pushColumns))
			for i, c := range pushColumns {
				row[i] = pick(cells[c.Name])
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
