package enginetest

import "github.com/connectorsdk/connector-sdk-go/wire"

// The requests of TestRequestPlans are about the tables events, places and visits, which
// have the columns that those of BenchmarkSpeed have.

// filterOf returns a query with one filter.
func filterOf(column string, op wire.Op, value string) *wire.QueryRequest {
	q := events(column)
	q.And = []wire.Filter{{Field: column, Op: op, Value: wire.Text(value)}}
	return q
}

// rangeOf returns a query of the rows from one value on and before another.
func rangeOf(column, from, before string) *wire.QueryRequest {
	q := filterOf(column, wire.OpGte, from)
	q.And = append(q.And, wire.Filter{Field: column, Op: wire.OpLt, Value: wire.Text(before)})
	return q
}

// firstBy returns a query of the first ten rows of a sort.
func firstBy(column string, desc bool) *wire.QueryRequest {
	q := events(column)
	q.Sort, q.Limit = []wire.SortKey{{Field: column, Dir: wire.Asc}}, 10
	if desc {
		q.Sort[0].Dir = wire.Desc
	}
	return q
}

// extremeOf returns an aggregate of one minimum or maximum.
func extremeOf(column string, fn wire.AggFunc) *wire.AggregateRequest {
	return &wire.AggregateRequest{
		Table: "events", Where: wire.Where{And: []wire.Filter{}}, GroupBy: []wire.GroupKey{}, Limit: wire.AggregateLimit,
		Measures: []wire.Measure{{Fn: fn, Field: column, As: "extreme"}},
	}
}

// joinOn returns a query of all visits with their places.
func joinOn(from, to string) *wire.QueryRequest {
	return &wire.QueryRequest{
		Table: "visits", Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}, Fields: []string{"id"},
		Joins: []wire.JoinHop{{
			FromTable: "visits", ToTable: "places", FromField: from, ToField: to, Fields: []wire.JoinField{{Field: to, As: "theirs"}},
		}},
	}
}

// pageOf returns the first ten rows of a query.
func pageOf(q *wire.QueryRequest) *wire.QueryRequest {
	q.Limit = 10
	return q
}

// linkOn returns the link that visits have with places.
func linkOn(from, to string) *wire.LinkHitRateRequest {
	return &wire.LinkHitRateRequest{FromTable: "visits", ToTable: "places", FromColumn: from, ToColumn: to}
}

func events(column string) *wire.QueryRequest {
	return &wire.QueryRequest{
		Table: "events", Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}, Fields: []string{"id", column},
	}
}
