package sqlsourcetest

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shrink returns a query that still fails and has as little as possible.
func shrink(req *wire.QueryRequest, fails func(*wire.QueryRequest) bool) *wire.QueryRequest {
	for again := true; again; {
		again = false
		for _, smaller := range smallerQueries(req) {
			if fails(smaller) {
				req, again = smaller, true
				break
			}
		}
	}
	return req
}

// smallerQueries returns the queries with one thing less.
func smallerQueries(req *wire.QueryRequest) []*wire.QueryRequest {
	var list []*wire.QueryRequest
	with := func(change func(*wire.QueryRequest)) {
		own := *req
		change(&own)
		list = append(list, &own)
	}
	if len(req.Joins) > 0 {
		with(func(r *wire.QueryRequest) { r.Joins = r.Joins[:len(r.Joins)-1] })
	}
	if len(req.Or) > 0 {
		with(func(r *wire.QueryRequest) { r.Or = nil })
	}
	for i := range req.Or {
		with(func(r *wire.QueryRequest) { r.Or = less(r.Or, i) })
	}
	for i, group := range req.Or {
		for k := range group {
			with(func(r *wire.QueryRequest) {
				r.Or = slices.Clone(r.Or)
				r.Or[i] = less(group, k)
			})
		}
	}
	for i, f := range req.And {
		with(func(r *wire.QueryRequest) { r.And = less(r.And, i) })
		for k := range f.Values {
			with(func(r *wire.QueryRequest) {
				r.And = slices.Clone(r.And)
				r.And[i].Values = less(f.Values, k)
			})
		}
	}
	for i := range req.Sort {
		with(func(r *wire.QueryRequest) { r.Sort = less(r.Sort, i) })
	}
	for i := range req.Fields {
		with(func(r *wire.QueryRequest) { r.Fields = less(r.Fields, i) })
	}
	if req.Limit > 0 {
		with(func(r *wire.QueryRequest) { r.Limit = 0 })
	}
	if req.Offset > 0 {
		with(func(r *wire.QueryRequest) { r.Offset = 0 })
	}
	return list
}

// less returns a list without its i-th element.
func less[T any](list []T, i int) []T {
	return slices.Delete(slices.Clone(list), i, i+1)
}
