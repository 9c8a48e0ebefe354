package connectortest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// counts tests /count: without filters, with each operator, and with
// combinations.
func (x *exercise) counts(t testing.TB) {
	requests := []wire.CountRequest{{Table: x.table.Name}}
	random := x.random(x.table.Name, "count")
	for _, c := range x.operands {
		for _, op := range filter.Operators() {
			filters := c.filters(op)
			if len(filters) > 0 {
				f := filters[random.IntN(len(filters))]
				requests = append(requests, wire.CountRequest{Table: x.table.Name, Where: wire.Where{And: []wire.Filter{f}}})
			}
		}
	}
	for _, where := range x.combinations(random) {
		requests = append(requests, wire.CountRequest{Table: x.table.Name, Where: where})
	}
	tenant := x.tenant.In(t)
	for _, req := range sample(x, t, requests) {
		if _, err := tenant.Count(req); err != nil || t.Failed() {
			return
		}
	}
}

func (x *exercise) sizes(t testing.TB) {
	size, err := x.tenant.In(t).Size(x.table.Name)
	if err == nil && (size == nil || !size.Exact) {
		t.Log("connectortest: the size is an estimate or unknown; any estimate is legal")
	}
}

func (x *exercise) cardinalities(t testing.TB) {
	counts, err := x.tenant.In(t).Cardinality(x.table.Name, fieldNames(x.table)...)
	if err != nil {
		return
	}
	for name, c := range counts {
		if c == nil {
			t.Logf("connectortest: column %q is not counted: the platform measures it itself", name)
		}
	}
}

// links tests the declared foreign keys in both directions, and columns of the
// table with themselves, which have no orphans, and with each other. A source may
// refuse columns that are not a declared key, because it may be unable to compare
// a date with a number as text.
func (x *exercise) links(t testing.TB) {
	link := func(fromTable, from, toTable, to string, key bool) {
		x.link(t, wire.LinkHitRateRequest{FromTable: fromTable, FromColumn: from, ToTable: toTable, ToColumn: to}, key)
	}
	own := x.table.Name
	for _, k := range x.table.ForeignKeys {
		link(own, k.Field, k.TargetTable, k.TargetField, true)
		link(k.TargetTable, k.TargetField, own, k.Field, true)
	}
	for i, f := range x.table.Fields {
		next := x.table.Fields[(i+1)%len(x.table.Fields)]
		link(own, f.Name, own, f.Name, false)
		link(own, f.Name, own, next.Name, false)
	}
}

func (x *exercise) link(t testing.TB, req wire.LinkHitRateRequest, key bool) {
	subtest(t, fmt.Sprintf("%s.%s to %s.%s", req.FromTable, req.FromColumn, req.ToTable, req.ToColumn), func(t testing.TB) {
		if x.seen.table(req.FromTable) == nil || x.seen.table(req.ToTable) == nil {
			t.Skipf("connectortest: these credentials do not see both tables")
		}
		if len(sample(x, t, []int{0})) == 0 {
			return
		}
		tenant := x.tenant.In(t)
		tenant.strict = key
		_, err := tenant.LinkHitRate(req)
		switch {
		case err == nil || key:
		case errors.Is(err, connector.ErrUnsupported):
			t.Logf("connectortest: refused: %v; the columns are not a declared foreign key", err)
		default:
			t.Errorf("connectortest: POST %s: %v", wire.PathLinkHitRate, &violation{
				"measure-2", "a legal request is refused", "an answer, or 422 for what cannot be compared", err.Error(),
			})
		}
	})
}

// joins tests joins along the declared foreign keys, in both directions. Without
// the capability, a join must be refused.
func (x *exercise) joins(t testing.TB) {
	if !x.seen.doc.Capabilities.Join {
		c := x.tenant.In(t).client
		req := x.all()
		req.Joins = []wire.JoinHop{{FromTable: req.Table, ToTable: req.Table, FromField: "id", ToField: "id"}}
		req.Credentials, req.TimeoutMS = c.creds, defaultTimeoutMS
		_, err := c.query(&req, x.RowBudget)
		wantRefusal(t, wire.PathQuery, "query-7", "joins, and capabilities.join is false", err, wire.CodeUnsupported, "")
		return
	}
	keys := x.table.ForeignKeys
	// In the direction against the key, one row has several matches.
	for _, other := range x.seen.discovery.Tables {
		for _, k := range other.ForeignKeys {
			if k.TargetTable == x.table.Name {
				reverse := wire.ForeignKey{Field: k.TargetField, TargetTable: other.Name, TargetField: k.Field}
				keys = append(keys[:len(keys):len(keys)], reverse)
			}
		}
	}
	if len(keys) == 0 {
		t.Skip("connectortest: no foreign key leads from or to the table, to join along")
	}
	for _, k := range keys {
		subtest(t, fmt.Sprintf("%s to %s.%s", k.Field, k.TargetTable, k.TargetField), func(t testing.TB) {
			if x.seen.table(k.TargetTable) == nil {
				t.Skipf("connectortest: these credentials do not see table %q", k.TargetTable)
			}
			x.query(t, x.joined(k))
		})
	}
}

// joined returns queries that join along a foreign key: alone, filtered, with a
// sort and a window, twice to the same table, and further along a key of the
// target.
func (x *exercise) joined(k wire.ForeignKey) []wire.QueryRequest {
	target := x.seen.table(k.TargetTable)
	hop := func(from, fromField, prefix string, to *wire.Table, toField string) wire.JoinHop {
		j := wire.JoinHop{FromTable: from, ToTable: to.Name, FromField: fromField, ToField: toField}
		for _, f := range to.Fields {
			name := prefix + f.Name
			for x.place(0, name) >= 0 {
				name = "_" + name
			}
			j.Fields = append(j.Fields, wire.JoinField{Field: f.Name, As: name, Type: f.Type})
		}
		return j
	}
	first := hop(x.table.Name, k.Field, "first ", target, k.TargetField)
	plain := x.all()
	plain.Joins = []wire.JoinHop{first}
	requests := []wire.QueryRequest{plain}
	for i, f := range x.table.Fields {
		cut := plain
		cut.Sort = []wire.SortKey{{Field: f.Name, Dir: []wire.Direction{wire.Asc, wire.Desc}[i%2]}}
		cut.Limit, cut.Offset = int64(len(x.rows)/2+1), int64(len(x.rows)/4)
		requests = append(requests, cut)
	}
	for _, c := range x.operands {
		kept := plain
		kept.And = []wire.Filter{{Field: c.field.Name, Op: wire.OpNin, Values: c.values[:min(1, len(c.values))]}}
		requests = append(requests, kept)
	}
	if target.Name != x.table.Name {
		twice := plain
		twice.Joins = []wire.JoinHop{first, hop(x.table.Name, k.Field, "second ", target, k.TargetField)}
		requests = append(requests, twice)
		for _, on := range target.ForeignKeys {
			if next := x.seen.table(on.TargetTable); next != nil {
				chain := plain
				chain.Joins = []wire.JoinHop{first, hop(target.Name, on.Field, "second ", next, on.TargetField)}
				requests = append(requests, chain)
			}
		}
	}
	return requests
}

// aggregates tests /aggregate: every function on every field, groups, grains,
// filters that keep no row, and limits that the groups reach.
func (x *exercise) aggregates(t testing.TB) {
	count := wire.Measure{Fn: wire.FnCount, As: "rows"}
	nothing := x.nothing()
	subtest(t, "count", func(t testing.TB) {
		x.fold(t, wire.AggregateRequest{Measures: []wire.Measure{count}})
		if nothing != nil {
			x.fold(t, wire.AggregateRequest{Measures: []wire.Measure{count}, Where: wire.Where{And: nothing}})
		}
	})
	for _, f := range x.table.Fields {
		for _, fn := range []wire.Fn{wire.FnCount, wire.FnCountDistinct, wire.FnSum, wire.FnMin, wire.FnMax} {
			if fn == wire.FnSum && !f.Type.Numeric() {
				continue // sum takes numbers only
			}
			subtest(t, string(fn)+"/"+f.Name, func(t testing.TB) {
				measure := wire.Measure{Fn: fn, Field: f.Name, As: "m"}
				x.fold(t, wire.AggregateRequest{Measures: []wire.Measure{measure}})
				if nothing != nil {
					x.fold(t, wire.AggregateRequest{Measures: []wire.Measure{measure}, Where: wire.Where{And: nothing}})
				}
				for _, c := range x.operands[:min(2, len(x.operands))] {
					nin := wire.Filter{Field: c.field.Name, Op: wire.OpNin, Values: c.values[:min(1, len(c.values))]}
					x.fold(t, wire.AggregateRequest{
						Measures: []wire.Measure{measure, count}, Where: wire.Where{And: []wire.Filter{nin}},
					})
				}
				for _, g := range x.table.Fields[:min(3, len(x.table.Fields))] {
					x.fold(t, wire.AggregateRequest{GroupBy: []wire.GroupKey{{Field: g.Name, As: "g"}}, Measures: []wire.Measure{measure}})
				}
			})
		}
	}
	for i, f := range x.table.Fields {
		subtest(t, "group/"+f.Name, func(t testing.TB) {
			group, counts := wire.GroupKey{Field: f.Name, As: "g"}, []wire.Measure{count}
			one := []wire.GroupKey{group}
			x.fold(t, wire.AggregateRequest{GroupBy: one})
			x.fold(t, wire.AggregateRequest{GroupBy: one, Measures: counts, StringFields: []string{f.Name}})
			next := x.table.Fields[(i+1)%len(x.table.Fields)]
			x.fold(t, wire.AggregateRequest{GroupBy: []wire.GroupKey{group, {Field: next.Name, As: "h"}}, Measures: counts})
			if nothing != nil {
				x.fold(t, wire.AggregateRequest{GroupBy: one, Measures: counts, Where: wire.Where{And: nothing}})
			}
			x.overflow(t, group)
		})
	}
	subtest(t, "grain", func(t testing.TB) { x.grains(t, count) })
}

// nothing returns a filter that no row passes, nil if no field is filterable.
func (x *exercise) nothing() []wire.Filter {
	if len(x.operands) == 0 {
		return nil
	}
	return []wire.Filter{{Field: x.operands[0].field.Name, Op: wire.OpIn}} // an empty list
}

// grains groups the dates by each period.
func (x *exercise) grains(t testing.TB, count wire.Measure) {
	for _, f := range x.table.Fields {
		if f.Type != wire.TypeDate && f.Type != wire.TypeDatetime {
			continue
		}
		for _, grain := range []wire.Grain{wire.GrainYear, wire.GrainQuarter, wire.GrainMonth, wire.GrainDay} {
			req := wire.AggregateRequest{
				Table: x.table.Name, GroupBy: []wire.GroupKey{{Field: f.Name, As: "period", Grain: grain}}, Measures: []wire.Measure{count},
			}
			subtest(t, string(grain)+"/"+f.Name, func(t testing.TB) {
				if x.seen.doc.Capabilities.DateBucket {
					x.fold(t, req)
					return
				}
				c := x.tenant.In(t).client
				req.Limit, req.Credentials, req.TimeoutMS = wire.AggregateLimit, c.creds, defaultTimeoutMS
				_, err := c.aggregate(&req)
				wantRefusal(t, wire.PathAggregate, "aggregate-4a", "a grain, and capabilities.dateBucket is false", err,
					wire.CodeUnsupported, "")
			})
		}
	}
}

// overflow sends a limit that the groups just reach, which must not be answered,
// and one that they do not reach.
func (x *exercise) overflow(t testing.TB, group wire.GroupKey) {
	req := wire.AggregateRequest{Table: x.table.Name, GroupBy: []wire.GroupKey{group}, Limit: wire.MaxSafeInteger}
	f, err := foldRows(x.seen, &req)
	if err != nil || len(f.groups) == 0 {
		return
	}
	req.Limit = int64(len(f.groups))
	x.fold(t, req)
	req.Limit++
	x.fold(t, req)
}

// fold sends one aggregate request. The connector may decline it, and must refuse
// or decline it if there are too many groups.
func (x *exercise) fold(t testing.TB, req wire.AggregateRequest) {
	t.Helper()
	if t.Failed() || len(sample(x, t, []int{0})) == 0 {
		return
	}
	req.Table = x.table.Name
	if req.Limit == 0 {
		req.Limit = wire.AggregateLimit
	}
	tenant := x.tenant.In(t)
	tenant.strict = false
	_, err := tenant.Aggregate(req)
	switch {
	case err == nil:
		return
	case errors.Is(err, connector.ErrDecline):
		t.Logf("connectortest: %s is declined (204), and the platform folds the rows itself", spellAggregate(&req))
		return
	case errors.Is(err, connector.ErrUnsupported):
		if f, err := foldRows(x.seen, &req); err == nil && int64(len(f.groups)) >= req.Limit {
			return
		}
	}
	t.Errorf("connectortest: POST %s: %v", wire.PathAggregate, &violation{
		"aggregate-6", "a legal request is refused: " + spellAggregate(&req),
		"an answer, or 204 for what cannot be computed exactly", err.Error(),
	})
}

// spellAggregate returns the text of an aggregate for the log.
func spellAggregate(req *wire.AggregateRequest) string {
	text := "groups by ["
	for i, g := range req.GroupBy {
		if i > 0 {
			text += ", "
		}
		text += g.Field
		if g.Grain != "" {
			text += " by " + string(g.Grain)
		}
	}
	text += "] of ["
	for i, m := range req.Measures {
		if i > 0 {
			text += ", "
		}
		text += spellMeasure(m)
	}
	return text + "]"
}
