package request

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// order is what a statement has in ORDER BY.
type order struct {
	terms []orderTerm
	// sorted reports that the terms are the requested sort, exactly.
	sorted bool
	// total reports that rows that differ are never equal under the terms. Only
	// then may the engine cut a window: pages of an order that is not total can
	// repeat a row and lose another.
	total bool
	// own is how many of the terms are of the base table alone. They come first.
	own int
	// first is the column whose index gives the rows in order, or nil.
	// The first term is then its Sorted, which orders the rows that it selects by
	// inside. The other rows come after them, by the other terms.
	first *sqltext.Column
}

// orderTerm is one term of ORDER BY.
type orderTerm struct {
	expr     string
	desc     bool
	nullable bool
}

// orderBy returns the ORDER BY clause, or nothing for an order without terms.
func orderBy(b *sqltext.Builder, o order) string {
	if len(o.terms) == 0 {
		return ""
	}
	list := make([]string, len(o.terms))
	for i, t := range o.terms {
		list[i] = b.Flavor.Order(t.expr, t.desc, t.nullable)
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

// order returns the requested sort of a query with its ties broken, so that pages
// compose [rule query-3]. A sort that the engine cannot do exactly, or whose ties
// it cannot break, is left to the library: the order then has no terms. Without a
// sort, the order is as total as the engine can make it.
func (x Request) order(ctx context.Context, q *plannedQuery) (order, error) {
	sort, base := q.req.Sort, q.base
	if len(sort) == 0 && len(q.hops) == 0 && base.Catalog.Ordered {
		return order{sorted: true, total: true}, nil
	}
	used := sortColumns(sort, base)
	if used == nil && len(sort) > 0 {
		return order{}, nil
	}
	o := order{sorted: true, total: true}
	conditions, asked := session.SortGuards(used), q.filters.Pushed
	if len(used) > 0 && q.req.MaxRows > 0 && q.req.MaxRows < math.MaxInt64 && len(q.hops) == 0 {
		byIndex, err := x.readByIndex(ctx, q, used[0])
		if err != nil {
			return order{}, err
		}
		if byIndex {
			o.first = used[0]
			conditions = append(session.SortGuards(used[1:]), used[0].Loose.Long)
		}
	}
	if exact, err := x.NoneAmong(ctx, q.sorted(), conditions...); !exact || err != nil {
		q.filters.Pushed = asked
		return order{}, err
	}
	o.sortBy(sort, base)
	o.breakTies(base, ties{used: used, unsorted: len(sort) == 0, desc: lastDesc(sort) && base.Begins(used[0])})
	o.own = len(o.terms)
	for _, h := range q.hops {
		o.breakTies(h.to, ties{unsorted: len(sort) == 0, outer: true})
	}
	if len(sort) > 0 && !o.total {
		q.filters.Pushed = asked
		return order{}, nil
	}
	return o, nil
}

// sorted returns the rows whose order the query's answer shows. The engine and the
// library break ties alike by a primary key. Without one, the same of them does a
// sort whatever the filters are, so all rows count.
func (q *plannedQuery) sorted() session.Scope {
	guarded := func(c *sqltext.Column) bool { return c.Loose.Guard != "" }
	if q.base.Primary == nil || slices.ContainsFunc(q.base.Primary, guarded) {
		return session.Scope{Relation: q.base}
	}
	return q.base.Within(q.filters.Pushed)
}

// sortColumns returns the columns of a requested sort, each once; nil if one of
// them has no Key.
func sortColumns(sort []wire.SortKey, base *session.Relation) []*sqltext.Column {
	var used []*sqltext.Column
	for _, key := range sort {
		c := base.Column(key.Field)
		if c.Key == "" {
			return nil
		}
		if !slices.Contains(used, c) {
			used = append(used, c)
		}
	}
	return used
}

// lastDesc reports whether the last key of a sort descends.
func lastDesc(sort []wire.SortKey) bool { return len(sort) > 0 && sort[len(sort)-1].Dir == wire.Desc }

// sortBy adds the terms of a requested sort.
func (o *order) sortBy(sort []wire.SortKey, base *session.Relation) {
	var used []*sqltext.Column
	for _, key := range sort {
		c := base.Column(key.Field)
		if slices.Contains(used, c) {
			continue
		}
		used = append(used, c)
		desc := key.Dir == wire.Desc
		if c == o.first {
			o.terms = append(o.terms, orderTerm{c.Index.Sorted, desc, false})
			continue
		}
		o.terms = append(o.terms, orderTerm{c.Key, desc, c.Nullable})
	}
}

// ties says how the ties of a relation's rows are broken.
type ties struct {
	used     []*sqltext.Column // the columns of the sort, whose keys are terms already
	unsorted bool              // the order begins with these terms
	// desc reports that the ties descend too: the sort's last key does, and an index may
	// begin with the first, which is then read backwards. Without an index, ties that
	// descend would make the engine replace its first rows by each later one that is equal.
	desc  bool
	outer bool // the relation is joined, so that its columns may be null
}

// byIndex reports whether the ties of a relation are broken as its primary key's
// index has them, in the direction of the sort's last key, so that an index that
// ends with the primary key gives the whole order. A sort that values may leave to
// the library breaks its ties as the library does, also where the engine sorts.
func (t ties) byIndex(r *session.Relation) bool {
	loose := func(c *sqltext.Column) bool { return c.Loose.Guard != "" || c.Loose.Long != "" }
	return r.Enforced && (t.unsorted || len(t.used) > 0 && !slices.ContainsFunc(t.used, loose))
}

// breakTies adds terms that tell the rows of a relation apart: by its key, or by
// all columns if it has none: rows equal in all columns may stand in any order.
func (o *order) breakTies(r *session.Relation, t ties) {
	columns := r.Unique
	if columns == nil {
		columns = r.Columns
	}
	byIndex := t.byIndex(r)
	for _, c := range columns {
		exact := c.Key != "" && c.Loose.Guard == ""
		known := slices.Contains(t.used, c)
		if byIndex && c.Index.Stored != "" && !(known && exact && c.Tie == "") {
			o.add(orderTerm{c.Index.Stored, t.desc, t.outer})
			continue
		}
		if exact && !known {
			o.add(orderTerm{c.Key, t.desc && byIndex, t.outer || c.Nullable})
		}
		if c.Tie != "" {
			o.add(orderTerm{c.Tie, t.desc && byIndex, t.outer || c.Nullable})
		} else if !exact || c.Loose.Long != "" {
			o.total = false
		}
	}
}

// add appends a term, unless the order has its expression.
func (o *order) add(t orderTerm) {
	if !slices.ContainsFunc(o.terms, func(have orderTerm) bool { return have.expr == t.expr }) {
		o.terms = append(o.terms, t)
	}
}
