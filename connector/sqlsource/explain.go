package sqlsource

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// explainQuery notes what of a query the engine does, and what it does not.
func (x *session) explainQuery(q *plannedQuery) {
	if x.report == nil {
		return
	}
	if len(q.hops) > 0 {
		x.pushed("joins")
	}
	x.explainFilters(q.base, q.req.Where, q.filters)
	switch {
	case len(q.req.Sort) == 0:
	case q.served.Sort:
		x.pushed("sort")
	default:
		x.left("The sort by " + x.sortTrouble(q))
	}
	switch {
	case q.req.MaxRows == 0:
	case q.order.total && q.served.Filters && q.served.Sort:
		x.pushed("window")
	case !q.served.Filters:
		x.left("The window is cut after the filters, which are not all pushed.")
	case !q.served.Sort:
		x.left("The window is cut after the sort, which is not pushed.")
	default:
		x.left("The window is cut by the library, because the engine cannot tell all rows apart.")
	}
}

// sortTrouble returns why a sort is not pushed.
func (x *session) sortTrouble(q *plannedQuery) string {
	for _, key := range q.req.Sort {
		if c := q.base.column(key.Field); c.Key == "" {
			return quote(c) + " is left to the library: the engine cannot order its values exactly."
		}
	}
	var names []string
	for _, key := range q.req.Sort {
		names = append(names, wire.QuoteName(key.Field))
	}
	return strings.Join(names, ", ") + " is left to the library: " +
		"some values would be ordered otherwise by the engine, or it cannot tell all rows apart."
}

// explainFilters notes which filters are pushed.
func (x *session) explainFilters(r *relation, where wire.Where, p pushdown) {
	if x.report == nil || len(where.And)+len(where.Or) == 0 {
		return
	}
	if p.all {
		x.pushed("filters")
		return
	}
	var said []string
	for f := range where.Filters() {
		if has(p.pushed, f) {
			continue
		}
		why := "it stands in an or with a filter that is left to the library, or there are too many filters or values"
		c := r.column(f.Field)
		switch _, ok := (&builder{flavor: x.database.flavor}).condition(c, f); {
		case !ok:
			why = "the engine has no condition that means the same"
		case c.Loose.Guard != "" && !slices.Contains(p.used, c):
			why = "the column has values that the engine would misjudge"
		}
		sentence := fmt.Sprintf("The filter %s on %s is left to the library: %s.", f.Op, quote(c), why)
		if !slices.Contains(said, sentence) {
			said = append(said, sentence)
			x.left(sentence)
		}
	}
	if len(p.pushed.And)+len(p.pushed.Or) > 0 {
		x.left("The other filters are pushed, and the library filters what is left.")
	}
}

// has reports whether a filter is among others.
func has(where wire.Where, f wire.Filter) bool {
	for other := range where.Filters() {
		if other.Field == f.Field && other.Op == f.Op && other.Value == f.Value && slices.Equal(other.Values, f.Values) {
			return true
		}
	}
	return false
}

// explainDecline notes that the engine did all, or why it declined. It is for a
// deferred call.
func (x *session) explainDecline(did string, err *error) {
	switch {
	case x.report == nil:
	case *err == nil:
		x.pushed(did)
	case errors.Is(*err, connector.ErrDecline):
		_, why, _ := strings.Cut((*err).Error(), connector.ErrDecline.Error()+": ")
		x.left("The request is declined: " + cmp.Or(why, "it has filters that are left to the library") + ".")
	}
}

// explainHops notes joins that the engine does not do.
func (x *session) explainHops(hops []hop, what string) {
	for _, h := range hops {
		if h.on == "" {
			x.left(fmt.Sprintf("%s %s = %s is done in memory: the engine cannot compare the values of these columns exactly.",
				what, quote(h.keys[0]), quote(h.keys[1])))
		}
	}
}

// quote returns a column's name in the protocol as a message has it.
func quote(c *column) string { return wire.QuoteName(c.name) }
