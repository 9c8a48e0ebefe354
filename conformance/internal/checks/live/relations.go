package live

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// askWhere returns what a query with filters comes to, or nil if it is too much.
func (p *prober) askWhere(t *wire.Table, where wire.Where) (*oracle.Table, *check.Finding) {
	req := session.AllRows(t)
	req.Where = where
	_, rows, f := p.ask(t, req)
	return rows, f
}

// and returns the Where of some filters that must all hold.
func and(filters ...wire.Filter) wire.Where { return wire.Where{And: filters} }

// inAndNin judges that in [a] plus nin [a] is everything, nulls too.
func inAndNin(p *prober) *check.Finding {
	columns, f := p.columnsOfWholeTables(2)
	if f != nil {
		return f
	}
	for _, c := range columns {
		t, name := c.table, c.field().Name
		data, f := p.Table(t)
		if f != nil {
			return f
		}
		values := p.sample(data, c.index, 1)
		if len(values) == 0 || !p.room(2) {
			continue
		}
		f = p.unmoved(func() *check.Finding {
			all, f := p.Table(t)
			if f != nil {
				return f
			}
			in, f := p.askWhere(t, and(wire.Filter{Field: name, Op: wire.OpIn, Values: values}))
			if f != nil {
				return f
			}
			nin, f := p.askWhere(t, and(wire.Filter{Field: name, Op: wire.OpNin, Values: values}))
			if f != nil || all == nil || in == nil || nin == nil {
				return f
			}
			p.Cases++
			both := append(append([][]wire.Value{}, in.Rows...), nin.Rows...)
			return p.verify(all, session.AllRows(t), both, "table %s: %d rows with %s in [a] and %d rows with %s nin [a] are not the table's %d",
				wire.QuoteName(t.Name), len(in.Rows), wire.QuoteName(name), len(nin.Rows), wire.QuoteName(name), len(all.Rows))
		}, t)
		if f != nil {
			return f
		}
	}
	return nil
}

// inIsEither judges that in [a,b] is eq a or eq b.
func inIsEither(p *prober) *check.Finding {
	columns, f := p.columnsOfWholeTables(2)
	if f != nil {
		return f
	}
	for _, c := range columns {
		t, name := c.table, c.field().Name
		data, f := p.Table(t)
		if f != nil {
			return f
		}
		values := p.sample(data, c.index, 2)
		if len(values) < 2 || !p.room(2) {
			continue
		}
		f = p.unmoved(func() *check.Finding {
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
				wire.QuoteName(t.Name), wire.QuoteName(name))
		}, t)
		if f != nil {
			return f
		}
	}
	return nil
}

// filterNarrows judges that a further filter never adds rows.
func filterNarrows(p *prober) *check.Finding {
	tables, f := p.wholeTables()
	if f != nil {
		return f
	}
	for _, t := range tables {
		data, f := p.Table(t)
		if f != nil {
			return f
		}
		first, f := p.selectiveFilter(t, data)
		if f != nil {
			return f
		}
		if first == nil {
			continue
		}
		columns, f := p.columns([]*wire.Table{t}, 1)
		if f != nil {
			return f
		}
		for n, c := range columns {
			if n == 3 || !p.room(2) {
				break
			}
			second, ok := p.declaredFilter(data, c.index)
			if !ok {
				continue
			}
			if f := p.unmoved(func() *check.Finding { return p.narrows(t, first[0], second) }, t); f != nil {
				return f
			}
		}
	}
	return nil
}

func (p *prober) narrows(t *wire.Table, first, second wire.Filter) *check.Finding {
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
	return check.Differs(fmt.Sprintf("some of the %d rows with %s %s alone", len(one.Rows), wire.QuoteName(first.Field), first.Op),
		fmt.Sprintf("%d rows, among them %s", len(two.Rows), session.ShowRow(two.Columns, two.Rows[extra])),
		"table %s: %s %s added rows to %s %s",
		wire.QuoteName(t.Name), wire.QuoteName(second.Field), second.Op, wire.QuoteName(first.Field), first.Op)
}

// additional returns the index of a row of some that is not in all, or -1.
func (p *prober) additional(all, some *oracle.Table) int {
	p.compared += len(all.Rows)
	left := map[string]int{}
	for _, row := range all.Rows {
		left[session.RowKey(row)]++
	}
	for i, row := range some.Rows {
		key := session.RowKey(row)
		if left[key]--; left[key] < 0 {
			return i
		}
	}
	return -1
}

// directionsMirror judges that ascending is descending turned around, over the
// values that are comparable and not null, up to ties.
func directionsMirror(p *prober) *check.Finding {
	columns, f := p.columnsOfWholeTables(1)
	if f != nil {
		return f
	}
	for _, c := range columns {
		if !p.room(2) {
			return nil
		}
		if f := p.unmoved(func() *check.Finding { return p.mirrors(c) }, c.table); f != nil {
			return f
		}
	}
	return nil
}

func (p *prober) mirrors(c column) *check.Finding {
	t, name := c.table, c.field().Name
	data, f := p.Table(t)
	if f != nil || data == nil || oracle.Unsettled(data, []wire.SortKey{{Field: name, Dir: wire.Desc}}, nil) != "" {
		return f
	}
	up, upServed, f := p.sortedCells(t, name, wire.Asc)
	if f != nil {
		return f
	}
	down, downServed, f := p.sortedCells(t, name, wire.Desc)
	if f != nil || !upServed || !downServed {
		return f
	}
	p.Cases++
	if len(up) != len(down) {
		return check.Differs(fmt.Sprintf("%d values, as in ascending order", len(up)), fmt.Sprintf("%d values", len(down)),
			"table %s: sorted by %s, the directions have different numbers of values", wire.QuoteName(t.Name), wire.QuoteName(name))
	}
	for i, v := range up {
		if w := down[len(down)-1-i]; !oracle.Same(v, w, c.field().Type) {
			return check.Differs(message.Excerpt([]byte(v.String()), 100), message.Excerpt([]byte(w.String()), 100),
				"table %s: value %d from the begin of %s ascending is not value %d from the end of it descending",
				wire.QuoteName(t.Name), i, wire.QuoteName(name), i)
		}
	}
	return nil
}

// sortedCells returns a sorted column's values that are comparable and not null, and
// whether the sort was served.
func (p *prober) sortedCells(t *wire.Table, name string, dir wire.Direction) (cells []wire.Value, served bool, f *check.Finding) {
	req := session.AllRows(t)
	req.Sort = []wire.SortKey{{Field: name, Dir: dir}}
	st, rows, f := p.ask(t, req)
	if f != nil || rows == nil || !st.Served.Sort {
		return nil, false, f
	}
	column := rows.Index(name)
	numeric := rows.Columns[column].Type.Numeric()
	for _, row := range rows.Rows {
		if v := row[column]; !v.IsNull() && (!numeric || wire.IsDecimal(v.String())) {
			cells = append(cells, v)
		}
	}
	return cells, true, nil
}

// projectionKeepsRows judges that there are as many rows, with the same cells,
// whatever columns are asked for.
func projectionKeepsRows(p *prober) *check.Finding {
	tables, f := p.wholeTables()
	if f != nil {
		return f
	}
	for _, t := range tables {
		var names []string
		for _, f := range t.Fields[:min(len(t.Fields), 3)] {
			names = append(names, f.Name)
		}
		repeating, f := p.mostRepeating(t)
		if f != nil {
			return f
		}
		names = append(names, repeating...)
		for _, name := range names {
			if !p.room(1) {
				return nil
			}
			if f := p.unmoved(func() *check.Finding { return p.projects(t, name) }, t); f != nil {
				return f
			}
		}
	}
	return nil
}

func (p *prober) projects(t *wire.Table, name string) *check.Finding {
	data, f := p.Table(t)
	if f != nil || data == nil {
		return f
	}
	req := &wire.QueryRequest{Table: t.Name, Fields: []string{name}}
	_, rows, f := p.ask(t, req)
	if f != nil || rows == nil {
		return f
	}
	p.Cases++
	return p.verify(data, req, rows.Rows, "table %s: asked for %s alone", wire.QuoteName(t.Name), wire.QuoteName(name))
}

// mostRepeating returns the column with the fewest values, which shows whether rows
// are merged; none if all columns have distinct values.
func (p *prober) mostRepeating(t *wire.Table) (names []string, finding *check.Finding) {
	data, finding := p.Table(t)
	if finding != nil || data == nil {
		return nil, finding
	}
	least := int64(len(data.Rows))
	for _, f := range t.Fields {
		if c, err := oracle.Cardinality(data, f.Name); err == nil && c.Distinct < least {
			names, least = []string{f.Name}, c.Distinct
		}
	}
	return names, nil
}
