package corpus

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// largeReads reads from the table large beyond its ten-thousandth row.
func largeReads() []Case {
	byID := []wire.SortKey{{Field: "id", Dir: wire.Asc}}
	down := []wire.SortKey{{Field: "id", Dir: wire.Desc}}
	window := func(name, check string, sort []wire.SortKey, limit, offset int64, ids []int64) Case {
		const why = "A window that reaches beyond the ten-thousandth row."
		c := idCase(name, check, "query-15", why, "large", wire.Where{}, ids...)
		r := c.Request.(*wire.QueryRequest)
		r.Sort, r.Limit, r.Offset = sort, limit, offset
		return c
	}
	last := wire.Text("row 12345")
	return []Case{
		window("limit-eleven-thousand", "P2.7a", byID, 11_000, 0, span(1, 11_000)),
		window("offset-twelve-thousand", "P2.7b", byID, 5, 12_000, span(12_001, 12_005)),
		window("offset-down-twelve-thousand", "P2.7b", down, 1, 12_344, span(1, 1)),
		window("limit-beyond-large", "P2.7c", byID, 20_000, 12_340, span(12_341, largeRows)),
		window("offset-alone-large", "P2.7e", byID, 0, 12_300, span(12_301, largeRows)),
		idCase("eq-large-last", "P2.3a", "filter-7", "The row stands behind ten thousand others.", "large",
			and(where("name", wire.OpEq, last)), largeRows),
		idCase("gt-large", "P2.3c", "filter-6", "The rows stand behind ten thousand others.", "large",
			and(where("id", wire.OpGt, wire.Int(12_300))), span(12_301, largeRows)...),
		idCase("neq-large", "P2.3b", "filter-7", "More than ten thousand rows are left.", "large",
			and(where("grp", wire.OpNeq, largeGroup(0))), notDividedBy(largeGroups)...),
	}
}

// notDividedBy returns the ids of the table large that n does not divide.
func notDividedBy(n int64) (ids []int64) {
	for _, id := range span(1, largeRows) {
		if id%n != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// largeNumbers asks for counts, groups and measurements of the table large.
func largeNumbers() []Case {
	groups := make([][]wire.Value, largeGroups)
	for i := range int64(largeGroups) {
		rows := (largeRows-i)/largeGroups + 1
		if i == 0 {
			rows-- // there is no row 0
		}
		groups[i] = []wire.Value{largeGroup(i), wire.Int(rows)}
	}
	const withNext, orphans = largeRows - largeRows/5, (largeRows - largeRows/2) - (largeRows/5 - largeRows/10)
	link := &wire.LinkHitRate{FromNonNull: withNext, OrphanCount: orphans, OrphanRate: float64(orphans) / withNext}
	for id := int64(largeRows/2 + 1); len(link.OrphanSamples) < terms.MaxOrphanSamples; id++ {
		if id%5 != 0 {
			link.OrphanSamples = append(link.OrphanSamples, wire.Int(2*id).String())
		}
	}
	const more = "More rows than ten thousand."
	measured := func(name, check, rule, why string, fn wire.AggFunc, field string, v wire.Value) Case {
		measures := []wire.Measure{{Fn: fn, Field: field, As: "n"}}
		return foldCase(name, check, rule, why, wire.AggregateRequest{Table: "large", Measures: measures}, []wire.Value{v})
	}
	size := func(name, check string) Case {
		return Case{
			Name: name, Check: check, Rule: "measure-4", Why: more, Path: wire.PathSize,
			Request: &wire.SizeRequest{Table: "large"}, Answer: Answer{Size: &wire.Size{Rows: largeRows, Exact: true}},
		}
	}
	byGroup := wire.AggregateRequest{
		Table: "large", GroupBy: []wire.GroupKey{{Field: "grp", As: "g"}}, Measures: countOfRows,
	}
	apart := wire.Where{Or: [][]wire.Filter{
		{where("id", wire.OpLt, wire.Int(100))}, {where("id", wire.OpGte, wire.Int(200))},
	}}
	sum := wire.Text(fmt.Sprint(largeRows * (largeRows + 1) / 2))
	return []Case{
		countCase("count-large", "P2.10a", more, "large", wire.Where{}, largeRows),
		countCase("count-large-filter", "P2.10b", more, "large", and(where("id", wire.OpGt, wire.Int(100))), largeRows-100),
		countCase("count-large-or", "P2.10c", more, "large", apart, largeRows-100),
		measured("agg-count-large", "P2.11a", "aggregate-1", more, wire.AggCount, "", wire.Int(largeRows)),
		measured("agg-count-large-next", "P2.11b", "aggregate-1", "Fewer cells than rows, over more than ten thousand.",
			wire.AggCount, "next", wire.Int(withNext)),
		measured("agg-sum-large", "P2.11c", "aggregate-1a", "The rows beyond the ten-thousandth have the largest numbers.",
			wire.AggSum, "id", sum),
		measured("agg-max-large", "P2.11d", "aggregate-1b", "The last row has the greatest number.",
			wire.AggMax, "id", wire.Int(largeRows)),
		measured("agg-distinct-large", "P2.11e", "aggregate-1", "More distinct values than ten thousand.",
			wire.AggCountDistinct, "name", wire.Int(largeRows)),
		foldCase("agg-group-large", "P2.11f", "aggregate-17", "Groups of more rows than ten thousand.", byGroup, groups...),
		size("size-large", "P2.12a"),
		size("size-estimate-large", "P2.12b"),
		{
			Name: "card-large", Check: "P2.13b", Rule: "measure-14", Why: "More distinct values than ten thousand.",
			Path:    wire.PathCardinality,
			Request: &wire.CardinalityRequest{Table: "large", Columns: []string{"name", "grp"}},
			Answer: Answer{Cardinality: map[string]*wire.Cardinality{
				"name": {NonNull: largeRows, Distinct: largeRows},
				"grp":  {NonNull: largeRows, Distinct: largeGroups},
			}},
		},
		{
			Name: "link-large", Check: "P2.14a", Rule: "measure-2", Why: "More keys than ten thousand, on both sides.",
			Path:    wire.PathLinkHitRate,
			Request: &wire.LinkHitRateRequest{FromTable: "large", FromColumn: "next", ToTable: "large", ToColumn: "id"},
			Answer:  Answer{LinkHitRate: link},
		},
	}
}

// manyHops joins a row with targets beyond the ten-thousandth row, and one row with
// six hops to one table.
func manyHops() []Case {
	ids := []wire.Value{wire.Int(5), wire.Int(6001), wire.Int(6172), wire.Int(6173)}
	far := idCase("join-large", "P2.15a", "query-6", "The matches stand behind ten thousand rows.", "large",
		and(wire.Filter{Field: "id", Op: wire.OpIn, Values: ids}))
	far.Request.(*wire.QueryRequest).Joins = []wire.JoinHop{{
		FromTable: "large", ToTable: "large", FromField: "next", ToField: "id",
		Fields: []wire.JoinField{{Field: "name", As: "next_name", Type: wire.TypeString}},
	}}
	far.Answer = Answer{Columns: []string{"id", "next_name"}, Rows: [][]wire.Value{
		{ids[0], wire.Null()}, {ids[1], largeName(12_002)}, {ids[2], largeName(12_344)}, {ids[3], wire.Null()},
	}}

	six := idCase("join-six-hops", "P2.15f", "query-6a", "Each of six hops to one table answers its field.", "orders",
		and(where("id", wire.OpEq, wire.Int(1001))))
	row := []wire.Value{wire.Int(1001)}
	columns := []string{"id"}
	for i, f := range []struct{ field, text string }{
		{"name", "Acme"}, {"email", "acme@example.com"}, {"country", "DE"},
		{"name", "Acme"}, {"country", "DE"}, {"email", "acme@example.com"},
	} {
		as := fmt.Sprintf("%s%d", f.field, i+1)
		r := six.Request.(*wire.QueryRequest)
		r.Joins = append(r.Joins, wire.JoinHop{
			FromTable: "orders", ToTable: "customers", FromField: "customer_id", ToField: "id",
			Fields: []wire.JoinField{{Field: f.field, As: as, Type: wire.TypeString}},
		})
		columns, row = append(columns, as), append(row, wire.Text(f.text))
	}
	six.Answer = Answer{Columns: columns, Rows: [][]wire.Value{row}}
	return []Case{far, six}
}
