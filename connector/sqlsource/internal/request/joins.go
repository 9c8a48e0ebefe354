package request

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hop is one LEFT join of a request.
type hop struct {
	from, to *session.Relation
	on       string    // empty: the engine has no exact condition
	near     [2]string // what an index compares beside it; empty: nothing
	keys     [2]*sqltext.Column
}

// QueryJoined answers joined rows by one statement. Keys that the engine cannot
// compare exactly, such as a float with a decimal, are joined in memory, within
// 64 MiB.
func QueryJoined(ctx context.Context, s *session.Database, req *connector.Query, out *connector.Rows) error {
	x, err := open(ctx, s, req.Credentials, connector.Call{Method: "QueryJoined", Table: req.Table})
	if err != nil {
		return err
	}
	defer x.Close()
	base, hops, exact, err := x.hops(ctx, req.Table, req.Joins)
	if err != nil {
		return err
	}
	if !exact {
		x.explainHops(hops, "The join by")
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
func (x Request) hops(
	ctx context.Context, table string, joins []wire.JoinHop,
) (base *session.Relation, hops []hop, exact bool, err error) {
	names := []string{table}
	for _, j := range joins {
		names = append(names, j.FromTable, j.ToTable)
	}
	tables, err := x.Tables(ctx, names...)
	if err != nil {
		return nil, nil, false, err
	}
	base = x.Database.Relation(tables[table], table, "t0")
	exact = true
	for i, j := range joins {
		h := hop{to: x.Database.Relation(tables[j.ToTable], j.ToTable, fmt.Sprintf("t%d", i+1))}
		if h.from, err = origin(base, hops, joins[:i], j.FromTable); err != nil {
			return nil, nil, false, err
		}
		if h.keys[0] = h.from.Column(j.FromField); h.keys[0] == nil {
			return nil, nil, false, h.from.UnknownField(j.FromField)
		}
		if h.keys[1] = h.to.Column(j.ToField); h.keys[1] == nil {
			return nil, nil, false, h.to.UnknownField(j.ToField)
		}
		if err = x.joinCondition(ctx, &h); err != nil {
			return nil, nil, false, err
		}
		exact = exact && h.on != ""
		hops = append(hops, h)
	}
	return base, hops, exact, nil
}

// joinCondition sets the condition of a hop, which stays empty if the engine has no
// exact one, or the values do not allow it.
func (x Request) joinCondition(ctx context.Context, h *hop) error {
	left, right, ok := x.comparableKeys(h.keys[0], h.keys[1])
	if !ok {
		return nil
	}
	if exact, err := x.NoneMatch(ctx, h.from, h.keys[0].Loose.Guard); !exact || err != nil {
		return err
	}
	if exact, err := x.NoneMatch(ctx, h.to, h.keys[1].Loose.Guard); !exact || err != nil {
		return err
	}
	h.on = left + " = " + right
	plain, err := x.plainKeys(ctx, *h)
	if err != nil || plain[0] == "" || plain == [2]string{left, right} {
		return err
	}
	h.near = plain
	h.on = plain[0] + " = " + plain[1] + " AND " + h.on
	return nil
}

// plainKeys returns the expressions of a hop that an index compares, and that are
// equal for all equal keys; empty if a column lacks one.
func (x Request) plainKeys(ctx context.Context, h hop) (keys [2]string, err error) {
	a, b := h.keys[0], h.keys[1]
	if b.Index.PlainAs != nil {
		if as := b.Index.PlainAs(&a.Column); as != "" {
			return [2]string{as, b.Index.Plain}, nil
		}
	}
	if a.Index.PlainKind == "" || a.Index.PlainKind != b.Index.PlainKind || a.Index.Plain == "" || b.Index.Plain == "" {
		return keys, nil
	}
	for _, side := range []struct {
		of  *session.Relation
		key *sqltext.Column
	}{{h.from, a}, {h.to, b}} {
		if plain, err := x.NoneMatch(ctx, side.of, side.key.Index.Unsorted); !plain || err != nil {
			return keys, err
		}
	}
	return [2]string{a.Index.Plain, b.Index.Plain}, nil
}

// origin returns the relation that a hop starts from: the base table, or that of
// an earlier hop.
func origin(base *session.Relation, hops []hop, joins []wire.JoinHop, name string) (*session.Relation, error) {
	var from *session.Relation
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
			terms.QuoteName(name))
	case name == base.Name:
		return base, nil
	case reached == 0:
		return nil, connector.BadRequest("joins: table %s is neither the base table nor that of an earlier hop", terms.QuoteName(name))
	}
	return from, nil
}

// comparableKeys returns expressions of two columns that are equal exactly when
// the platform finds the values equal: as numbers if both are numeric, else as
// text [rule measure-2b].
func (x Request) comparableKeys(a, b *sqltext.Column) (left, right string, ok bool) {
	numeric := a.Type.Numeric() && b.Type.Numeric()
	switch {
	case a.Key == "" || b.Key == "" || a.Class == sqlengine.ClassOpaque || b.Class == sqlengine.ClassOpaque:
	case numeric:
		alike := a.Class == b.Class && a.Mixed() == b.Mixed() && a.Single == b.Single
		return x.joinKeys(a, b, alike || exactNumber(a) && exactNumber(b) || mixes(a, b) || mixes(b, a))
	case a.Class == b.Class && a.Type != wire.TypeDecimal:
		switch a.Class {
		case sqlengine.ClassText, sqlengine.ClassBytes, sqlengine.ClassBoolean, sqlengine.ClassDate:
			return x.joinKeys(a, b, true)
		case sqlengine.ClassDatetime:
			if a.Precision == b.Precision && a.Scale == b.Scale {
				return x.joinKeys(a, b, true)
			}
		}
	}
	return a.Text, b.Text, a.Text != "" && b.Text != "" && !numeric
}

// joinKeys returns the keys of two columns that the engine compares exactly, if
// comparable is set, in the form in which it does.
func (x Request) joinKeys(a, b *sqltext.Column, comparable bool) (left, right string, ok bool) {
	if as := x.Database.Flavor.JoinKeys; as != nil && comparable {
		return as(&a.Column, &b.Column)
	}
	return a.Key, b.Key, comparable
}

// exactNumber reports whether the engine compares all numbers of a column exactly.
func exactNumber(c *sqltext.Column) bool {
	return c.Class == sqlengine.ClassInteger || c.Class == sqlengine.ClassDecimal
}

// mixes reports whether the engine compares the numbers of a mixed column with those
// of another column exactly, whichever kind each value is.
func mixes(c, other *sqltext.Column) bool { return c.Mixed() && other.Class == sqlengine.ClassInteger }

// fromClause returns the FROM clause. base is the base table with its alias.
func fromClause(b *sqltext.Builder, base string, hops []hop) string {
	clause := " FROM " + base
	for _, h := range hops {
		clause += " LEFT JOIN " + h.to.From + " ON " + h.on
	}
	return clause
}

// fromFirst returns the FROM clause of a query whose window ends with row n: a left join
// drops no row of the base table, so the first n rows of that give the first n rows of
// the join, and no others need be joined, sorted, or made into cells.
func fromFirst(b *sqltext.Builder, q *plannedQuery, o order, n int64) string {
	all := make([]string, len(q.base.Catalog.Columns)) // those that may be read: * is refused if another one may not, and hides some
	for i, c := range q.base.Catalog.Columns {
		all[i] = "t0." + b.Flavor.Quote(c.Name)
	}
	first := b.Query(strings.Join(all, ", "), sqltext.Window{Limit: n, Ordered: len(o.terms) > 0}, func() string {
		return " FROM " + q.base.From + b.Where(q.filters.Pushed, q.base.Column) + orderBy(b, o)
	})
	return fromClause(b, "("+first+") t0", q.hops)
}

// joinInMemory reads the tables and joins them here. The join keeps the order of
// the base's rows, and of the rows of a hop that match one of them, so if each
// table is read in a total order, so is the answer. The library cuts the window.
func (x Request) joinInMemory(
	ctx context.Context, req *connector.Query, base *session.Relation, hops []hop, out *connector.Rows,
) error {
	whole := &connector.Query{Table: req.Table, Where: req.Where, Sort: req.Sort, Fields: req.Fields}
	if req.MaxRows > 0 {
		whole.MaxRows = math.MaxInt64 // of the join: a row of the base may be several
	}
	q, err := x.plan(ctx, whole, base, nil)
	if err != nil {
		return err
	}
	x.explainFilters(base, req.Where, q.filters)
	tables := make([]relation.Relation, len(hops))
	for i, h := range hops {
		if h.from == base {
			q.need(h.keys[0], h.keys[0].Name, 0)
		}
		tables[i] = x.whole(ctx, h.to, len(req.Sort) > 0 || req.MaxRows > 0)
	}
	left := relation.Relation{Columns: q.wire, Rows: q.rows(ctx, x, 0, 0)}
	joins := relation.JoinRequest{Table: req.Table, Fields: req.Fields, FieldTypes: req.FieldTypes, Joins: req.Joins}
	joined, err := measures.Join(left, joins, tables, 0)
	if err != nil {
		return err
	}
	out.Claim(q.served)
	return session.Emit(out, joined.Columns, joined.Rows)
}

// whole returns a table with all its columns and rows, in an order that is the
// same each time if ordered is set.
func (x Request) whole(ctx context.Context, r *session.Relation, ordered bool) relation.Relation {
	statement := "SELECT " + sqltext.SelectCells(r.Columns) + " FROM " + r.From
	if ordered {
		var o order
		o.breakTies(r, ties{unsorted: true})
		statement += orderBy(x.Builder(), o)
	}
	rel := relation.Relation{Rows: x.Cells(ctx, r.Name, statement, nil, r.Columns)}
	for _, c := range r.Columns {
		rel.Columns = append(rel.Columns, wire.Column{Name: c.Name, Type: c.Type})
	}
	return rel
}
