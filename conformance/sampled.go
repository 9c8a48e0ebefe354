package conformance

import (
	"slices"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sampled takes up to n different values of a column, by chance. Values that
// the column's type cannot compare are left out (A6), and so are long ones.
func (x *exam) sampled(t *oracle.Table, column, n int) (values []wire.Value) {
	if len(t.Rows) == 0 {
		return nil
	}
	start := x.rand.IntN(len(t.Rows))
	for i := range t.Rows {
		v := t.Rows[(start+i)%len(t.Rows)][column]
		if v.IsNull() || len(v.Text()) > maxOperand || t.Columns[column].Type.Numeric() && !wire.IsDecimal(v.String()) {
			continue
		}
		same := func(other wire.Value) bool { return oracle.Same(v, other, t.Columns[column].Type) }
		if slices.ContainsFunc(values, same) {
			continue
		}
		if values = append(values, v); len(values) == n {
			break
		}
	}
	return values
}

// exercised are the operators that a column's type gives a meaning to.
func exercised(op wire.Op, kind wire.Type) bool {
	switch op {
	case wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte:
		return kind != wire.TypeBoolean && kind != wire.TypeJSON && kind != wire.TypeArray
	case wire.OpIncludes, wire.OpStartsWith:
		return kind != wire.TypeBoolean && kind != wire.TypeJSON && kind != wire.TypeArray
	case wire.OpContains:
		return kind == wire.TypeArray || kind == wire.TypeJSON || kind == wire.TypeString
	}
	return true
}

// predicate is a filter with an operator on a column and an operand from its
// values; ok is false when they give none whose answer is the same however the
// source spells its cells.
func (l *law) predicate(t *oracle.Table, column int, op wire.Op) (f wire.Filter, ok bool) {
	if f, ok = l.drawn(t, column, op); !ok {
		return f, false
	}
	switch kind := t.Columns[column].Type; {
	case op == wire.OpIncludes, op == wire.OpStartsWith, kind == wire.TypeJSON, kind == wire.TypeArray:
		return f, op.Shape() == wire.ShapeNullary || profile(t, column, &wire.Field{}).steady(f)
	}
	return f, true
}

func (x *exam) drawn(t *oracle.Table, column int, op wire.Op) (f wire.Filter, ok bool) {
	f = wire.Filter{Field: t.Columns[column].Name, Op: op}
	if !exercised(op, t.Columns[column].Type) {
		return f, false
	}
	values := x.sampled(t, column, 2)
	switch {
	case op.Shape() == wire.ShapeNullary:
		return f, true
	case len(values) == 0:
		return f, false
	case op.Shape() == wire.ShapeMember:
		f.Values = values
		return f, true
	}
	switch op {
	case wire.OpContains:
		f.Value, ok = x.element(t, column)
		if !ok && t.Columns[column].Type == wire.TypeString {
			// Text that is no array contains nothing (A4), not even itself.
			f.Value, ok = values[0], true
		}
		return f, ok
	case wire.OpIncludes:
		f.Value = wire.Text(runes(values[0].String(), 1, 4))
	case wire.OpStartsWith:
		f.Value = wire.Text(runes(values[0].String(), 0, 3))
	default:
		f.Value = values[0]
	}
	return f, true
}

// runes is up to n characters of a text, from the one at index from if there is
// one so far.
func runes(text string, from, n int) string {
	if utf8.RuneCountInString(text) <= from {
		from = 0
	}
	all := []rune(text)
	return string(all[from:min(from+n, len(all))])
}

// element is a scalar element of one of a column's arrays.
func (x *exam) element(t *oracle.Table, column int) (wire.Value, bool) {
	start := x.rand.IntN(len(t.Rows))
	for i := range t.Rows {
		text := t.Rows[(start+i)%len(t.Rows)][column].Text()
		if len(text) > 64<<10 || len(text) == 0 || text[0] != '[' {
			continue
		}
		if list := elements(text); len(list) > 0 {
			return list[0], true
		}
	}
	return wire.Null(), false
}

// few are the first rows of a table: enough to choose by.
func few(t *oracle.Table) *oracle.Table {
	some := *t
	some.Rows = t.Rows[:min(len(t.Rows), 2000)]
	return &some
}

// selective is a filter with a declared operator that keeps some rows of a
// table and drops some, about half of them if there is one; ok is false when
// none was found.
func (l *law) selective(t *wire.Table, data *oracle.Table) (f wire.Filter, ok bool) {
	data = few(data)
	best, spots := len(data.Rows), l.spots([]*wire.Table{t}, 1)
	for _, op := range []wire.Op{wire.OpGte, wire.OpLt, wire.OpNotNull, wire.OpNeq, wire.OpNin, wire.OpIn, wire.OpLte, wire.OpGt, wire.OpEq, wire.OpIsNull} {
		if !l.document().operator(op) {
			continue
		}
		for _, s := range spots {
			candidate, usable := l.predicate(data, s.column, op)
			if kind := s.field().Type; !usable || kind == wire.TypeJSON || kind == wire.TypeArray {
				continue
			}
			kept := 0
			for _, row := range data.Rows {
				if oracle.Match(row[s.column], candidate, data.Columns[s.column].Type) {
					kept++
				}
			}
			if off := max(2*kept-len(data.Rows), len(data.Rows)-2*kept); off < best {
				f, best, ok = candidate, off, true
			}
		}
		if ok && best <= len(data.Rows)/2 {
			break
		}
	}
	return f, ok
}
