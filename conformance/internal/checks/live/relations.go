package live

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// and returns the Where of some filters that must all hold.
func and(filters ...wire.Filter) wire.Where { return wire.Where{And: filters} }

// eachSample asks for the rows with some filters, one after the other, of each column of whole tables of
// which n different values are known.
func (p *liveRun) eachSample(n int, wheres func(name string, values []wire.Value) []wire.Where) *check.Finding {
	var list []question
	for _, c := range p.columns(p.held(1), 2) {
		values := p.sample(p.Snapshot(c.table).Table, c.index, n)
		if len(values) < n {
			continue
		}
		var both []question
		for _, where := range wheres(c.field().Name, values) {
			both = append(both, p.askingRows(c.table, where))
		}
		list = append(list, series(both...))
	}
	return p.askAll(slices.Values(list))
}

// inAndNin asks for in [a] and nin [a], which together are every row, nulls too.
func inAndNin(p *liveRun) *check.Finding {
	return p.eachSample(1, func(name string, values []wire.Value) []wire.Where {
		return []wire.Where{and(filterOf(name, wire.OpIn, values...)), and(filterOf(name, wire.OpNin, values...))}
	})
}

// inIsEither asks for in [a,b], and for eq a or eq b, which are the same rows.
func inIsEither(p *liveRun) *check.Finding {
	return p.eachSample(2, func(name string, values []wire.Value) []wire.Where {
		is := func(v wire.Value) []wire.Filter { return []wire.Filter{filterOf(name, wire.OpEq, v)} }
		return []wire.Where{and(filterOf(name, wire.OpIn, values...)), {Or: [][]wire.Filter{is(values[0]), is(values[1])}}}
	})
}

// numbersAgree asks for the rows, their count, the aggregate's count and its groups, without a filter and
// with one: all of them are one number.
func numbersAgree(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	keys := [][]wire.GroupKey{nil}
	if few := dividing(t, firstRows(data, chosenBy)); len(few) > 0 {
		keys = append(keys, []wire.GroupKey{{Field: few[0], As: "Key"}})
	}
	for _, where := range p.wheres(t, data) {
		numbers := []question{p.askingRows(t, where)}
		if p.Document.Has(wire.EndpointCount) {
			numbers = append(numbers, p.askingCount(t, where))
		}
		for _, by := range keys {
			req := aggregate(t, by, countOfRows)
			req.Where = where
			if p.Document.Has(wire.EndpointAggregate) {
				numbers = append(numbers, p.asking(wire.PathAggregate, req, describeAggregate(t, req), []*wire.Table{t}))
			}
		}
		list = append(list, series(numbers...))
	}
	return list
}

// filterNarrows judges that a further filter never adds rows.
func filterNarrows(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	first, columns := p.selectiveFilter(t, data), p.columns([]*wire.Table{t}, 1)
	if first == nil {
		return nil
	}
	s := generate.NewSubject(firstRows(data, chosenBy), t)
	g := generate.New(p.Seed, p.Check.ID+" "+t.Name, p.Document, []*generate.Subject{s})
	for _, c := range columns[:min(len(columns), 3)] {
		if second, ok := g.Filter(s, c.field().Name); ok {
			list = append(list, about(t, 2, func(*oracle.Table) *check.Finding { return p.narrows(t, first[0], second) }))
		}
	}
	return list
}

func (p *liveRun) narrows(t *wire.Table, first, second wire.Filter) *check.Finding {
	_, one, f := p.ask(t, rowsWith(t, and(first)))
	if f != nil {
		return f
	}
	_, two, f := p.ask(t, rowsWith(t, and(first, second)))
	if f != nil || one == nil || two == nil {
		return f
	}
	p.Cases++
	extra := p.additional(one, two)
	if extra < 0 {
		return nil
	}
	return check.Differs(fmt.Sprintf("some of the %d rows with %s %s alone", len(one.Rows), terms.QuoteName(first.Field), first.Op),
		fmt.Sprintf("%d rows, among them %s", len(two.Rows), session.ShowRow(two.Columns, two.Rows[extra])),
		"%s: %s %s added rows to %s %s",
		ofTable(t), terms.QuoteName(second.Field), second.Op, terms.QuoteName(first.Field), first.Op)
}

// additional returns the index of a row of some that is not in all, or is there less
// often; otherwise -1.
func (p *liveRun) additional(all, some *oracle.Table) int {
	p.compared += len(all.Rows)
	known := session.Tally(all.Rows)
	seen := make(map[string]int, len(some.Rows))
	for i, row := range some.Rows {
		key := session.RowKey(row)
		if seen[key]++; known[key] > 0 && seen[key] > known[key] {
			return i
		}
	}
	return p.unknownRow(all, some.Rows)
}

// directionsMirror judges the order under each column upwards, and then downwards where [sortHolds]
// has not. Rows that are in order in both directions are each other's mirror, up to ties.
func directionsMirror(p *liveRun) *check.Finding {
	// Those first that the check of sorts had no requests for.
	columns := p.sortable(p.held(1))
	slices.SortStableFunc(columns, func(a, b column) int { return p.asked(a) - p.asked(b) })
	var list []question
	for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
		for _, c := range columns {
			if name := c.field().Name; !p.sorted[judgedSort{c.table.Name, name, dir}] {
				list = append(list, about(c.table, 1, func(rows *oracle.Table) *check.Finding {
					return p.inOrder(c.table, rows, []wire.SortKey{{Field: name, Dir: dir}}, true)
				}))
			}
		}
	}
	return p.askAll(slices.Values(list))
}

// asked returns 1 if rows were sorted by the column before, else 0.
func (p *liveRun) asked(c column) int {
	if p.sorted[judgedSort{c.table.Name, c.field().Name, wire.Desc}] {
		return 1
	}
	return 0
}

// judgedSort is a sort of a whole table by one column that was judged.
type judgedSort struct {
	table, field string
	dir          wire.Direction
}
