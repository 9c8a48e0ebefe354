package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// filtersNarrow is L2: for every declared operator, on several types, the rows
// answered satisfy the filter and none that does is missing.
func filtersNarrow(l *law) {
	spots := l.spots(l.subjects(), 1)
	if len(spots) == 0 {
		return
	}
	ops := l.document().Capabilities.Operators
	// Each operator is tried on one type after the other, beginning with another
	// one each, so that what there is room for covers both.
	for round := range spots {
		for i, op := range ops {
			s := spots[(i+round)%len(spots)]
			data, whole := l.data(s.table)
			f, ok := l.predicate(data, s.column, op)
			if !ok {
				continue
			}
			if !l.left(1) {
				return
			}
			whole = whole && l.room(1)
			l.steady(func() { l.narrowed(s, f, whole) }, s.table)
		}
	}
}

func (l *law) narrowed(s spot, f wire.Filter, whole bool) {
	t := s.table
	what := fmt.Sprintf("%s on %s of type %s of table %s", f.Op, wire.QuoteName(f.Field), s.field().Type, wire.QuoteName(t.Name))
	req := everything(t)
	req.And = []wire.Filter{f}
	if !whole {
		l.bound(req)
		_, rows := l.askSome(t, req)
		l.satisfied(rows, req, what)
		l.cases++
		return
	}
	st, final := l.ask(t, req)
	if final == nil {
		return
	}
	l.cases++
	l.satisfied(declared(t, req, st), req, what)
	l.verify(l.table(t), req, final.Rows, "%s", what)
}

// satisfied holds rows against the filters of their request: with a declared
// operator they hold whatever the stream serves.
func (l *law) satisfied(rows *oracle.Table, req *wire.QueryRequest, what string) {
	if at, ok := oracle.Unmatched(rows, req.And, req.Or, nil); !ok {
		l.want("only rows that satisfy the filter", showRow(rows.Columns, rows.Rows[at]), "%s: row %d does not satisfy the filter, whose operator the document declares", what, at)
	}
}

// bound makes a request one that a large table can be asked.
func (l *law) bound(req *wire.QueryRequest) {
	req.Limit = windowRows
	if most := l.document().Capabilities.Limits.PageSizeMax; most > 0 {
		req.Limit = min(req.Limit, most)
	}
}

// askSome sends a query for a window of a large table and reads no more of the
// answer than that, served or not.
func (l *law) askSome(t *wire.Table, req *wire.QueryRequest) (*stream, *oracle.Table) {
	l.requests++
	l.cover.filters(shape(t), req.And, req.Or)
	st := l.session.stream(l.ctx, l.exam.ask(wire.PathQuery, req, 0), members(req), windowRows)
	l.last = st.request
	l.found(st.unusable())
	if st.broken != "" {
		l.blocked(st.broken, st.why)
	}
	l.rows += len(st.table.Rows)
	return st, declared(t, req, st)
}

// keysUnique is L5.
func keysUnique(l *law) {
	for _, t := range l.subjects() {
		for _, k := range keys(t) {
			l.steady(func() {
				data, whole := l.data(t)
				if len(data.Rows) == 0 {
					return
				}
				l.cases++
				l.last = l.reading(t, whole)
				l.unique(t, data, k)
			}, t)
		}
	}
}

// reading is the request by which a table's rows were read, for the report.
func (l *law) reading(t *wire.Table, whole bool) *Request {
	req := everything(t)
	if !whole {
		l.bound(req)
	}
	return l.shown(l.exam.ask(wire.PathQuery, req, 0))
}

// declaredKey is a key that discovery declares: fields that together are unique.
type declaredKey struct {
	what   string
	fields []string
}

// keys are the declared primary key and unique fields of a table.
func keys(t *wire.Table) (list []declaredKey) {
	if len(t.PrimaryKey) > 0 {
		list = append(list, declaredKey{"primary key", t.PrimaryKey})
	}
	for _, f := range t.Fields {
		if f.Unique && !slices.Equal(t.PrimaryKey, []string{f.Name}) {
			list = append(list, declaredKey{"unique field", []string{f.Name}})
		}
	}
	return list
}

func (l *law) unique(t *wire.Table, data *oracle.Table, k declaredKey) {
	columns := make([]int, len(k.fields))
	for i, name := range k.fields {
		if columns[i] = data.Index(name); columns[i] < 0 {
			l.blocked("P3.1b", fmt.Sprintf("table %s has no field %s, which its key names", wire.QuoteName(t.Name), wire.QuoteName(name)))
		}
	}
	seen := map[string]int{}
	for at, row := range data.Rows {
		var id strings.Builder
		null := false
		for i, c := range columns {
			v := row[c]
			null = null || v.IsNull()
			if v.IsNull() && !t.Fields[c].Nullable {
				l.want("a value in every row", showRow(data.Columns, row), "table %s: row %d has null in %s, which belongs to a key and is not nullable",
					wire.QuoteName(t.Name), at, wire.QuoteName(k.fields[i]))
			}
			fmt.Fprintf(&id, "%d:%s", len(v.String()), v.String())
		}
		if null {
			continue
		}
		if first, twice := seen[id.String()]; twice {
			l.want("each key once", fmt.Sprintf("row %d: %s\nrow %d: %s", first, showRow(data.Columns, data.Rows[first]), at, showRow(data.Columns, row)),
				"table %s: two rows have the same %s (%s)", wire.QuoteName(t.Name), k.what, names(k.fields))
		}
		seen[id.String()] = at
	}
}

// sortHolds is L7: a column of each type in both directions, and two columns.
func sortHolds(l *law) {
	var last *spot
	for _, s := range l.spots(l.subjects(), 2) {
		for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
			l.inOrder(s.table, wire.SortKey{Field: s.field().Name, Dir: dir})
		}
		if l.document().Capabilities.Sort == wire.SortMulti && last != nil && last.table == s.table {
			l.inOrder(s.table, wire.SortKey{Field: last.field().Name, Dir: wire.Desc}, wire.SortKey{Field: s.field().Name, Dir: wire.Asc})
		}
		last = &s
	}
}

func (l *law) inOrder(t *wire.Table, sort ...wire.SortKey) {
	if !l.left(1) {
		return
	}
	room := l.room(1)
	l.steady(func() {
		data, whole := l.data(t)
		whole = whole && room
		if oracle.Unsettled(data, sort, nil) != "" {
			return
		}
		req := everything(t)
		req.Sort = sort
		what := fmt.Sprintf("table %s sorted by %s", wire.QuoteName(t.Name), keysOf(sort))
		if !whole {
			l.bound(req)
			st, rows := l.askSome(t, req)
			if !st.served.Sort || st.over {
				return
			}
			l.cases++
			l.sorted(rows, req, what)
			return
		}
		st, final := l.ask(t, req)
		if final == nil || !st.served.Sort {
			return // the platform sorts these itself
		}
		l.cases++
		l.sorted(final, req, what)
		l.verify(data, req, final.Rows, "%s", what)
	}, t)
}

// sorted finds a row out of order, under any reading of how dates compare: the
// columns are settled.
func (l *law) sorted(rows *oracle.Table, req *wire.QueryRequest, what string) {
	if at, ok := oracle.Sorted(rows, req.Sort, nil); !ok {
		l.want("rows in the requested order, nulls last", fmt.Sprintf("row %d: %s\nrow %d: %s", at-1, showRow(rows.Columns, rows.Rows[at-1]), at, showRow(rows.Columns, rows.Rows[at])),
			"%s: served.sort is true and row %d is out of order", what, at)
	}
}

func keysOf(sort []wire.SortKey) string {
	var parts []string
	for _, k := range sort {
		parts = append(parts, wire.QuoteName(k.Field)+" "+string(k.Dir))
	}
	return strings.Join(parts, ", ")
}

func names(fields []string) string {
	quoted := make([]string, len(fields))
	for i, f := range fields {
		quoted[i] = wire.QuoteName(f)
	}
	return strings.Join(quoted, ", ")
}

// showRow is a row as a short JSON object.
func showRow(columns []wire.Column, row []wire.Value) string {
	var b []byte
	for i, c := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, wire.QuoteName(c.Name)...), ':')
		cell := row[i]
		if text := cell.Text(); len(text) > 60 {
			cell = wire.Text(runes(text[:min(len(text), 240)], 0, 60) + "...")
		}
		if b2, err := cell.AppendJSON(b); err == nil {
			b = b2
		}
	}
	return "{" + excerpt(b, 300) + "}"
}
