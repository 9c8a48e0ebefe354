package request

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// extremes returns the statement of an aggregate that an index answers: minima and
// maxima of indexed columns, without groups. It returns none for another aggregate.
//
// Each is the first row of an order, so it is read by the index as it is. A filter
// on another column prevents that: the index might be searched in vain from one end
// to the other, which takes longer than reading the table.
func (a *aggregation) extremes(ctx context.Context, filters sqltext.Pushdown) (statement string, args []any, err error) {
	if len(a.req.GroupBy) > 0 || len(a.hops) > 0 || len(a.fields) == 0 {
		return "", nil, nil
	}
	for i, m := range a.req.Measures {
		c := a.fields[i]
		if m.Fn != wire.AggMin && m.Fn != wire.AggMax || !c.Indexed || !ordered(c.Type) {
			return "", nil, nil
		}
		for f := range filters.Pushed.Filters() {
			if a.base.Column(f.Field) != c {
				return "", nil, nil
			}
		}
	}
	b := a.session.Builder()
	var exprs []string
	for i, m := range a.req.Measures {
		expr, err := a.extreme(ctx, b, filters.Pushed, a.fields[i], m.Fn)
		if expr == "" || err != nil || len(b.Args) > sqltext.MaxValues {
			return "", nil, err
		}
		exprs = append(exprs, expr)
	}
	for i, expr := range exprs {
		a.answer(nullOr(a.fields[i].Decode), expr)
	}
	return "SELECT " + strings.Join(a.outer, ", ") + a.session.fromNoTable(), b.Args, nil
}

// extreme returns a subquery for a minimum or a maximum that an index answers, or "".
func (a *aggregation) extreme(
	ctx context.Context, b *sqltext.Builder, pushed wire.Where, c *sqltext.Column, fn wire.AggFunc,
) (string, error) {
	desc := fn == wire.AggMax
	if c.Index.Sorted != "" && (c.Loose.Guard == "" || c.Index.Unsorted != "") {
		if sorted, err := a.session.NoneMatch(ctx, a.base, c.Index.Unsorted, c.Loose.Long); !sorted || err != nil {
			return "", err
		}
		return "(" + b.Query(c.Cell, sqltext.Window{Limit: 1, Ordered: true}, func() string {
			return fromClause(b, a.base.From, nil) + b.Where(pushed, a.base.Column, c.Inside()) +
				orderBy(b, order{terms: []orderTerm{{c.Index.Sorted, desc, false}}})
		}) + ")", nil
	}
	f, err := a.session.reach(ctx, a.base, pushed, c, desc, 1)
	if f == nil || err != nil {
		return "", err
	}
	pushed.And = append(slices.Clip(pushed.And), *f)
	if exact, err := a.session.NoneAmong(ctx, a.base.Within(pushed), c.Loose.Guard, c.Loose.Long); !exact || err != nil {
		return "", err
	}
	name := "MIN"
	if desc {
		name = "MAX"
	}
	return "(SELECT " + c.AsCell(name+"("+c.Key+")") + fromClause(b, a.base.From, nil) + b.Where(pushed, a.base.Column) + ")", nil
}

// ordered reports whether a type has a least and a greatest value.
func ordered(t wire.Type) bool {
	return t != wire.TypeBoolean && t != wire.TypeJSON && t != wire.TypeArray
}
