package sqlsource

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxNear is the length of the longest list whose members each get a condition
// for the index.
const maxNear = 100

// near returns a condition that an index serves and that holds wherever the filter
// does, or nothing if there is none. A filter whose exact condition an index serves
// needs none.
func (b *builder) near(c *column, f wire.Filter) string {
	if c.Index.Near == nil || c.Class == sqlengine.ClassOpaque {
		return ""
	}
	switch f.Op {
	case wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte:
		return b.nearValue(c, f.Op, f.Value)
	case wire.OpEq:
		if c.Index.Equal == nil {
			return b.nearValue(c, f.Op, f.Value)
		}
	case wire.OpIn:
		if c.Index.Equal == nil {
			return b.nearAny(c, f.Values)
		}
	case wire.OpStartsWith:
		if c.Class == sqlengine.ClassText && c.Text == c.Raw {
			return b.nearPrefix(c, text(f.Value))
		}
	}
	return ""
}

// nearValue returns the condition for one comparison; nothing if it is decided
// without one.
func (b *builder) nearValue(c *column, op wire.Op, v wire.Value) string {
	o, ok := nearOperand(c, v)
	if !ok {
		return ""
	}
	sign, _ := comparison(op, o)
	return b.nearSign(c, sign, o.arg)
}

// nearOperand returns a value as Raw is compared with it. It reports false if it is
// compared in another way, or not at all, or if it was cut to the column's unit and
// the column may have values, selected by its Guard, that were not.
func nearOperand(c *column, v wire.Value) (o operand, ok bool) {
	switch {
	case v.IsNull() || c.Class == sqlengine.ClassBoolean:
	case c.mixed():
		var d digits
		if d, ok = parseDigits(v); ok {
			o, ok = mixedOperand(d)
		}
	default:
		o, ok = equalityOperand(c, v)
	}
	return o, ok && (o.exact() || c.Loose.Guard == "")
}

// nearSign returns the flavor's condition, in parentheses.
func (b *builder) nearSign(c *column, sign string, arg any) string {
	if sign == "" {
		return ""
	}
	near := c.Index.Near(sign, arg, b.bind)
	if near == "" {
		return ""
	}
	return "(" + near + ")"
}

// nearAny returns the condition for a list. It binds nothing if some member has no
// condition.
func (b *builder) nearAny(c *column, values []wire.Value) string {
	bound := len(b.args)
	var conditions []string
	for _, v := range values {
		if v.IsNull() {
			continue
		}
		o, ok := nearOperand(c, v)
		if !ok {
			b.args = b.args[:bound]
			return ""
		}
		if !o.exact() {
			continue // equal to nothing
		}
		near := b.nearSign(c, "=", o.arg)
		if near == "" || len(conditions) == maxNear {
			b.args = b.args[:bound]
			return ""
		}
		conditions = append(conditions, near)
	}
	if len(conditions) == 0 {
		return ""
	}
	return b.anyOf(conditions)
}

// nearPrefix returns the condition for texts that begin with a prefix: those from
// the prefix on, up to the next text that does not begin so.
func (b *builder) nearPrefix(c *column, prefix string) string {
	if prefix == "" || strings.IndexByte(prefix, 0) >= 0 {
		return ""
	}
	near := b.nearSign(c, ">=", prefix)
	last := len(prefix) - 1
	if near == "" || prefix[last] >= 0x7f { // the next byte would not be a text
		return near
	}
	if below := b.nearSign(c, "<", prefix[:last]+string(prefix[last]+1)); below != "" {
		near = "(" + near + " AND " + below + ")"
	}
	return near
}

// scope is a part of a relation: the rows that may meet some of a request's
// filters. The exact condition of a filter on a column with a Guard may misjudge
// values, its Near does not.
type scope struct {
	*relation
	filters []wire.Filter // joined by and
}

// within returns the part of a relation outside which no row meets the request's
// filters, whatever values it has. Filters in groups of or do not limit it, nor do
// those that the library evaluates.
func (r *relation) within(pushed wire.Where) scope { return scope{r, pushed.And} }

// conditions returns the conditions that select the scope's rows.
func (s scope) conditions(b *builder) []string {
	var conditions []string
	for _, f := range s.filters {
		c := s.column(f.Field)
		var condition string
		if c.Loose.Guard == "" || f.Op == wire.OpIsNull || f.Op == wire.OpNotNull {
			condition, _ = b.condition(c, f)
		} else {
			condition = b.near(c, f)
		}
		if condition != "" {
			conditions = append(conditions, condition)
		}
	}
	return conditions
}

// noneMatch reports whether no row of r meets any of these conditions. Empty
// conditions are met by none.
func (x *session) noneMatch(ctx context.Context, r *relation, conditions ...string) (bool, error) {
	return x.noneAmong(ctx, scope{relation: r}, conditions...)
}

// noneAmong reports whether no row of the scope meets any of these conditions.
func (x *session) noneAmong(ctx context.Context, r scope, conditions ...string) (bool, error) {
	slices.Sort(conditions) // one set of conditions makes one statement
	conditions = slices.DeleteFunc(slices.Compact(conditions), func(c string) bool { return c == "" })
	if len(conditions) == 0 {
		return true, nil
	}
	b := x.builder()
	statement := b.query("1", window{limit: 1}, func() string {
		among := append(r.conditions(b), "("+strings.Join(conditions, " OR ")+")")
		return " FROM " + r.from + " WHERE " + strings.Join(among, " AND ")
	})
	rows, err := x.tx.QueryContext(ctx, statement, b.args...)
	if err != nil {
		return false, x.database.failure(ctx, err, r.name)
	}
	defer func() { _ = rows.Close() }()
	found := rows.Next()
	return !found, x.database.failure(ctx, rows.Err(), r.name)
}

// comparable reports whether the expressions of these columns compare exactly
// here: their Guard selects no value.
func (x *session) comparable(ctx context.Context, r *relation, columns ...*column) (bool, error) {
	return x.noneMatch(ctx, r, guards(columns)...)
}

// sortable reports whether the keys of these columns also sort exactly here: their
// Guard and Long select no value.
func (x *session) sortable(ctx context.Context, r *relation, columns ...*column) (bool, error) {
	return x.noneMatch(ctx, r, sortGuards(columns)...)
}

// guards returns the conditions that select values which do not compare exactly.
func guards(columns []*column) []string {
	var conditions []string
	for _, c := range columns {
		conditions = append(conditions, c.Loose.Guard)
	}
	return conditions
}

// sortGuards returns the conditions that select values which do not sort exactly.
func sortGuards(columns []*column) []string {
	var conditions []string
	for _, c := range columns {
		conditions = append(conditions, c.Loose.Guard, c.Loose.Long)
	}
	return conditions
}
