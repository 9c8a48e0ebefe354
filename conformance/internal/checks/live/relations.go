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

// askWhere returns what a query with filters comes to, or nil if it is too much.
func (p *liveRun) askWhere(t *wire.Table, where wire.Where) (*oracle.Table, *check.Finding) {
	req := session.AllRows(t)
	req.Where = where
	_, rows, f := p.ask(t, req)
	return rows, f
}

// and returns the Where of some filters that must all hold.
func and(filters ...wire.Filter) wire.Where { return wire.Where{And: filters} }

// eachSample asks two requests about each column of whole tables of which n different values are known.
func (p *liveRun) eachSample(
	n int, judge func(t *wire.Table, all *oracle.Table, name string, values []wire.Value) *check.Finding,
) *check.Finding {
	tables, f := p.held(1)
	if f != nil {
		return f
	}
	columns, f := p.columns(tables, 2)
	if f != nil {
		return f
	}
	var list []question
	for _, c := range columns {
		if values := p.sample(p.Snapshot(c.table).Table, c.index, n); len(values) == n {
			list = append(list, about(c.table, 2, func(all *oracle.Table) *check.Finding {
				return judge(c.table, all, c.field().Name, values)
			}))
		}
	}
	return p.askAll(slices.Values(list))
}

// inAndNin judges that in [a] plus nin [a] is everything, nulls too.
func inAndNin(p *liveRun) *check.Finding {
	return p.eachSample(1, func(t *wire.Table, all *oracle.Table, name string, values []wire.Value) *check.Finding {
		in, f := p.askWhere(t, and(wire.Filter{Field: name, Op: wire.OpIn, Values: values}))
		if f != nil {
			return f
		}
		nin, f := p.askWhere(t, and(wire.Filter{Field: name, Op: wire.OpNin, Values: values}))
		if f != nil || in == nil || nin == nil {
			return f
		}
		p.Cases++
		return p.verify(all, session.AllRows(t), slices.Concat(in.Rows, nin.Rows),
			"table %s: %d rows with %s in [a] and %d rows with %s nin [a] are not the table's %d",
			terms.QuoteName(t.Name), len(in.Rows), terms.QuoteName(name), len(nin.Rows), terms.QuoteName(name), len(all.Rows))
	})
}

// inIsEither judges that in [a,b] is eq a or eq b.
func inIsEither(p *liveRun) *check.Finding {
	return p.eachSample(2, func(t *wire.Table, _ *oracle.Table, name string, values []wire.Value) *check.Finding {
		in, f := p.askWhere(t, and(wire.Filter{Field: name, Op: wire.OpIn, Values: values}))
		if f != nil {
			return f
		}
		either, f := p.askWhere(t, wire.Where{Or: [][]wire.Filter{
			{{Field: name, Op: wire.OpEq, Value: values[0]}},
			{{Field: name, Op: wire.OpEq, Value: values[1]}},
		}})
		if f != nil || in == nil || either == nil {
			return f
		}
		p.Cases++
		return p.verify(in, session.AllRows(t), either.Rows, "table %s: the rows with %s eq a or eq b are not those with in [a,b]",
			terms.QuoteName(t.Name), terms.QuoteName(name))
	})
}

// filterNarrows judges that a further filter never adds rows.
func filterNarrows(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
	first, f := p.selectiveFilter(t, data)
	if f != nil || first == nil {
		return nil
	}
	columns, f := p.columns([]*wire.Table{t}, 1)
	if f != nil {
		return nil
	}
	s := generate.NewSubject(firstRows(data, chosenBy), t)
	g := generate.New(p.Seed, p.Check.ID+" "+t.Name, p.Document.Capabilities, []*generate.Subject{s})
	for _, c := range columns[:min(len(columns), 3)] {
		if second, ok := g.Filter(s, c.field().Name); ok {
			list = append(list, about(t, 2, func(*oracle.Table) *check.Finding { return p.narrows(t, first[0], second) }))
		}
	}
	return list
}

func (p *liveRun) narrows(t *wire.Table, first, second wire.Filter) *check.Finding {
	one, f := p.askWhere(t, and(first))
	if f != nil {
		return f
	}
	two, f := p.askWhere(t, and(first, second))
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
		"table %s: %s %s added rows to %s %s",
		terms.QuoteName(t.Name), terms.QuoteName(second.Field), second.Op, terms.QuoteName(first.Field), first.Op)
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
	tables, f := p.held(1)
	if f != nil {
		return f
	}
	columns, f := p.sortable(tables)
	if f != nil {
		return f
	}
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

// judgedSort is a sort of a whole table by one column that was judged.
type judgedSort struct {
	table, field string
	dir          wire.Direction
}
