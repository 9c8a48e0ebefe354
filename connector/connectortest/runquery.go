package connectortest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// filters tests each operator on each field, declared or not, and combinations
// of them.
func (x *exercise) filters(t testing.TB) {
	for _, op := range filter.Operators() {
		subtest(t, string(op), func(t testing.TB) {
			for _, c := range x.operands {
				subtest(t, c.field.Name, func(t testing.TB) {
					var requests []wire.QueryRequest
					for _, f := range c.filters(op) {
						req := x.about(c.field.Name)
						req.And = []wire.Filter{f}
						requests = append(requests, req)
					}
					x.query(t, requests)
				})
			}
		})
	}
	subtest(t, "and or", func(t testing.TB) {
		var requests []wire.QueryRequest
		for _, where := range x.combinations(x.random(x.table.Name, "and or")) {
			req := x.about(filterFields(where)...)
			req.Where = where
			requests = append(requests, req)
		}
		x.query(t, requests)
	})
	subtest(t, "not filterable", func(t testing.TB) {
		for _, f := range x.table.Fields {
			if !is(f.Filterable, false) {
				continue
			}
			c := x.tenant.In(t).client
			req := x.all()
			req.And = []wire.Filter{{Field: f.Name, Op: wire.OpNotNull}}
			req.Credentials, req.TimeoutMS = c.creds, defaultTimeoutMS
			_, err := c.query(&req, x.RowBudget)
			wantRefusal(t, wire.PathQuery, "aggregate-7a",
				fmt.Sprintf("in a filter the field %q, which discovery calls not filterable", f.Name), err, wire.CodeUnsupported, f.Name)
		}
	})
}

// filterFields returns the names of the fields that filters name.
func filterFields(where wire.Where) (names []string) {
	for f := range where.Filters() {
		names = append(names, f.Field)
	}
	return names
}

// combinations returns combinations of filters: several in and, groups in or,
// both, and an empty group.
func (x *exercise) combinations(random *rand.Rand) []wire.Where {
	var pool []wire.Filter
	for _, c := range x.operands {
		for _, op := range filter.Operators() {
			pool = append(pool, c.filters(op)...)
		}
	}
	if len(pool) == 0 {
		return nil
	}
	pick := func(n int) []wire.Filter {
		var filters []wire.Filter
		for range n {
			filters = append(filters, pool[random.IntN(len(pool))])
		}
		return filters
	}
	list := []wire.Where{
		{Or: [][]wire.Filter{{}}},
		{And: pick(1), Or: [][]wire.Filter{pick(1), {}}},
	}
	for range 8 {
		list = append(list,
			wire.Where{And: pick(2)},
			wire.Where{Or: [][]wire.Filter{pick(1), pick(1)}},
			wire.Where{Or: [][]wire.Filter{pick(2), pick(1), pick(2)}},
			wire.Where{And: pick(1), Or: [][]wire.Filter{pick(1), pick(2)}})
	}
	return list
}

// orders returns the sorts to test: each field in both directions, and some with
// several keys.
func (x *exercise) orders() [][]wire.SortKey {
	var orders [][]wire.SortKey
	for _, f := range x.table.Fields {
		orders = append(orders, []wire.SortKey{{Field: f.Name, Dir: wire.Asc}}, []wire.SortKey{{Field: f.Name, Dir: wire.Desc}})
	}
	random := x.random(x.table.Name, "orders")
	if n := len(x.table.Fields); n > 1 {
		for range 4 {
			a, b := random.IntN(n), random.IntN(n-1)
			if b >= a {
				b++
			}
			orders = append(orders, []wire.SortKey{
				{Field: x.table.Fields[a].Name, Dir: wire.Desc},
				{Field: x.table.Fields[b].Name, Dir: wire.Asc, Collate: true},
			})
		}
	}
	return orders
}

func sortFields(order []wire.SortKey) (names []string) {
	for _, s := range order {
		names = append(names, s.Field)
	}
	return names
}

// sorts tests each order without a window. A connector may leave the sort to the
// platform and answer the rows in any order.
func (x *exercise) sorts(t testing.TB) {
	for _, order := range x.orders() {
		subtest(t, spellSort(order), func(t testing.TB) {
			req := x.about(sortFields(order)...)
			req.Sort = order
			x.query(t, []wire.QueryRequest{req})
		})
	}
}

// pages tests windows of each order, and without a sort.
func (x *exercise) pages(t testing.TB) {
	subtest(t, "unsorted", func(t testing.TB) { x.page(t, nil, nil) })
	for _, order := range x.orders() {
		subtest(t, spellSort(order), func(t testing.TB) { x.page(t, order, nil) })
	}
	subtest(t, "filtered", func(t testing.TB) {
		random := x.random(x.table.Name, "filtered")
		orders := x.orders()
		for _, c := range x.operands {
			for _, op := range []wire.Op{wire.OpNotNull, wire.OpNeq, wire.OpNin} {
				filters := c.filters(op)
				x.page(t, orders[random.IntN(len(orders))], filters[random.IntN(len(filters)):][:1])
				if t.Failed() || t.Skipped() {
					return
				}
			}
		}
	})
}

// page reads an order in pages. It verifies each page alone, and that together
// they have all rows, each once.
func (x *exercise) page(t testing.TB, order []wire.SortKey, and []wire.Filter) {
	size := int64(len(x.rows)/3 + 1)
	var requests []wire.QueryRequest
	fields := append(sortFields(order), filterFields(wire.Where{And: and})...)
	window := func(offset, limit int64) {
		req := x.about(fields...)
		req.Sort, req.And, req.Offset, req.Limit = order, and, offset, limit
		requests = append(requests, req)
	}
	window(0, size)
	window(size, size)
	window(2*size, size)
	if len(sample(x, t, []int{0})) == 0 {
		return
	}
	tenant := x.tenant.In(t)
	composed := &Answer{Served: wire.Served{Filters: true}}
	for _, req := range requests {
		answer, err := tenant.Query(req)
		if err != nil || t.Failed() {
			return
		}
		if !answer.Served.Window {
			t.Logf("connectortest: the window of %s is left to the platform", spellSort(order))
			composed = nil
			break
		}
		composed.Names = answer.Names
		composed.Rows = append(composed.Rows, answer.Rows...)
	}
	whole := x.about(fields...)
	whole.And = and
	if composed != nil {
		var v *violation
		if errors.As(checkQuery(x.seen, &whole, composed), &v) {
			problem := fmt.Sprintf("pages of %d rows sorted by [%s] do not compose: taken together, %s", size, spellSort(order), v.problem)
			t.Errorf("connectortest: POST %s: %v", wire.PathQuery, &violation{"query-3", problem, v.expected, v.got})
			return
		}
	}
	requests = nil
	window(0, 1)
	window(1, 0)                            // an offset without a limit
	window(int64(len(x.rows)), 1)           // at the end
	window(int64(len(x.rows))+5, 5)         // beyond the end
	window(0, int64(len(x.rows))+5)         // more than all rows
	window(int64(max(len(x.rows)-1, 0)), 2) // across the end
	for _, req := range requests {
		if _, err := tenant.Query(req); err != nil || t.Failed() {
			return
		}
	}
}

// projections requests no field, each field alone, and all in reverse order.
func (x *exercise) projections(t testing.TB) {
	lists := [][]string{{}}
	for _, f := range x.table.Fields {
		lists = append(lists, []string{f.Name})
	}
	backwards := fieldNames(x.table)
	slices.Reverse(backwards)
	lists = append(lists, backwards)
	var requests []wire.QueryRequest
	for i, fields := range lists {
		req := x.all()
		req.Fields = fields
		requests = append(requests, req)
		// Sort and filter by a field that is not requested.
		if len(x.operands) > 0 {
			c := x.operands[i%len(x.operands)]
			req.And = []wire.Filter{{Field: c.field.Name, Op: wire.OpNotNull}}
			req.Sort = []wire.SortKey{{Field: c.field.Name, Dir: wire.Desc}}
			req.Limit = int64(len(x.rows)/2 + 1)
			requests = append(requests, req)
		}
	}
	x.query(t, requests)
}

// unknownField uses an unknown field in every place that names a field.
func (x *exercise) unknownField(t testing.TB) {
	name := "no-such-field"
	for x.place(0, name) >= 0 {
		name += "-"
	}
	c := x.tenant.In(t).client
	refused := func(path, where string, err error, code wire.Code) {
		t.Helper()
		rule := "filter-11a"
		switch {
		case path == wire.PathCardinality || path == wire.PathLinkHitRate:
			rule = "measure-3"
		case code == wire.CodeUnsupported:
			rule = "filter-11"
		}
		wantRefusal(t, path, rule, fmt.Sprintf("in %s a field that table %q does not have", where, x.table.Name), err, code, name)
	}
	query := func(where string, code wire.Code, change func(*wire.QueryRequest)) {
		t.Helper()
		req := x.all()
		change(&req)
		req.Credentials, req.TimeoutMS = c.creds, defaultTimeoutMS
		_, err := c.query(&req, x.RowBudget)
		refused(wire.PathQuery, where, err, code)
	}
	filters := []wire.Filter{{Field: name, Op: wire.OpNotNull}}
	query("and", wire.CodeUnsupported, func(r *wire.QueryRequest) { r.And = filters })
	query("or", wire.CodeUnsupported, func(r *wire.QueryRequest) { r.Or = [][]wire.Filter{{}, filters} })
	query("fields", wire.CodeUnknownEntity, func(r *wire.QueryRequest) { r.Fields = []string{name} })
	query("sort", wire.CodeUnknownEntity, func(r *wire.QueryRequest) { r.Sort = []wire.SortKey{{Field: name, Dir: wire.Asc}} })
	if x.declares(wire.EndpointCount) {
		req := wire.CountRequest{Table: x.table.Name, Where: wire.Where{And: filters}, Envelope: c.envelope()}
		_, err := c.count(&req)
		refused(wire.PathCount, "and", err, wire.CodeUnsupported)
	}
	if x.declares(wire.EndpointAggregate) {
		aggregate := func(where string, code wire.Code, change func(*wire.AggregateRequest)) {
			t.Helper()
			req := wire.AggregateRequest{
				Table: x.table.Name, Measures: []wire.Measure{{Fn: wire.FnCount, As: "n"}}, Limit: wire.AggregateLimit,
				Envelope: c.envelope(),
			}
			change(&req)
			_, err := c.aggregate(&req)
			refused(wire.PathAggregate, where, err, code)
		}
		aggregate("and", wire.CodeUnsupported, func(r *wire.AggregateRequest) { r.And = filters })
		aggregate("groupBy", wire.CodeUnknownEntity, func(r *wire.AggregateRequest) { r.GroupBy = []wire.GroupKey{{Field: name, As: "g"}} })
		aggregate("a measure", wire.CodeUnknownEntity, func(r *wire.AggregateRequest) {
			r.Measures = []wire.Measure{{Fn: wire.FnCount, Field: name, As: "n"}}
		})
	}
	if x.declares(wire.EndpointCardinality) {
		_, err := c.cardinality(&wire.CardinalityRequest{Table: x.table.Name, Columns: []string{name}, Envelope: c.envelope()})
		refused(wire.PathCardinality, "columns", err, wire.CodeUnknownEntity)
	}
	if x.declares(wire.EndpointLinkHitRate) && len(x.table.Fields) > 0 {
		own := x.table.Fields[0].Name
		for _, link := range [][2]string{{name, own}, {own, name}} {
			_, err := c.linkHitRate(&wire.LinkHitRateRequest{
				FromTable: x.table.Name, FromColumn: link[0], ToTable: x.table.Name, ToColumn: link[1],
				Envelope: c.envelope(),
			})
			refused(wire.PathLinkHitRate, "a link", err, wire.CodeUnknownEntity)
		}
	}
}
