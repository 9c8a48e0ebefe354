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
	on       string // empty: the engine has no exact condition
	keys     [2]*Column
}

// QueryJoined answers joined rows by one statement. Keys that the engine cannot
// compare exactly, such as a float with a decimal, are joined in memory, within
// [memsource.DefaultBudget].
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
		return x.joinInMemory(ctx, req, base, hops, out)
	}
	q, err := x.plan(ctx, req, base, hops)
	if err != nil {
		return err
	}
	return q.run(ctx, x, out)
}

// hops resolves the hops of a request. It reports exact if the engine can
// execute all of them.
func (x *session) hops(
	ctx context.Context, table string, joins []wire.JoinHop,
) (base *relation, hops []hop, exact bool, err error) {
	names := []string{table}
	for _, j := range joins {
		names = append(names, j.FromTable, j.ToTable)
	}
	tables, err := x.tables(ctx, names...)
	if err != nil {
		return nil, nil, false, err
	}
	base = x.source.relation(tables[table], table, "t0")
	exact = true
	for i, j := range joins {
		h := hop{to: x.source.relation(tables[j.ToTable], j.ToTable, fmt.Sprintf("t%d", i+1))}
		if h.from, err = origin(base, hops, joins[:i], j.FromTable); err != nil {
			return nil, nil, false, err
		}
		if h.keys[0] = h.from.column(j.FromField); h.keys[0] == nil {
			return nil, nil, false, h.from.unknownField(j.FromField)
		}
		if h.keys[1] = h.to.column(j.ToField); h.keys[1] == nil {
			return nil, nil, false, h.to.unknownField(j.ToField)
		}
		if h.on, err = x.joinCondition(ctx, h); err != nil {
			return nil, nil, false, err
		}
		exact = exact && h.on != ""
		hops = append(hops, h)
	}
	return base, hops, exact, nil
}

// joinCondition returns the condition of a hop; empty if the engine has no exact
// one, or the values do not allow it.
func (x *session) joinCondition(ctx context.Context, h hop) (string, error) {
	left, right, ok := comparableKeys(h.keys[0], h.keys[1])
	if !ok {
		return "", nil
	}
	if ok, err := x.comparable(ctx, h.from, h.keys[0]); !ok || err != nil {
		return "", err
	}
	if ok, err := x.comparable(ctx, h.to, h.keys[1]); !ok || err != nil {
		return "", err
	}
	return left + " = " + right, nil
}

// origin returns the relation that a hop starts from: the base table, or that of
// an earlier hop.
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
		return nil, connector.Unsupported("joins: two hops lead to table %s, so it is not clear from which a further one starts",
			wire.QuoteName(name))
	case name == base.name:
		return base, nil
	case reached == 0:
		return nil, connector.BadRequest("joins: table %s is neither the base table nor that of an earlier hop", wire.QuoteName(name))
	}
	return from, nil
}

// comparableKeys returns expressions of two columns that are equal exactly when
// the platform finds the values equal: as numbers if both are numeric, else as
// text [rule measure-2b].
func comparableKeys(a, b *Column) (left, right string, ok bool) {
	numeric := a.Type.Numeric() && b.Type.Numeric()
	switch {
	case a.Key == "" || b.Key == "" || a.Class == ClassOpaque || b.Class == ClassOpaque:
	case numeric:
		return a.Key, b.Key, a.Class == b.Class || a.Class.exactNumber() && b.Class.exactNumber()
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
	return a.Text, b.Text, a.Text != "" && b.Text != "" && !numeric
}

// from returns the FROM clause.
func (b *builder) from(base *relation, hops []hop) string {
	clause := " FROM " + base.from
	for _, h := range hops {
		clause += " LEFT JOIN " + h.to.from + " ON " + h.on
	}
	return clause
}

// joinInMemory reads the tables and joins them here. The join keeps the order of
// the base's rows, and of the rows of a hop that match one of them, so if each
// table is read in a total order, so is the answer. The library cuts the window.
func (x *session) joinInMemory(ctx context.Context, req *connector.QueryRequest, base *relation, hops []hop, out *connector.Rows) error {
	q, err := x.plan(ctx, &connector.QueryRequest{
		Table: req.Table, Where: req.Where, Sort: req.Sort, Fields: req.Fields, Windowed: req.Windowed,
	}, base, nil)
	if err != nil {
		return err
	}
	tables := make([]memsource.Relation, len(hops))
	for i, h := range hops {
		if h.from == base {
			q.need(h.keys[0], h.keys[0].name, 0)
		}
		tables[i] = x.whole(ctx, h.to, len(req.Sort) > 0 || req.Windowed)
	}
	b := x.builder()
	statement := q.statement(b)
	rows := x.cells(ctx, base.name, statement, b.args, q.columns)
	left := memsource.Relation{Columns: q.wire, Rows: rows}
	joins := memsource.JoinRequest{Table: req.Table, Fields: req.Fields, FieldTypes: req.FieldTypes, Joins: req.Joins}
	joined, err := memsource.Join(left, joins, tables, 0)
	if err != nil {
		return err
	}
	out.Claim(q.served)
	return emit(out, joined.Columns, joined.Rows)
}

// whole returns a table with all its columns and rows, in an order that is the
// same each time if ordered is set.
func (x *session) whole(ctx context.Context, r *relation, ordered bool) memsource.Relation {
	statement := "SELECT " + selectCells(r.columns) + " FROM " + r.from
	if ordered {
		var o order
		o.breakTies(r, nil, true, false)
		statement += x.builder().orderBy(o)
	}
	rel := memsource.Relation{Rows: x.cells(ctx, r.name, statement, nil, r.columns)}
	for _, c := range r.columns {
		rel.Columns = append(rel.Columns, wire.Column{Name: c.name, Type: c.Type})
	}
	return rel
}
