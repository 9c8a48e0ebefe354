package sqltext

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxNear is the length of the longest list whose members each get a condition
// for the index.
const maxNear = 100

// Near returns a condition that an index serves and that holds wherever the filter
// does. It returns nothing where no index does, or one serves the exact condition.
func (b *Builder) Near(c *Column, f wire.Filter) string {
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
func (b *Builder) nearValue(c *Column, op wire.Op, v wire.Value) string {
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
func nearOperand(c *Column, v wire.Value) (o operand, ok bool) {
	switch {
	case v.IsNull() || c.Class == sqlengine.ClassBoolean:
	default:
		o, ok = equalityOperand(c, v)
	}
	return o, ok && (o.exact() || c.Loose.Guard == "")
}

// From returns a condition that an index serves and that holds about from where a sort by
// the column begins, by one of the filters on it; nothing if none of them says so.
func (b *Builder) From(c *Column, desc bool, bounds []wire.Filter) string {
	for _, f := range bounds {
		below := f.Op == wire.OpLt || f.Op == wire.OpLte
		if o, ok := nearOperand(c, f.Value); ok && below == desc && o.arg != nil {
			return c.Index.Stored + map[bool]string{false: " >= ", true: " <= "}[desc] + b.bind(o.arg)
		}
	}
	return ""
}

// nearSign returns the flavor's condition, in parentheses.
func (b *Builder) nearSign(c *Column, sign string, arg any) string {
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
func (b *Builder) nearAny(c *Column, values []wire.Value) string {
	bound := len(b.Args)
	var conditions []string
	for _, v := range values {
		if v.IsNull() {
			continue
		}
		o, ok := nearOperand(c, v)
		if !ok {
			b.Args = b.Args[:bound]
			return ""
		}
		if !o.exact() {
			continue // equal to nothing
		}
		near := b.nearSign(c, "=", o.arg)
		if near == "" || len(conditions) == maxNear {
			b.Args = b.Args[:bound]
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
func (b *Builder) nearPrefix(c *Column, prefix string) string {
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
