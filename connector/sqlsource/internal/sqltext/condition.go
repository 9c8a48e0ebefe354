package sqltext

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// False is an SQL condition that no row satisfies. A Guard of these words is one that no
// engine need be asked of.
const False = "1 = 0"

// maxMembers is the length of the longest list that is pushed. Engines limit the
// placeholders of a statement.
const maxMembers = 2000

// Condition returns the filter as SQL: the exact condition, and beside it the one
// that an index serves, if there is one. It reports false, and binds nothing, if
// the engine cannot express the filter exactly.
func (b *Builder) Condition(c *Column, f wire.Filter) (string, bool) {
	bound := len(b.Args)
	near := b.Near(c, f)
	exact, ok := b.exact(c, f)
	switch {
	case !ok:
		b.Args = b.Args[:bound]
		return "", false
	case near == "":
		return exact, true
	}
	return "(" + near + " AND " + exact + ")", true
}

// exact returns the condition that holds exactly where the filter does. It reports
// false, and binds nothing, if the engine has none.
func (b *Builder) exact(c *Column, f wire.Filter) (string, bool) {
	switch f.Op {
	case wire.OpIsNull:
		return c.Null(), true
	case wire.OpNotNull:
		return c.NotNull(), true
	case wire.OpIn, wire.OpNin:
		return b.member(c, f)
	}
	if f.Value.IsNull() {
		return False, true
	}
	if !c.bindable(f.Value) {
		return "", false
	}
	switch f.Op {
	case wire.OpContains:
		return b.contains(c, f.Value)
	case wire.OpIncludes, wire.OpStartsWith:
		return b.substring(c, f)
	}
	return b.comparator(c, f)
}

// comparator returns the condition for eq, neq, gt, gte, lt and lte.
func (b *Builder) comparator(c *Column, f wire.Filter) (string, bool) {
	switch c.Class {
	case sqlengine.ClassInteger, sqlengine.ClassDecimal, sqlengine.ClassFloat:
		d, ok := parseDigits(f.Value)
		if !ok {
			return False, true // a number and a text match no comparator, not even neq
		}
		return b.compare(c, f.Op, numberOperand(c, d)), true
	case sqlengine.ClassText:
		return b.compare(c, f.Op, textOperand(text(f.Value), c)), true
	case sqlengine.ClassBytes:
		if f.Op != wire.OpEq && f.Op != wire.OpNeq {
			return "", false
		}
		o, ok := bytesOperand(f.Value)
		if !ok {
			o = operand{outside: 1} // equal to nothing
		}
		return b.compare(c, f.Op, o), true
	case sqlengine.ClassBoolean:
		return b.boolean(c, f)
	case sqlengine.ClassDate, sqlengine.ClassDatetime:
		if o, ok := instantOperand(f.Value, c); ok {
			return b.compare(c, f.Op, o), true
		}
		return compareDateText(c, f)
	}
	return "", false
}

// compareDateText compares dates with a text that is not a date: no date is spelled
// like it. The library finds those that come before or after it.
func compareDateText(c *Column, f wire.Filter) (string, bool) {
	switch f.Op {
	case wire.OpEq:
		return False, true
	case wire.OpNeq:
		return c.NotNull(), true
	}
	return "", false
}

// numberOperand returns a number as the class of the column holds it.
func numberOperand(c *Column, d digits) operand {
	switch c.Class {
	case sqlengine.ClassInteger:
		return integerOperand(d)
	case sqlengine.ClassFloat:
		if c.Loose.Integers {
			return mixedOperand(d)
		}
		if c.Single {
			return singleOperand(d)
		}
		return floatOperand(d)
	}
	return decimalOperand(d, c.Precision, c.Scale)
}

// bytesOperand decodes base64 and reports whether the text was valid.
func bytesOperand(v wire.Value) (operand, bool) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text(v))
	if err != nil || strings.ContainsAny(text(v), "\r\n") {
		return operand{}, false
	}
	return operand{arg: raw}, true
}

// compare compares Raw with an operand, or with its neighbour by an operator that
// means the same.
func (b *Builder) compare(c *Column, op wire.Op, o operand) string {
	if op == wire.OpEq && o.exact() && c.Index.Equal != nil {
		return c.validAnd(c.Index.Equal([]any{o.arg}, b.bind))
	}
	sign, all := comparison(op, o)
	switch {
	case all:
		return c.validAnd(c.Raw + " IS NOT NULL")
	case sign == "":
		return False
	}
	return c.validAnd(c.Raw + " " + sign + " " + c.bind(b.bind(o.arg)))
}

// comparison returns the operator that means with o.arg what op means with the
// value that o stands for. It returns no operator if the comparison is false for
// every value of the class, or, with all, true for every one.
func comparison(op wire.Op, o operand) (sign string, all bool) {
	if o.outside != 0 {
		below := op == wire.OpGt || op == wire.OpGte
		above := op == wire.OpLt || op == wire.OpLte
		return "", op == wire.OpNeq || below && o.outside < 0 || above && o.outside > 0
	}
	switch {
	case op == wire.OpEq && o.side != 0:
		return "", false
	case op == wire.OpNeq && o.side != 0:
		return "", true
	case op == wire.OpGt && o.side > 0:
		return ">=", false
	case op == wire.OpGte && o.side < 0:
		return ">", false
	case op == wire.OpLt && o.side < 0:
		return "<=", false
	case op == wire.OpLte && o.side > 0:
		return "<", false
	}
	return signs[op], false
}

// signs are the comparators in SQL.
var signs = map[wire.Op]string{
	wire.OpEq: "=", wire.OpNeq: "<>", wire.OpGt: ">", wire.OpGte: ">=", wire.OpLt: "<", wire.OpLte: "<=",
}

// validAnd adds to a condition what keeps values from matching that are null on
// the wire.
func (c *Column) validAnd(condition string) string {
	if c.Valid == "" || c.Loose.GuardsValid {
		return condition
	}
	return "(" + condition + " AND " + c.Valid + ")"
}

// boolean evaluates the filter for true and for false, and returns the condition
// for those that match.
func (b *Builder) boolean(c *Column, f wire.Filter) (string, bool) {
	program, err := filter.Compile(wire.Where{And: []wire.Filter{f}}, []wire.Column{{Name: f.Field, Type: c.Type}})
	if err != nil {
		return "", false
	}
	yes, err := program.Match([]wire.Value{wire.Bool(true)})
	if err != nil {
		return "", false
	}
	no, err := program.Match([]wire.Value{wire.Bool(false)})
	if err != nil {
		return "", false
	}
	condition := False
	switch {
	case yes && no:
		condition = c.NotNull()
	case yes:
		condition = c.Raw
	case no:
		condition = "NOT (" + c.Raw + ")"
	}
	if f.Op == wire.OpNin { // keeps null cells
		return "(" + c.Null() + " OR " + condition + ")", true
	}
	return condition, true
}

// member returns the condition for in and nin. Both ignore null members, and nin
// keeps null cells.
func (b *Builder) member(c *Column, f wire.Filter) (string, bool) {
	values := slices.DeleteFunc(slices.Clone(f.Values), func(v wire.Value) bool { return v.IsNull() })
	in := False
	switch {
	case len(values) == 0:
	case c.Class == sqlengine.ClassBoolean:
		return b.boolean(c, wire.Filter{Field: f.Field, Op: f.Op, Values: values})
	case c.Class == sqlengine.ClassOpaque || len(values) > maxMembers || !c.bindable(values...):
		return "", false
	default:
		in = b.list(c, values)
	}
	if f.Op == wire.OpIn {
		return in, true
	}
	kept := "(" + c.Null()
	if in == False {
		return kept + " OR " + c.NotNull() + ")", true
	}
	return kept + " OR NOT " + in + ")", true
}

// list returns the condition that a cell equals one of these values, none of
// which is null.
func (b *Builder) list(c *Column, values []wire.Value) string {
	var args []any
	for _, v := range values {
		if o, ok := equalityOperand(c, v); ok && o.exact() {
			args = append(args, o.arg)
		}
	}
	switch {
	case len(args) == 0:
		return False
	case c.Index.Equal != nil:
		return "(" + c.validAnd(c.Index.Equal(args, b.bind)) + ")"
	}
	params := make([]string, len(args))
	for i, arg := range args {
		params[i] = c.bind(b.bind(arg))
	}
	return "(" + c.validAnd(c.Raw+" IN ("+strings.Join(params, ", ")+")") + ")"
}

// equalityOperand returns a value as the class of the column holds it. It
// reports false if no value of the class equals it.
func equalityOperand(c *Column, v wire.Value) (operand, bool) {
	switch c.Class {
	case sqlengine.ClassText:
		return textOperand(text(v), c), true
	case sqlengine.ClassBytes:
		return bytesOperand(v)
	case sqlengine.ClassDate, sqlengine.ClassDatetime:
		return instantOperand(v, c)
	}
	d, ok := parseDigits(v)
	if !ok {
		return operand{}, false
	}
	return numberOperand(c, d), true
}

// substring returns the condition for includes and startswith.
func (b *Builder) substring(c *Column, f wire.Filter) (string, bool) {
	part := text(f.Value)
	switch {
	case part == "":
		return c.NotNull(), true
	case c.Class == sqlengine.ClassBoolean:
		return b.boolean(c, f)
	case c.Text == "", f.Op == wire.OpIncludes && b.Flavor.Includes == nil, f.Op == wire.OpStartsWith && b.Flavor.HasPrefix == nil:
		return "", false
	case c.NoNUL && strings.IndexByte(part, 0) >= 0:
		return False, true
	}
	param := b.bind(part)
	if f.Op == wire.OpIncludes {
		return b.Flavor.Includes(c.Text, param), true
	}
	return b.Flavor.HasPrefix(c.Text, param, len(part)), true
}

// contains returns the condition for membership in an array.
func (b *Builder) contains(c *Column, v wire.Value) (string, bool) {
	switch c.Class {
	case sqlengine.ClassInteger, sqlengine.ClassDecimal, sqlengine.ClassFloat, sqlengine.ClassBoolean,
		sqlengine.ClassDate, sqlengine.ClassDatetime, sqlengine.ClassBytes:
		return False, true // no text of these classes is that of an array
	}
	if _, number := parseDigits(v); number || c.Contains == nil {
		return "", false // a number also equals elements that are spelled otherwise
	}
	s := text(v)
	if c.NoNUL && strings.IndexByte(s, 0) >= 0 {
		return False, true
	}
	return c.Contains(b.bind(s), s), true
}

// bindable reports whether texts can be bound whole: the driver ends none at a NUL, and
// none is longer than the flavor takes.
func (c *Column) bindable(values ...wire.Value) bool {
	return !slices.ContainsFunc(values, func(v wire.Value) bool {
		return c.NULUnbound && hasNUL(v) || c.MaxOperand > 0 && len(text(v)) > c.MaxOperand
	})
}

// hasNUL reports whether a value's text on the wire has a NUL.
func hasNUL(v wire.Value) bool {
	return v.Kind() == wire.KindText && strings.IndexByte(v.Text(), 0) >= 0
}

// text returns a value's text on the wire, which null has none of.
func text(v wire.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.String()
}
