package sqlsource

import (
	"context"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hop is one LEFT join of a request.
type hop struct {
	from, to *relation
	on       string // empty: the engine cannot say it exactly
	keys     [2]*Column
}

// QueryJoined answers joined rows by one statement (B6). Keys that the engine
// cannot compare exactly, such as a float with a decimal, are joined here, over
// the rows, within kit's budget.
func (s *Source) QueryJoined(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return err
	}
	defer x.close()
	base, hops, exact, err := x.hops(ctx, req.Table, req.Joins)
	if err != nil {
		return err
	}
	if !exact {
		return x.joinHere(ctx, req, base, hops, out)
	}
	q, err := x.plan(ctx, req, base, hops)
	if err != nil {
		return err
	}
	return q.run(ctx, x, out)
}

// hops resolves the hops of a request; exact when the engine can execute all.
func (x *session) hops(ctx context.Context, table string, joins []wire.JoinHop) (base *relation, hops []hop, exact bool, err error) {
	names := []string{table}
	for _, j := range joins {
		names = append(names, j.FromTable, j.ToTable)
	}
	tables, err := x.relations(ctx, names...)
	if err != nil {
		return nil, nil, false, err
	}
	base = x.source.use(tables[table], table, "t0")
	exact = true
	for i, j := range joins {
		h := hop{to: x.source.use(tables[j.ToTable], j.ToTable, fmt.Sprintf("t%d", i+1))}
		if h.from, err = origin(base, hops, joins[:i], j.FromTable); err != nil {
			return nil, nil, false, err
		}
		if h.keys[0] = h.from.column(j.FromField); h.keys[0] == nil {
			return nil, nil, false, h.from.unknownField(j.FromField)
		}
		if h.keys[1] = h.to.column(j.ToField); h.keys[1] == nil {
			return nil, nil, false, h.to.unknownField(j.ToField)
		}
		left, right, ok := x.matched(h.keys[0], h.keys[1])
		if ok {
			if ok, err = x.sound(ctx, h.from, h.keys[:1]); ok && err == nil {
				ok, err = x.sound(ctx, h.to, h.keys[1:])
			}
			if err != nil {
				return nil, nil, false, err
			}
		}
		if ok {
			h.on = left + " = " + right
		}
		exact = exact && ok
		hops = append(hops, h)
	}
	return base, hops, exact, nil
}

// origin is the relation that a hop starts from: the base table, else the
// earlier hop to it (B6).
func origin(base *relation, hops []hop, joins []wire.JoinHop, name string) (*relation, error) {
	var from *relation
	reached := 0
	for i, j := range joins {
		if j.ToTable == name {
			from = hops[i].to
			reached++
		}
	}
	switch {
	case reached > 1:
		return nil, connector.Unsupported("joins: two hops lead to table %s, so it is not clear from which a further one starts", wire.QuoteName(name))
	case name == base.name:
		return base, nil
	case reached == 0:
		return nil, connector.BadRequest("joins: table %s is neither the base table nor that of an earlier hop", wire.QuoteName(name))
	}
	return from, nil
}

// matched are two columns' expressions that are equal exactly when the platform
// finds the values equal (F2): as numbers when both are numeric, else as text.
func (x *session) matched(a, b *Column) (left, right string, ok bool) {
	numeric := a.Type.Numeric() && b.Type.Numeric()
	exact := func(c Class) bool { return c == ClassInteger || c == ClassDecimal }
	switch {
	case a.Key == "" || b.Key == "" || a.Class == ClassOpaque || b.Class == ClassOpaque:
	case numeric && (a.Class == b.Class || exact(a.Class) && exact(b.Class)):
		return a.Key, b.Key, true
	case numeric:
		return "", "", false
	case a.Class == b.Class && a.Type != wire.TypeDecimal:
		switch a.Class {
		case ClassText, ClassBytes, ClassBoolean, ClassDate:
			return a.Key, b.Key, a.Odd == "" && b.Odd == ""
		case ClassDatetime:
			if a.Precision == b.Precision && a.Scale == b.Scale && a.Odd == "" && b.Odd == "" {
				return a.Key, b.Key, true
			}
		}
	}
	if a.Text == "" || b.Text == "" || numeric {
		return "", "", false
	}
	return a.Text, b.Text, true
}

// from is the FROM clause.
func (b *builder) from(base *relation, hops []hop) string {
	clause := " FROM " + base.from
	for _, h := range hops {
		join := " LEFT JOIN "
		if has(bugInnerJoin) {
			join = " JOIN "
		}
		clause += join + h.to.from + " ON " + h.on
	}
	return clause
}

// joinHere reads the tables and joins them in memory.
func (x *session) joinHere(ctx context.Context, req *connector.QueryRequest, base *relation, hops []hop, out *connector.Rows) error {
	q, err := x.plan(ctx, &connector.QueryRequest{
		Table: req.Table, Where: wire.Where{And: req.And, Or: req.Or, FieldTypes: req.FieldTypes}, Sort: req.Sort, Fields: req.Fields,
	}, base, nil)
	if err != nil {
		return err
	}
	q.served.Sort = false // the join keeps the order, but the ties are its own
	for _, h := range hops {
		if h.from == base {
			q.need(h.keys[0])
		}
	}
	if err := q.project(x); err != nil {
		return err
	}
	tables := make([]memsource.Relation, len(hops))
	for i, h := range hops {
		tables[i] = x.whole(ctx, h.to)
	}
	b := &builder{flavor: x.source.config.Flavor}
	statement := "SELECT " + selectCells(q.columns) + b.from(base, nil) + b.where(q.filters, base.column)
	left := memsource.Relation{Columns: q.wire, Rows: x.cells(ctx, base.name, statement, b.args, q.columns)}
	joins := memsource.JoinRequest{Table: req.Table, Fields: req.Fields, FieldTypes: req.FieldTypes, Joins: req.Joins}
	joined, err := memsource.Join(left, joins, tables, 0)
	if err != nil {
		return err
	}
	out.Claim(q.served)
	return emit(out, joined.Columns, joined.Rows)
}

// need adds a column that is not asked for.
func (q *plannedQuery) need(c *Column) {
	for _, have := range q.wire {
		if have.Name == c.name && have.Hop == 0 {
			return
		}
	}
	q.columns = append(q.columns, c)
	q.wire = append(q.wire, wire.Column{Name: c.name, Type: c.Type})
}

// whole is a table with all its columns and rows.
func (x *session) whole(ctx context.Context, r *relation) memsource.Relation {
	rel := memsource.Relation{Rows: x.cells(ctx, r.name, "SELECT "+selectCells(r.columns)+" FROM "+r.from, nil, r.columns)}
	for _, c := range r.columns {
		rel.Columns = append(rel.Columns, wire.Column{Name: c.name, Type: c.Type})
	}
	return rel
}
