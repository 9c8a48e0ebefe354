package request

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// explainQuery notes what of a query the engine does, and what it does not.
func (x Request) explainQuery(q *plannedQuery) {
	if x.Report == nil {
		return
	}
	if len(q.hops) > 0 {
		x.Pushed("joins")
	}
	x.explainFilters(q.base, q.req.Where, q.filters)
	switch {
	case len(q.req.Sort) == 0:
	case q.served.Sort:
		x.Pushed("sort")
		if c := q.base.Column(q.req.Sort[0].Field); q.base.Misordered(c) {
			x.Left("The index of " + quote(c) + " does not serve the sort: " + misordered)
		}
	default:
		x.Left("The sort by " + x.sortTrouble(q))
	}
	switch {
	case q.req.MaxRows == 0:
	case q.order.total && q.served.Filters && q.served.Sort:
		x.Pushed("window")
	case !q.served.Filters:
		x.Left("The window is cut after the filters, which are not all pushed.")
	case !q.served.Sort:
		x.Left("The window is cut after the sort, which is not pushed.")
	default:
		x.Left("The window is cut by the library, because the engine cannot tell all rows apart.")
	}
}

// sortTrouble returns why a sort is not pushed.
func (x Request) sortTrouble(q *plannedQuery) string {
	for _, key := range q.req.Sort {
		if c := q.base.Column(key.Field); c.Key == "" {
			return quote(c) + " is left to the library: the engine cannot order its values exactly."
		}
	}
	var names []string
	for _, key := range q.req.Sort {
		names = append(names, terms.QuoteName(key.Field))
	}
	return strings.Join(names, ", ") + " is left to the library: " +
		"some values would be ordered otherwise by the engine, or it cannot tell all rows apart."
}

// explainFilters notes which filters are pushed.
func (x Request) explainFilters(r *session.Relation, where wire.Where, p sqltext.Pushdown) {
	if x.Report == nil || len(where.And)+len(where.Or) == 0 {
		return
	}
	x.explainRanges(r, p)
	if p.All {
		x.Pushed("filters")
		return
	}
	var said []string
	for f := range where.Filters() {
		if has(p.Pushed, f) {
			continue
		}
		why := "it stands in an or with a filter that is left to the library, or there are too many filters or values"
		c := r.Column(f.Field)
		switch _, ok := (&sqltext.Builder{Flavor: x.Database.Flavor}).Condition(c, f); {
		case !ok:
			why = "the engine has no condition that means the same"
		case c.Loose.Guard != "" && !slices.Contains(p.Used, c):
			why = "the column has values that the engine would misjudge"
		}
		sentence := fmt.Sprintf("The filter %s on %s is left to the library: %s.", f.Op, quote(c), why)
		if !slices.Contains(said, sentence) {
			said = append(said, sentence)
			x.Left(sentence)
		}
	}
	if len(p.Pushed.And)+len(p.Pushed.Or) > 0 {
		x.Left("The other filters are pushed, and the library filters what is left.")
	}
}

// misordered says why an index serves no sort and no comparison.
const misordered = "its order is not that of the bytes as they are sent, which an index of a text has with a binary collation."

// explainRanges notes the comparisons that are pushed and that no index serves.
func (x Request) explainRanges(r *session.Relation, p sqltext.Pushdown) {
	var said []*sqltext.Column
	for f := range p.Pushed.Filters() {
		c := r.Column(f.Field)
		switch f.Op {
		case wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpStartsWith:
			if r.Misordered(c) && !slices.Contains(said, c) {
				said = append(said, c)
				x.Left("The index of " + quote(c) + " does not serve the filter: " + misordered)
			}
		}
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
func (x Request) explainDecline(did string, err *error) {
	switch {
	case x.Report == nil:
	case *err == nil:
		x.Pushed(did)
	case errors.Is(*err, connector.ErrDecline):
		_, why, _ := strings.Cut((*err).Error(), connector.ErrDecline.Error()+": ")
		x.Left("The request is declined: " + cmp.Or(why, "it has filters that are left to the library") + ".")
	}
}

// explainHops notes joins that the engine does not do.
func (x Request) explainHops(hops []hop, what string) {
	for _, h := range hops {
		if h.on == "" {
			x.Left(fmt.Sprintf("%s %s = %s is done in memory: the engine cannot compare the values of these columns exactly.",
				what, quote(h.keys[0]), quote(h.keys[1])))
		}
	}
}

// quote returns a column's name in the protocol as a message has it.
func quote(c *sqltext.Column) string { return terms.QuoteName(c.Name) }
