package request

import (
	"cmp"
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Query answers rows by one statement, read as they come.
func Query(ctx context.Context, s *session.Database, req *connector.Query, out *connector.Rows) error {
	x, r, err := openTable(ctx, s, req.Credentials, connector.Call{Method: "Query", Table: req.Table})
	if err != nil {
		return err
	}
	defer x.Close()
	q, err := x.plan(ctx, req, r, nil)
	if err != nil {
		return err
	}
	return q.run(ctx, x, out)
}

// plannedQuery is what the engine does of a query.
type plannedQuery struct {
	req     *connector.Query
	base    *session.Relation
	hops    []hop
	filters sqltext.Pushdown
	order   order
	served  connector.Applied
	columns []*sqltext.Column // selected
	wire    []wire.Column
}

// plan divides a query between the engine and the library.
func (x Request) plan(ctx context.Context, req *connector.Query, base *session.Relation, hops []hop) (*plannedQuery, error) {
	q := &plannedQuery{req: req, base: base, hops: hops}
	if err := base.CheckFields(req.Where); err != nil {
		return nil, err
	}
	for _, key := range req.Sort {
		if base.Column(key.Field) == nil {
			return nil, base.UnknownField(key.Field)
		}
	}
	where, err := req.Where, error(nil)
	if len(req.Sort) > 0 && len(hops) == 0 {
		if q.base, where, err = x.alike(ctx, req, base); err != nil {
			return nil, err
		}
	}
	if q.filters, err = x.filters(ctx, q.base, where); err != nil {
		return nil, err
	}
	q.served = connector.Applied{Filters: q.filters.All, Sort: true}
	if len(req.Sort) > 0 || req.MaxRows > 0 { // all rows, in any order, need no ORDER BY
		if q.order, err = x.order(ctx, q); err != nil {
			return nil, err
		}
		q.served.Sort = q.order.sorted
	}
	return q, q.project()
}

// filters checks the fields of a request's filters, and chooses what to push.
func (x Request) filters(ctx context.Context, r *session.Relation, where wire.Where) (sqltext.Pushdown, error) {
	if err := r.CheckFields(where); err != nil {
		return sqltext.Pushdown{}, err
	}
	chosen := sqltext.Choose(x.Database.Flavor, where, r.Column)
	exact, err := x.NoneAmong(ctx, r.Within(chosen.Pushed), session.Guards(chosen.Used)...)
	if exact || err != nil {
		return chosen, err
	}
	// Some column has values that SQL would misjudge. Asking which one would cost
	// a statement for each, so all columns with a guard are left to the library.
	return sqltext.Choose(x.Database.Flavor, where, func(name string) *sqltext.Column {
		c := *r.Column(name)
		if c.Loose.Guard != "" {
			c.Class, c.Text, c.Contains = sqlengine.ClassOpaque, "", nil
		}
		return &c
	}), nil
}

// project chooses the columns: those asked for, and those that the library still
// has to filter and sort by.
func (q *plannedQuery) project() error {
	for _, name := range q.req.Fields {
		c := q.base.Column(name)
		if c == nil {
			return q.base.UnknownField(name)
		}
		q.need(c, name, 0)
	}
	if !q.served.Filters {
		for f := range q.req.Filters() {
			q.need(q.base.Column(f.Field), f.Field, 0)
		}
	}
	if !q.served.Sort {
		for _, key := range q.req.Sort {
			q.need(q.base.Column(key.Field), key.Field, 0)
		}
		ties := q.base.Primary
		if ties == nil {
			ties = q.base.Columns
		}
		for _, c := range ties {
			q.need(c, c.Name, 0)
		}
	}
	for i, h := range q.hops {
		for _, f := range q.req.Joins[i].Fields {
			c := h.to.Column(f.Field)
			if c == nil {
				return h.to.UnknownField(f.Field)
			}
			q.need(c, cmp.Or(f.As, f.Field), i+1)
		}
	}
	return nil
}

// need adds a column to those selected, once.
func (q *plannedQuery) need(c *sqltext.Column, name string, hop int) {
	for _, have := range q.wire {
		if have.Name == name && have.Hop == hop {
			return
		}
	}
	q.columns = append(q.columns, c)
	q.wire = append(q.wire, wire.Column{Name: name, Type: c.Type, Hop: hop})
}

// run runs the statement and streams its rows. The engine cuts the window only
// if its order is total; otherwise the library cuts it from the ordered rows.
func (q *plannedQuery) run(ctx context.Context, x Request, out *connector.Rows) error {
	x.explainQuery(q)
	claim := out.Claim(q.served)
	var offset, limit int64
	if q.order.total {
		offset, limit, _ = claim.TakeWindow()
	}
	return session.Emit(out, q.wire, q.rows(ctx, x, offset, limit))
}

// rows returns the rows of a window of the query's order; 0 is no offset, and no
// limit.
func (q *plannedQuery) rows(ctx context.Context, x Request, offset, limit int64) relation.Rows {
	if q.order.first != nil {
		return q.rowsByIndex(ctx, x, offset, limit)
	}
	return q.part(ctx, x, q.order, "", offset, limit)
}

// part returns those rows of the query that meet one more condition, if it is not
// empty.
func (q *plannedQuery) part(ctx context.Context, x Request, o order, condition string, offset, limit int64) relation.Rows {
	b := x.Builder()
	window := sqltext.Window{Offset: offset, Limit: limit, Ordered: len(o.terms) > 0}
	statement := b.Query(sqltext.SelectCells(q.columns), window, func() string {
		if q.firstAlone(x) && limit > 0 && limit <= maxReach && offset <= maxReach {
			return fromFirst(b, q, order{terms: o.terms[:o.own]}, offset+limit) + orderBy(b, o)
		}
		return fromClause(b, q.base.From, q.hops) + b.Where(q.filters.Pushed, q.base.Column, condition) + orderBy(b, o)
	})
	return x.Cells(ctx, q.base.Name, statement, b.Args, q.columns)
}

// firstAlone reports whether the first rows of the base table are better found alone:
// before they are joined, and before an engine that computes the cells of all rows
// that it sorts does so.
func (q *plannedQuery) firstAlone(x Request) bool {
	return len(q.hops) > 0 ||
		x.Database.Flavor.CellsFirst && len(q.req.Sort) > 0 && q.order.first == nil && len(q.base.Catalog.RowID) == 0
}
