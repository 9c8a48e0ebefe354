package sqlsource

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxReach is the number of rows up to which the first rows of a sort are looked
// for before the others are ruled out: a window further back costs more that way.
const maxReach = 10_000

// readByIndex reports whether an index gives the rows in the order of a column, the
// first of the requested sort: the engine then reads no more rows than the window
// has. If the index does so but for some values, those that a Guard selects or those
// that Near makes up for, readByIndex adds a filter to the query that selects the
// first rows of the order instead.
func (x *session) readByIndex(ctx context.Context, q *plannedQuery, c *column) (bool, error) {
	switch {
	case !c.indexed:
	case c.Index.Sorted != "" && (c.Loose.Guard == "" || c.Index.Unsorted != ""):
		return x.noneMatch(ctx, q.base, c.Index.Unsorted)
	case q.served.Filters && q.req.MaxRows <= maxReach:
		f, err := x.reach(ctx, q.base, q.filters.pushed, c, q.req.Sort[0].Dir == wire.Desc, q.req.MaxRows)
		if f != nil {
			q.filters.pushed.And = append(slices.Clip(q.filters.pushed.And), *f)
		}
		return false, err
	}
	return false, nil
}

// reach returns a filter that the first n rows of an order by a column all meet, and
// few others; nil if fewer than n rows have a value. It compares with the last, in
// the order, of n rows from one end of the index, without those that the Guard
// selects. Rows that do not meet it come after these n, wherever the index has them;
// so do rows that the Guard selects, unless Near selects them too.
func (x *session) reach(
	ctx context.Context, r *relation, pushed wire.Where, c *column, desc bool, n int64,
) (*wire.Filter, error) {
	if c.Index.Near == nil || c.Loose.Guard == "" && c.Index.Sorted != "" || c.Index.Stored == "" || c.Key == "" {
		return nil, nil
	}
	conditions := []string{c.Index.Stored + " IS NOT NULL"}
	if c.Loose.Guard != "" {
		conditions = append(conditions, "("+c.Loose.Guard+") IS NOT TRUE")
	}
	fn, f := "MAX", &wire.Filter{Field: c.name, Op: wire.OpLte}
	if desc {
		fn, f.Op = "MIN", wire.OpGte
	}
	b := x.builder()
	statement := "SELECT " + c.read(fn+"(s.k)") + ", COUNT(*) FROM (" + b.query(c.Key+" AS k", window{limit: n, ordered: true}, func() string {
		return " FROM " + r.from + b.where(pushed, r.column, conditions...) +
			b.orderBy(order{terms: []orderTerm{{c.Index.Stored, desc, false}}})
	}) + ") s"
	last := reader{column: c}
	var found int64
	if err := x.row(ctx, r.name, statement, b.args, &last, &found); err != nil || found < n || last.value.IsNull() {
		return nil, err
	}
	f.Value = last.value
	if (&builder{flavor: b.flavor}).near(c, *f) == "" {
		return nil, nil
	}
	return f, nil
}

// inside returns the condition that selects the rows that Sorted orders; empty: all
// of them.
func (c *column) inside() string {
	if c.Index.Within == "" && c.nullable {
		return c.Index.Sorted + " IS NOT NULL"
	}
	return c.Index.Within
}

// outside returns the condition that selects the other rows; empty: there are none.
func (c *column) outside() string {
	switch {
	case c.Index.Within != "":
		return "(" + c.Index.Within + ") IS NOT TRUE"
	case c.nullable:
		return c.Index.Sorted + " IS NULL"
	}
	return ""
}

// rowsByIndex returns the rows of a window in two statements, because ORDER BY
// cannot have the nulls last by an index that has them first. The second reads the
// rows that are null on the wire, and only if the first gives too few. Both are of
// one transaction, so they are of one moment.
func (q *plannedQuery) rowsByIndex(ctx context.Context, x *session, offset, limit int64) memsource.RowSeq {
	c := q.order.first
	return func(yield func([]wire.Value, error) bool) {
		read := int64(0)
		for values, err := range q.part(ctx, x, q.order, c.inside(), offset, limit) {
			if !yield(values, err) || err != nil {
				return
			}
			read++
		}
		if limit > 0 && read == limit || c.outside() == "" {
			return
		}
		switch {
		case read > 0:
			offset, limit = 0, max(0, limit-read)
		case offset > 0:
			skipped, err := q.count(ctx, x, c.inside())
			if err != nil {
				yield(nil, err)
				return
			}
			offset -= skipped
		}
		rest := order{terms: q.order.terms[1:]}
		for values, err := range q.part(ctx, x, rest, c.outside(), offset, limit) {
			if !yield(values, err) || err != nil {
				return
			}
		}
	}
}

// count counts the rows of the query's base table that meet one more condition.
func (q *plannedQuery) count(ctx context.Context, x *session, condition string) (n int64, err error) {
	b := x.builder()
	statement := "SELECT COUNT(*) FROM " + q.base.from + b.where(q.filters.pushed, q.base.column, condition)
	return n, x.row(ctx, q.base.name, statement, b.args, &n)
}
