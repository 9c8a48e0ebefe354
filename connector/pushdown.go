package connector

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Pushdown declares what an upstream can filter and sort by. [Pushdown.Push]
// returns what of a request the upstream can apply, together with what the source
// may claim. Use it in a Query of your own:
//
//	var pushable = connector.Pushdown{
//		Columns: columns,
//		Filters: []connector.PushFilter{
//			{Field: "status", Op: wire.OpEq, Param: "status", Exact: true},
//			{Field: "created", Op: wire.OpGte, Param: "since"}, // the API rounds to days
//		},
//		Sorts: []wire.SortKey{{Field: "id", Dir: wire.Asc}},
//	}
//
//	p := pushable.Push(req.Where, req.Sort)
//	offset, limit, ok := out.Claim(p.Served).TakeWindow()
//	rows := s.fetch(ctx, p.Params, offset, limit)
//
// A Count of your own pushes in the same way, and returns [ErrDecline] unless
// Served.Filters is true.
//
// Only the filters of And are pushed, each by itself. Those of Or are left to the
// library, and have no influence on what is pushed. A source whose upstream takes
// whole conditions, such as SQL, uses filter.Split instead. Package restsource builds on
// Pushdown: it declares REST APIs as a whole, and checks what they answer.
type Pushdown struct {
	// Columns are the columns of the table, as Begin gets them, each with the type that the
	// table's description states: operands are spelled and judged by it. A declaration of a
	// field that is not among them is never used.
	Columns []wire.Column
	// Filters are what the upstream can select rows by.
	Filters []PushFilter
	// Sorts are the orders in which the upstream can answer, each of one field: as the
	// protocol sorts, numbers by value, text by bytes, nulls last in both directions,
	// and rows with equal values in an order that does not change. Without a Dir, the
	// upstream has both directions.
	Sorts []wire.SortKey
}

// PushFilter declares that the upstream can select rows by one operator on one
// field. The upstream may select more rows than the operator does: the library
// filters them again. It must never select fewer.
type PushFilter struct {
	Field string
	// Op is the operator that the upstream has. A gte is also pushed for gt, an lte
	// for lt, an in for eq, an eq for an in of one value, and an includes for
	// startswith.
	Op wire.Op
	// Param is the upstream's name for the condition, the key of Pushed.Params. It
	// takes one condition: of several filters, the first is pushed. Empty: the
	// upstream takes any number of such conditions, from Pushed.Filters.
	Param string
	// Exact says that, for every operand of the column's type that Spell accepts, the
	// upstream selects exactly the rows of the protocol's operator. It may then be
	// claimed. Otherwise the library filters the rows again.
	Exact bool
	// Spell returns the values of Param for a filter, and reports false for a filter that
	// the upstream does not take. It sees the filter as it would be pushed, and must not
	// record it: a filter that it accepts need not be pushed. Nil: the upstream takes all
	// operands of the column's type, as Pushed.Params says.
	Spell func(f wire.Filter) (values []string, ok bool)
}

// Pushed is what of a request a source leaves to its upstream.
type Pushed struct {
	// Params are the operands of the filters that are pushed, by PushFilter.Param.
	// Without a Spell, a boolean or text is spelled as in a cell, a number without a plus
	// sign and needless zeros, a datetime in UTC like 2024-05-17T10:00:00Z. Isnull and
	// notnull have one empty text.
	Params url.Values
	// Filters are the filters that are pushed, in the order of the request, with
	// the operators that the upstream has.
	Filters []wire.Filter
	// Declared has, for each of Filters, its place in Pushdown.Filters.
	Declared []int
	// Sort is the order to ask the upstream for, or nil.
	Sort *wire.SortKey
	// Served is what the source may claim, once it has applied all of the above.
	Served Applied
}

// Push returns what the upstream can apply of the filters and the sort of a
// request. It keeps nothing and is safe for concurrent use.
func (d *Pushdown) Push(where wire.Where, sort []wire.SortKey) Pushed {
	p := Pushed{Params: url.Values{}, Served: Applied{Filters: true, Sort: len(sort) == 0}}
	types := map[string]wire.Type{}
	for _, c := range slices.Backward(d.Columns) {
		types[c.Name] = c.Type
	}
	for _, f := range where.And {
		t, ok := types[f.Field]
		if t == "" {
			t = where.FieldTypes[f.Field]
		}
		if !ok || !d.pushFilter(&p, f, t) {
			p.Served.Filters = false
		}
	}
	// Groups without any filter are true. Any filter may name a field that the table
	// does not have, even beside an empty group, and only the library would notice.
	for _, group := range where.Or {
		p.Served.Filters = p.Served.Filters && len(group) == 0
	}
	if len(sort) == 1 && slices.ContainsFunc(d.Sorts, func(s wire.SortKey) bool {
		return s.Field == sort[0].Field && (s.Dir == "" || s.Dir == sort[0].Dir)
	}) {
		key := sort[0]
		p.Sort, p.Served.Sort = &key, true
	}
	return p
}

// pushFilter adds f, on a field of type t, to what is pushed. It reports whether the
// upstream then selects exactly what f does.
func (d *Pushdown) pushFilter(p *Pushed, f wire.Filter, t wire.Type) bool {
	for _, op := range upstreamOps(f) {
		for i := range d.Filters {
			own := &d.Filters[i]
			if own.Field != f.Field || own.Op != op || own.Param != "" && p.Params.Has(own.Param) {
				continue
			}
			g, texts, ok := narrowed(f, op, t)
			if ok && own.Spell != nil {
				texts, ok = own.Spell(g)
			}
			if !ok {
				continue
			}
			p.Filters = append(p.Filters, g)
			p.Declared = append(p.Declared, i)
			if own.Param != "" {
				p.Params[own.Param] = texts
			}
			return own.Exact && (op == f.Op || op == wire.OpEq || f.Op == wire.OpEq)
		}
	}
	return false
}

// upstreamOps returns the operators that select every row that f does. The first
// one is that of f itself.
func upstreamOps(f wire.Filter) []wire.Op {
	switch {
	case f.Op == wire.OpEq:
		return []wire.Op{wire.OpEq, wire.OpIn}
	case f.Op == wire.OpIn && len(f.Values) == 1:
		return []wire.Op{wire.OpIn, wire.OpEq}
	case f.Op == wire.OpGt:
		return []wire.Op{wire.OpGt, wire.OpGte}
	case f.Op == wire.OpLt:
		return []wire.Op{wire.OpLt, wire.OpLte}
	case f.Op == wire.OpStartsWith:
		return []wire.Op{wire.OpStartsWith, wire.OpIncludes}
	}
	return []wire.Op{f.Op}
}

// narrowed returns f with the operator op, and its operands as texts. It reports
// false for operands that the column's type cannot hold, such as null or a text in
// a column of numbers: an upstream may refuse them, or read them in a way of its
// own.
func narrowed(f wire.Filter, op wire.Op, t wire.Type) (g wire.Filter, texts []string, ok bool) {
	if terms.ShapeOf(op) == terms.ShapeNullary {
		return f, []string{""}, true
	}
	operands := []wire.Value{f.Value}
	if terms.ShapeOf(f.Op) == terms.ShapeMember {
		operands = slices.DeleteFunc(slices.Clone(f.Values), wire.Value.IsNull)
	}
	if len(operands) == 0 {
		return f, nil, false
	}
	for i, v := range operands {
		var text string
		if operands[i], text, ok = operand(v, op, t); !ok {
			return f, nil, false
		}
		texts = append(texts, text)
	}
	g = wire.Filter{Field: f.Field, Op: op}
	if terms.ShapeOf(op) == terms.ShapeMember {
		g.Values = operands
	} else {
		g.Value = operands[0]
	}
	return g, texts, true
}

// operand returns an operand as a cell of the column could be, and its text.
func operand(v wire.Value, op wire.Op, t wire.Type) (own wire.Value, text string, ok bool) {
	text = v.String()
	switch {
	case v.IsNull() || v.Err() != nil:
		return v, "", false
	case op == wire.OpIncludes || op == wire.OpStartsWith || op == wire.OpContains:
		return v, text, true // parts of a text, and elements of an array
	case t.Numeric():
		if !terms.IsDecimal(text) {
			return v, "", false
		}
		if plain := plainNumber(text, t); plain != text {
			v, text = wire.Text(plain), plain
		}
		return v, text, true
	case t == wire.TypeBoolean:
		return v, text, text == "true" || text == "false"
	case t == wire.TypeDate || t == wire.TypeDatetime:
		at, ok := filter.Instant(v)
		own = wire.Datetime(at)
		if t == wire.TypeDate {
			own = wire.Date(at)
		}
		// What the spelling cuts off could leave rows out.
		order, comparable := filter.Compare(v, own, t)
		return own, own.String(), ok && own.Err() == nil && comparable && order == 0
	}
	return v, text, true
}

// plainNumber returns decimal text without a plus sign and needless zeros. A decimal keeps its scale.
func plainNumber(text string, t wire.Type) string {
	plain, fraction, _ := strings.Cut(strings.TrimLeft(text, "+-0"), ".")
	plain = cmp.Or(plain, "0")
	if t != wire.TypeDecimal {
		fraction = strings.TrimRight(fraction, "0")
	}
	if fraction != "" {
		plain += "." + fraction
	}
	if text[0] == '-' && strings.Trim(plain, "0.") != "" {
		plain = "-" + plain
	}
	return plain
}
