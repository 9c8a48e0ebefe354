package suite

import "github.com/connectorsdk/connector-sdk-go/wire"

// The requests of [Plans] are about the tables events, places and visits, which
// have the columns that [Speed]'s have.

// FilterOf returns a query with one filter.
func FilterOf(column string, op wire.Op, value string) *wire.QueryRequest {
	q := events(column)
	q.And = []wire.Filter{{Field: column, Op: op, Value: wire.Text(value)}}
	return q
}

// RangeOf returns a query of the rows from one value on and before another.
func RangeOf(column, from, before string) *wire.QueryRequest {
	q := FilterOf(column, wire.OpGte, from)
	q.And = append(q.And, wire.Filter{Field: column, Op: wire.OpLt, Value: wire.Text(before)})
	return q
}

// FirstBy returns a query of the first ten rows of a sort.
func FirstBy(column string, desc bool) *wire.QueryRequest {
	q := events(column)
	q.Sort, q.Limit = []wire.SortKey{{Field: column, Dir: wire.Asc}}, 10
	if desc {
		q.Sort[0].Dir = wire.Desc
	}
	return q
}

// ExtremeOf returns an aggregate of one minimum or maximum.
func ExtremeOf(column string, fn wire.AggFunc) *wire.AggregateRequest {
	return &wire.AggregateRequest{
		Table: "events", Where: wire.Where{And: []wire.Filter{}}, GroupBy: []wire.GroupKey{}, Limit: wire.AggregateLimit,
		Measures: []wire.Measure{{Fn: fn, Field: column, As: "extreme"}},
	}
}

// JoinOn returns a query of all visits with their places.
func JoinOn(from, to string) *wire.QueryRequest {
	return &wire.QueryRequest{
		Table: "visits", Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}, Fields: []string{"id"},
		Joins: []wire.JoinHop{{
			FromTable: "visits", ToTable: "places", FromField: from, ToField: to, Fields: []wire.JoinField{{Field: to, As: "theirs"}},
		}},
	}
}

// PageOf returns the first ten rows of a query.
func PageOf(q *wire.QueryRequest) *wire.QueryRequest {
	q.Limit = 10
	return q
}

// LinkOn returns the link that visits have with places.
func LinkOn(from, to string) *wire.LinkHitRateRequest {
	return &wire.LinkHitRateRequest{FromTable: "visits", ToTable: "places", FromColumn: from, ToColumn: to}
}

func events(column string) *wire.QueryRequest {
	return &wire.QueryRequest{
		Table: "events", Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}, Fields: []string{"id", column},
	}
}
