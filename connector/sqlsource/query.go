package sqlsource

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Query answers rows by one statement, read as they come.
func (s *Source) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return err
	}
	defer x.close()
	r, err := x.one(ctx, req.Table)
	if err != nil {
		return err
	}
	q, err := x.plan(ctx, req, r, nil)
	if err != nil {
		return err
	}
	return q.run(ctx, x, out)
}

// plannedQuery is what of a query the engine does.
type plannedQuery struct {
	req     *connector.QueryRequest
	base    *relation
	hops    []hop
	filters selection
	order   []orderTerm
	served  connector.Served
	columns []*Column // what is selected
	wire    []wire.Column
}

// plan divides a query between the engine and the SDK.
func (x *session) plan(ctx context.Context, req *connector.QueryRequest, base *relation, hops []hop) (*plannedQuery, error) {
	q := &plannedQuery{req: req, base: base, hops: hops}
	if err := base.check(req.And, req.Or); err != nil {
		return nil, err
	}
	var err error
	if q.filters, err = x.filters(ctx, base, req.And, req.Or); err != nil {
		return nil, err
	}
	q.served.Filters = q.filters.all
	for _, key := range req.Sort {
		if base.column(key.Field) == nil {
			return nil, base.unknownField(key.Field)
		}
	}
	// A whole table in any order needs no ties broken, nor their columns looked
	// at first.
	q.served.Sort = true
	if len(req.Sort) > 0 || req.Windowed {
		if q.order, q.served.Sort, err = x.order(ctx, req.Sort, base, hops); err != nil {
			return nil, err
		}
	}
	return q, q.project(x)
}

// filters chooses what to push, and looks whether the values allow it.
func (x *session) filters(ctx context.Context, r *relation, and []wire.Filter, or [][]wire.Filter) (selection, error) {
	chosen := choose(x.source.config.Flavor, and, or, r.column)
	ok, err := x.sound(ctx, r, chosen.used)
	if ok || err != nil {
		return chosen, err
	}
	// Some column has values that cannot be judged in SQL; which one does not
	// matter enough to ask for each.
	return choose(x.source.config.Flavor, and, or, func(name string) *Column {
		c := *r.column(name)
		if c.Guard != "" {
			c.Class, c.Text, c.Contains = ClassOpaque, "", nil
		}
		return &c
	}), nil
}

// project chooses the columns: what is asked for, and what the SDK still has to
// filter and sort by.
func (q *plannedQuery) project(x *session) error {
	add := func(c *Column, name string, hop int) {
		for _, have := range q.wire {
			if have.Name == name && have.Hop == hop {
				return
			}
		}
		q.columns = append(q.columns, c)
		q.wire = append(q.wire, wire.Column{Name: name, Type: c.Type, Hop: hop})
	}
	for _, name := range q.req.Fields {
		c := q.base.column(name)
		if c == nil {
			return q.base.unknownField(name)
		}
		add(c, name, 0)
	}
	if !q.served.Filters {
		for _, group := range append([][]wire.Filter{q.req.And}, q.req.Or...) {
			for _, f := range group {
				add(q.base.column(f.Field), f.Field, 0)
			}
		}
	}
	if !q.served.Sort {
		for _, key := range q.req.Sort {
			add(q.base.column(key.Field), key.Field, 0)
		}
		tie := x.source.primary(q.base)
		if tie == nil {
			tie = q.base.columns // all of them, so that pages compose (B3)
		}
		for _, c := range tie {
			add(c, c.name, 0)
		}
	}
	for i, h := range q.hops {
		for _, f := range q.req.Joins[i].Fields {
			c := h.to.column(f.Field)
			if c == nil {
				return h.to.unknownField(f.Field)
			}
			add(c, or(f.As, f.Field), i+1)
		}
	}
	return nil
}

// run makes the statement and streams its rows.
func (q *plannedQuery) run(ctx context.Context, x *session, out *connector.Rows) error {
	offset, limit, window := out.Claim(q.served).Window()
	b := &builder{flavor: x.source.config.Flavor}
	statement := "SELECT " + selectCells(q.columns) + b.from(q.base, q.hops) + b.where(q.filters, q.base.column)
	if q.served.Sort && (len(q.req.Sort) > 0 || q.req.Windowed) {
		statement += b.orderBy(q.order)
	}
	if window && (offset > 0 || limit > 0) {
		if has(bugOffset) && offset > 0 {
			offset++
		}
		var limitParam, offsetParam string
		if limit > 0 {
			limitParam = b.bind(limit)
		}
		if offset > 0 {
			offsetParam = b.bind(offset)
		}
		statement += b.flavor.Window(limitParam, offsetParam)
	}
	return emit(out, q.wire, x.cells(ctx, q.base.name, statement, b.args, q.columns))
}

func selectCells(columns []*Column) string {
	if len(columns) == 0 {
		return "1"
	}
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.Cell
	}
	return strings.Join(cells, ", ")
}

// orderTerm is one term of ORDER BY.
type orderTerm struct {
	expr     string
	desc     bool
	nullable bool
}

func (b *builder) orderBy(terms []orderTerm) string {
	if len(terms) == 0 {
		return ""
	}
	list := make([]string, len(terms))
	for i, t := range terms {
		if has(bugNullsFirst) {
			t.nullable = false
		}
		list[i] = b.flavor.Order(t.expr, t.desc, t.nullable)
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

// order is the requested order with ties broken: by the primary keys of the
// base table and the hops where they are known, else by all columns (B3). False
// when the engine cannot order so exactly.
func (x *session) order(ctx context.Context, sort []wire.SortKey, base *relation, hops []hop) ([]orderTerm, bool, error) {
	var terms []orderTerm
	var used []*Column
	for _, key := range sort {
		c := base.column(key.Field)
		if c.Key == "" {
			return nil, false, nil
		}
		if slices.Contains(used, c) {
			continue
		}
		used = append(used, c)
		desc := key.Dir == wire.Desc
		terms = append(terms, orderTerm{c.Key, desc, c.nullable || c.Odd != ""})
		if c.Odd != "" { // behind those that are (B1)
			terms = append(terms, orderTerm{c.OddText, desc, true})
		}
	}
	ok, err := x.sortable(ctx, base, used)
	if !ok || err != nil {
		return nil, false, err
	}
	relations := []*relation{base}
	for _, h := range hops {
		relations = append(relations, h.to)
	}
	for i, r := range relations {
		tie := x.source.primary(r)
		if tie == nil {
			tie = r.columns
		}
		if ok, err := x.sortable(ctx, r, tie); !ok && (len(sort) > 0 || err != nil) {
			return nil, false, err
		}
		for _, c := range tie {
			expr := c.Key
			if expr == "" || c.Guard != "" {
				expr = c.Tie
			}
			switch {
			case slices.Contains(used, c):
			case expr == "" && len(sort) > 0:
				return nil, false, nil
			case expr != "":
				terms = append(terms, orderTerm{expr, has(bugTie), i > 0 || c.nullable || c.Odd != ""})
			}
		}
	}
	return terms, true, nil
}

// sortable is sound for an order: what a tie is broken by needs no guard but
// for its length.
func (x *session) sortable(ctx context.Context, r *relation, columns []*Column) (bool, error) {
	guards := slices.Clone(columns)
	for i, c := range columns {
		own := *c
		switch {
		case c.Guard != "" && c.Long != "":
			own.Guard = "(" + c.Guard + " OR " + c.Long + ")"
		case c.Guard == "":
			own.Guard = c.Long
		}
		guards[i] = &own
	}
	return x.sound(ctx, r, guards)
}
