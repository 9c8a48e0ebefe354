package conformance

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Metamorphic laws: how the answers to several requests must belong together,
// whatever the data.

// needsOps skips a law whose operators the document does not declare.
func needsOps(ops ...wire.Op) func(*document) string {
	return func(d *document) string {
		for _, op := range ops {
			if !d.operator(op) {
				return fmt.Sprintf("operators does not list %s", op)
			}
		}
		return ""
	}
}

// filtered is what a query with filters comes to; nil when there is too much of
// it.
func (l *law) filtered(t *wire.Table, and []wire.Filter, or [][]wire.Filter) *oracle.Table {
	req := everything(t)
	req.And, req.Or = and, or
	_, rows := l.ask(t, req)
	return rows
}

// agree holds one set of rows of a table against another.
func (l *law) agree(t *wire.Table, want *oracle.Table, got [][]wire.Value, what string, args ...any) {
	l.verify(want, everything(t), got, what, args...)
}

// inAndNin is M1: in [a] plus nin [a] is everything, nulls too (A3).
func inAndNin(l *law) {
	for _, s := range l.spots(l.whole(), 2) {
		t := s.table
		values := l.sampled(l.table(t), s.column, 1)
		if len(values) == 0 || !l.room(2) {
			continue
		}
		name := s.field().Name
		l.steady(func() {
			all := l.table(t)
			in := l.filtered(t, []wire.Filter{{Field: name, Op: wire.OpIn, Values: values}}, nil)
			nin := l.filtered(t, []wire.Filter{{Field: name, Op: wire.OpNin, Values: values}}, nil)
			if all == nil || in == nil || nin == nil {
				return
			}
			l.cases++
			both := append(append([][]wire.Value{}, in.Rows...), nin.Rows...)
			l.agree(t, all, both, "table %s: %d rows with %s in [a] and %d rows with %s nin [a] are not the table's %d", wire.QuoteName(t.Name),
				len(in.Rows), wire.QuoteName(name), len(nin.Rows), wire.QuoteName(name), len(all.Rows))
		}, t)
	}
}

// inIsEither is M2: in [a,b] is eq a or eq b.
func inIsEither(l *law) {
	for _, s := range l.spots(l.whole(), 2) {
		t := s.table
		values := l.sampled(l.table(t), s.column, 2)
		if len(values) < 2 || !l.room(2) {
			continue
		}
		name := s.field().Name
		l.steady(func() {
			in := l.filtered(t, []wire.Filter{{Field: name, Op: wire.OpIn, Values: values}}, nil)
			either := l.filtered(t, nil, [][]wire.Filter{
				{{Field: name, Op: wire.OpEq, Value: values[0]}},
				{{Field: name, Op: wire.OpEq, Value: values[1]}},
			})
			if in == nil || either == nil {
				return
			}
			l.cases++
			l.agree(t, in, either.Rows, "table %s: the rows with %s eq a or eq b are not those with in [a,b]", wire.QuoteName(t.Name), wire.QuoteName(name))
		}, t)
	}
}

// conjunctNarrows is M3: a further conjunct never adds rows.
func conjunctNarrows(l *law) {
	for _, t := range l.whole() {
		data := l.table(t)
		first, ok := l.selective(t, data)
		if !ok {
			continue
		}
		for n, s := range l.spots([]*wire.Table{t}, 1) {
			if n == 3 || !l.room(2) {
				break
			}
			second, ok := l.conjunct(data, s.column)
			if !ok {
				continue
			}
			l.steady(func() {
				one := l.filtered(t, []wire.Filter{first}, nil)
				two := l.filtered(t, []wire.Filter{first, second}, nil)
				if one == nil || two == nil {
					return
				}
				l.cases++
				if extra := l.beyond(one, two); extra >= 0 {
					l.want(fmt.Sprintf("some of the %d rows with %s %s alone", len(one.Rows), wire.QuoteName(first.Field), first.Op),
						fmt.Sprintf("%d rows, among them %s", len(two.Rows), showRow(two.Columns, two.Rows[extra])),
						"table %s: %s %s added rows to %s %s", wire.QuoteName(t.Name), wire.QuoteName(second.Field), second.Op, wire.QuoteName(first.Field), first.Op)
				}
			}, t)
		}
	}
}

// conjunct is a filter with the first declared operator that suits a column.
func (l *law) conjunct(data *oracle.Table, column int) (f wire.Filter, ok bool) {
	ops := l.document().Capabilities.Operators
	if len(ops) == 0 {
		return f, false
	}
	start := l.rand.IntN(len(ops))
	for i := range ops {
		if f, ok = l.predicate(data, column, ops[(start+i)%len(ops)]); ok {
			return f, true
		}
	}
	return f, false
}

// beyond finds a row of some that is not in all, or -1.
func (l *law) beyond(all, some *oracle.Table) int {
	l.rows += len(all.Rows)
	left := map[string]int{}
	for _, row := range all.Rows {
		left[rowText(row)]++
	}
	for i, row := range some.Rows {
		if left[rowText(row)]--; left[rowText(row)] < 0 {
			return i
		}
	}
	return -1
}

// rowText is equal for rows whose cells are spelled alike.
func rowText(row []wire.Value) string {
	var b []byte
	for _, v := range row {
		if v.IsNull() {
			b = append(b, "- "...)
			continue
		}
		text := v.String()
		b = fmt.Appendf(b, "%d:%s ", len(text), text)
	}
	return string(b)
}

// turnedAround is M6: ascending is descending turned around, over what is
// comparable and not null, up to ties.
func turnedAround(l *law) {
	for _, s := range l.spots(l.whole(), 1) {
		t, name := s.table, s.field().Name
		if !l.room(2) {
			return
		}
		l.steady(func() {
			data := l.table(t)
			if data == nil || oracle.Unsettled(data, []wire.SortKey{{Field: name, Dir: wire.Desc}}, nil) != "" {
				return
			}
			up, upServed := l.keyCells(t, name, wire.Asc)
			down, downServed := l.keyCells(t, name, wire.Desc)
			if !upServed || !downServed {
				return
			}
			l.cases++
			if len(up) != len(down) {
				l.want(fmt.Sprintf("%d values, as in ascending order", len(up)), fmt.Sprintf("%d values", len(down)),
					"table %s: sorted by %s, the directions have different numbers of values", wire.QuoteName(t.Name), wire.QuoteName(name))
			}
			for i, v := range up {
				if w := down[len(down)-1-i]; !oracle.Same(v, w, s.field().Type) {
					l.want(excerpt([]byte(v.String()), 100), excerpt([]byte(w.String()), 100),
						"table %s: value %d from the begin of %s ascending is not value %d from the end of it descending", wire.QuoteName(t.Name), i, wire.QuoteName(name), i)
				}
			}
		}, t)
	}
}

// keyCells are a sorted column's values that are comparable and not null.
func (l *law) keyCells(t *wire.Table, name string, dir wire.Direction) (cells []wire.Value, served bool) {
	req := everything(t)
	req.Sort = []wire.SortKey{{Field: name, Dir: dir}}
	st, rows := l.ask(t, req)
	if rows == nil || !st.served.Sort {
		return nil, false
	}
	column := rows.Index(name)
	numeric := rows.Columns[column].Type.Numeric()
	for _, row := range rows.Rows {
		if v := row[column]; !v.IsNull() && (!numeric || wire.IsDecimal(v.String())) {
			cells = append(cells, v)
		}
	}
	return cells, true
}

// projectionKeeps is M7: whatever columns are asked for, there are as many rows,
// with the same cells.
func projectionKeeps(l *law) {
	for _, t := range l.whole() {
		projections := [][]string{}
		for i, f := range t.Fields {
			if i < 3 {
				projections = append(projections, []string{f.Name})
			}
		}
		// The column with the fewest values: where rows are merged it shows.
		if i, ok := l.poorest(t); ok {
			projections = append(projections, []string{t.Fields[i].Name})
		}
		for _, fields := range projections {
			if !l.room(1) {
				return
			}
			l.steady(func() {
				data := l.table(t)
				if data == nil {
					return
				}
				req := &wire.QueryRequest{Table: t.Name, Fields: fields}
				_, rows := l.ask(t, req)
				if rows == nil {
					return
				}
				l.cases++
				l.verify(data, req, rows.Rows, "table %s: asked for %s alone", wire.QuoteName(t.Name), names(fields))
			}, t)
		}
	}
}

func (l *law) poorest(t *wire.Table) (at int, ok bool) {
	data := l.table(t)
	least := int64(len(data.Rows))
	for i, f := range t.Fields {
		if c, err := oracle.Cardinality(data, f.Name); err == nil && c.Distinct < least {
			at, least, ok = i, c.Distinct, true
		}
	}
	return at, ok
}
