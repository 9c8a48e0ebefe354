package request

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A sorted query with a window is fast if the engine can read the rows in the order
// of an index and stop. The functions of this file arrange that: they find out
// whether the index has the order of the protocol, and narrow the query where it
// nearly has.

// maxReach is the largest number of rows for which [Request.reach] is asked. To find
// where a window ends that lies further back costs more than it saves.
const maxReach = 10_000

// readByIndex reports whether an index has the rows in the order of c, the first
// column of the requested sort. The engine then reads the rows of the window and no
// others. Where the index sorts some values otherwise, readByIndex reports false, and
// adds a filter to the query that few rows beyond the window meet, if there is one.
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

// reach returns a filter that the first n rows in the order of c meet, and few others.
// It reads n rows from one end of the index and takes the value among them that comes
// last in the protocol's order. At least n rows come no later than that value, so the
// filter "no later than that value" selects the first n. Values that a Guard selects
// may stand elsewhere in the index, so they are not among the n rows; Near selects
// those of them that the filter may select. reach returns nil if fewer than n rows have a value, or if
// no index could answer the filter.
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
	first := b.Query(c.Key+" AS k", sqltext.Window{Limit: n, Ordered: true}, func() string {
		return " FROM " + r.From + b.Where(pushed, r.Column, conditions...) +
			orderBy(b, order{terms: []orderTerm{{c.Index.Stored, desc, false}}})
	})
	statement := "SELECT " + c.AsCell(fn+"(s.k)") + ", COUNT(*) FROM (" + first + ") s"
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

// rowsByIndex returns the rows of a window by two statements. The protocol sorts nulls
// last, and an engine whose index has them first cannot use it for that order. So the
// first statement reads the rows with a value, by the index, and the second one those
// that are null on the wire, if the window reaches them. Both run in one transaction
// and so see the same rows.
func (q *plannedQuery) rowsByIndex(ctx context.Context, x Request, offset, limit int64) relation.Rows {
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
