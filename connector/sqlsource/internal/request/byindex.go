package request

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

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
func (x Request) readByIndex(ctx context.Context, q *plannedQuery, c *sqltext.Column) (bool, error) {
	switch {
	case !c.Indexed:
	case c.Index.Sorted != "" && (c.Loose.Guard == "" || c.Index.Unsorted != ""):
		return x.NoneMatch(ctx, q.base, c.Index.Unsorted)
	case q.served.Filters && q.req.MaxRows <= maxReach:
		f, err := x.reach(ctx, q.base, q.filters.Pushed, c, q.req.Sort[0].Dir == wire.Desc, q.req.MaxRows)
		if f != nil {
			q.filters.Pushed.And = append(slices.Clip(q.filters.Pushed.And), *f)
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
func (x Request) reach(
	ctx context.Context, r *session.Relation, pushed wire.Where, c *sqltext.Column, desc bool, n int64,
) (*wire.Filter, error) {
	if c.Index.Near == nil || c.Loose.Guard == "" && c.Index.Sorted != "" || c.Index.Stored == "" || c.Key == "" {
		return nil, nil
	}
	conditions := []string{c.Index.Stored + " IS NOT NULL"}
	if c.Loose.Guard != "" {
		conditions = append(conditions, "("+c.Loose.Guard+") IS NOT TRUE")
	}
	fn, f := "MAX", &wire.Filter{Field: c.Name, Op: wire.OpLte}
	if desc {
		fn, f.Op = "MIN", wire.OpGte
	}
	b := x.Builder()
	statement := "SELECT " + c.AsCell(fn+"(s.k)") + ", COUNT(*) FROM (" + b.Query(c.Key+" AS k", sqltext.Window{Limit: n, Ordered: true}, func() string {
		return " FROM " + r.From + b.Where(pushed, r.Column, conditions...) +
			orderBy(b, order{terms: []orderTerm{{c.Index.Stored, desc, false}}})
	}) + ") s"
	last := session.Reader{Column: c}
	var found int64
	if err := x.Row(ctx, r.Name, statement, b.Args, &last, &found); err != nil || found < n || last.Value.IsNull() {
		return nil, err
	}
	f.Value = last.Value
	if (&sqltext.Builder{Flavor: b.Flavor}).Near(c, *f) == "" {
		return nil, nil
	}
	return f, nil
}

// rowsByIndex returns the rows of a window in two statements, because ORDER BY
// cannot have the nulls last by an index that has them first. The second reads the
// rows that are null on the wire, and only if the first gives too few. Both are of
// one transaction, so they are of one moment.
func (q *plannedQuery) rowsByIndex(ctx context.Context, x Request, offset, limit int64) memsource.RowSeq {
	c := q.order.first
	return func(yield func([]wire.Value, error) bool) {
		read := int64(0)
		for values, err := range q.part(ctx, x, q.order, c.Inside(), offset, limit) {
			if !yield(values, err) || err != nil {
				return
			}
			read++
		}
		if limit > 0 && read == limit || c.Outside() == "" {
			return
		}
		switch {
		case read > 0:
			offset, limit = 0, max(0, limit-read)
		case offset > 0:
			skipped, err := q.count(ctx, x, c.Inside())
			if err != nil {
				yield(nil, err)
				return
			}
			offset -= skipped
		}
		rest := order{terms: q.order.terms[1:]}
		for values, err := range q.part(ctx, x, rest, c.Outside(), offset, limit) {
			if !yield(values, err) || err != nil {
				return
			}
		}
	}
}

// count counts the rows of the query's base table that meet one more condition.
func (q *plannedQuery) count(ctx context.Context, x Request, condition string) (n int64, err error) {
	b := x.Builder()
	statement := "SELECT COUNT(*) FROM " + q.base.From + b.Where(q.filters.Pushed, q.base.Column, condition)
	return n, x.Row(ctx, q.base.Name, statement, b.Args, &n)
}
