package request

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// alike returns the base table and the filters of a query whose sort begins with a column
// that may spell equal values in several ways, as they are where the page lies if all values
// there are spelled alike: the column then has the order of its index, and a filter ends the
// page. Otherwise it returns them as they are.
//
// It looks at the page's own rows, in the order of the index, and asks whether a value of
// another spelling may belong among them. For datetimes these lie within a day of the page,
// because an offset from UTC moves an instant no further.
func (x Request) alike(
	ctx context.Context, req *connector.Query, base *session.Relation,
) (*session.Relation, wire.Where, error) {
	key := req.Sort[0]
	c, desc := base.Column(key.Field), key.Dir == wire.Desc
	if !c.Indexed || c.Loose.Alike == nil || req.MaxRows <= 0 || req.MaxRows > maxReach || slices.Contains(base.Unique, c) {
		return base, req.Where, nil
	}
	chosen := sqltext.Choose(x.Database.Flavor, req.Where, base.Column)
	where := chosen.Pushed
	bounds, ranged := rangesOf(x.Builder(), c, where)
	if !ranged || !chosen.All {
		return base, req.Where, nil
	}
	value, err := x.firstValue(ctx, base, c, desc, bounds)
	if err != nil || value == "" {
		return base, req.Where, err
	}
	spelled, unlike := c.Loose.Alike(value)
	if spelled == nil {
		return base, req.Where, nil
	}
	own := *c
	own.Column = *spelled
	own.Decode = c.Decode
	found, last, err := x.pageOf(ctx, base.With(&own), &own, where, req)
	if err != nil || last.IsNull() || found < req.MaxRows && len(bounds) == 0 {
		return base, req.Where, err
	}
	if found == req.MaxRows {
		end := wire.Filter{Field: c.Name, Op: wire.OpLte, Value: last}
		if desc {
			end.Op = wire.OpGte
		}
		where.And = append(slices.Clip(where.And), end)
	}
	if all, err := x.AllAlike(ctx, base.Within(where), unlike); err != nil || !all {
		return base, req.Where, err
	}
	return base.With(&own), where, nil
}

// rangesOf returns the filters on a column, and reports whether all of them are ranges that
// its Near narrows, in and.
func rangesOf(b *sqltext.Builder, c *sqltext.Column, where wire.Where) (bounds []wire.Filter, ranged bool) {
	for _, f := range where.And {
		if f.Field != c.Name {
			continue
		}
		switch f.Op {
		case wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte:
		default:
			return nil, false
		}
		if b.Near(c, f) == "" {
			return nil, false
		}
		bounds = append(bounds, f)
	}
	for _, group := range where.Or {
		for _, f := range group {
			if f.Field == c.Name {
				return nil, false
			}
		}
	}
	return bounds, true
}

// firstValue returns a text of the column near the page, or nothing. Its spelling is only a
// guess of how all texts there are spelled.
func (x Request) firstValue(
	ctx context.Context, base *session.Relation, c *sqltext.Column, desc bool, bounds []wire.Filter,
) (string, error) {
	b := x.Builder()
	statement := b.Query(c.Index.Stored, sqltext.Window{Limit: 1, Ordered: true}, func() string {
		return " FROM " + base.From + b.Where(wire.Where{}, base.Column, c.Index.Stored+" IS NOT NULL", b.From(c, desc, bounds)) +
			orderBy(b, order{terms: []orderTerm{{c.Index.Stored, desc, false}}})
	})
	rows, err := x.Tx.QueryContext(ctx, statement, b.Args...)
	if err != nil {
		return "", x.Database.Failure(ctx, err, base.Name)
	}
	defer func() { _ = rows.Close() }()
	var value any
	if rows.Next() {
		err = rows.Scan(&value)
	}
	if err == nil {
		err = rows.Err()
	}
	text, _ := value.(string)
	return text, x.Database.Failure(ctx, err, base.Name)
}

// pageOf reads the sorted column of a page by the index. It returns how many rows there
// are, at most those of the page, and the value that comes last; null without rows, or
// if one of the texts is no value.
func (x Request) pageOf(
	ctx context.Context, r *session.Relation, c *sqltext.Column, where wire.Where, req *connector.Query,
) (found int64, last wire.Value, err error) {
	b := x.Builder()
	statement := b.Query(c.Index.Sorted, sqltext.Window{Limit: req.MaxRows, Ordered: true}, func() string {
		return " FROM " + r.From + b.Where(where, r.Column, c.Inside()) +
			orderBy(b, order{terms: []orderTerm{{c.Index.Sorted, req.Sort[0].Dir == wire.Desc, false}}})
	})
	for values, err := range x.Cells(ctx, r.Name, statement, b.Args, []*sqltext.Column{c}) {
		if err != nil || values[0].IsNull() {
			return 0, wire.Null(), err
		}
		found, last = found+1, values[0]
	}
	return found, last.Clone(), nil
}
