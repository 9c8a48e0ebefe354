package sqlsource

import (
	"context"
	"slices"
	"strings"

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
}

// orderTerm is one term of ORDER BY.
type orderTerm struct {
	expr     string
	desc     bool
	nullable bool
}

// orderBy returns the ORDER BY clause, or nothing for an order without terms.
func (b *builder) orderBy(o order) string {
	if len(o.terms) == 0 {
		return ""
	}
	list := make([]string, len(o.terms))
	for i, t := range o.terms {
		list[i] = b.flavor.Order(t.expr, t.desc, t.nullable)
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

// order returns the requested sort with its ties broken, so that pages compose
// [rule query-3]. A sort that the engine cannot do exactly, or whose ties it
// cannot break, is left to the library: the order then has no terms. Without a
// sort, the order is as total as the engine can make it.
func (x *session) order(ctx context.Context, sort []wire.SortKey, base *relation, hops []hop) (order, error) {
	terms, used, err := x.sortTerms(ctx, sort, base)
	if err != nil || len(sort) > 0 && len(used) == 0 {
		return order{}, err
	}
	o := order{terms: terms, sorted: true, total: true}
	o.breakTies(base, used, len(sort) == 0, false)
	for _, h := range hops {
		o.breakTies(h.to, nil, len(sort) == 0, true)
	}
	if len(sort) > 0 && !o.total {
		return order{}, nil
	}
	return o, nil
}

// sortTerms returns the terms of a requested sort and its columns, each once.
// It returns none if the engine cannot sort so exactly.
func (x *session) sortTerms(ctx context.Context, sort []wire.SortKey, base *relation) (terms []orderTerm, used []*Column, err error) {
	for _, key := range sort {
		c := base.column(key.Field)
		if c.Key == "" {
			return nil, nil, nil
		}
		if slices.Contains(used, c) {
			continue
		}
		used = append(used, c)
		desc := key.Dir == wire.Desc
		terms = append(terms, orderTerm{c.Key, desc, c.nullable || c.Odd != ""})
		if c.Odd != "" { // values of another type come after the others
			terms = append(terms, orderTerm{c.OddText, desc, true})
		}
	}
	if exact, err := x.sortable(ctx, base, used...); !exact || err != nil {
		return nil, nil, err
	}
	return terms, used, nil
}

// breakTies adds terms that tell the rows of a relation apart: by its key, or by
// all columns if it has none. Rows equal in all columns need not be told apart.
//
// used are the columns whose keys are terms already. unsorted reports that the
// order begins with these terms, so that a key may stand as its index has it.
// outer reports that the relation is joined, so that its columns may be null.
func (o *order) breakTies(r *relation, used []*Column, unsorted, outer bool) {
	columns := r.unique
	if columns == nil {
		columns = r.columns
	}
	for _, c := range columns {
		if unsorted && r.enforced && c.Stored != "" {
			o.add(orderTerm{c.Stored, false, outer})
			continue
		}
		exact := c.Key != "" && c.Guard == ""
		if exact && !slices.Contains(used, c) {
			o.add(orderTerm{c.Key, false, outer || c.nullable || c.Odd != ""})
		}
		if c.Tie != "" {
			o.add(orderTerm{c.Tie, false, outer || c.nullable})
		} else if !exact || c.Long != "" {
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
