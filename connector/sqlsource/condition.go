package sqlsource

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// never is a condition that holds for no row.
const never = "1 = 0"

// maxMembers is the longest list that is pushed: engines bound the placeholders
// of a statement, and a longer list is rather read.
const maxMembers = 2000

// condition is a filter as SQL; false where the engine cannot say it exactly.
// It binds values only where it answers true.
func (b *builder) condition(c *Column, f wire.Filter) (string, bool) {
	switch f.Op {
	case wire.OpIsNull:
		return c.null(), true
	case wire.OpNotNull:
		return c.notNull(), true
	case wire.OpIn, wire.OpNin:
		return b.member(c, f)
	}
	if f.Value.IsNull() {
		return never, true // A2
	}
	switch f.Op {
	case wire.OpContains:
		return b.contains(c, f.Value)
	case wire.OpIncludes, wire.OpStartsWith:
		return b.part(c, f)
	}
	return b.comparator(c, f.Op, f.Value)
}

func (b *builder) comparator(c *Column, op wire.Op, v wire.Value) (string, bool) {
	switch c.Class {
	case ClassInteger, ClassDecimal, ClassFloat, ClassMixed:
		d, ok := parseDigits(v)
		if !ok {
			return never, true // incomparable, neq included (A6)
		}
		if c.Class == ClassMixed {
			return b.mixed(c, op, d), true
		}
		return b.compare(c, op, numberOperand(c, d)), true
	case ClassText:
		return b.compare(c, op, textOperand(text(v), c.NoNUL)), true
	case ClassBytes:
		o, ok := bytesOperand(v)
		if op != wire.OpEq && op != wire.OpNeq {
			return "", false
		}
		if !ok {
			o = operand{beyond: 1} // equal to nothing
		}
		return b.compare(c, op, o), true
	case ClassBoolean:
		return b.boolean(c, wire.Filter{Field: c.name, Op: op, Value: v})
	case ClassDate, ClassDatetime:
		if o, ok := instantOperand(v, c); ok {
			return b.compare(c, op, o), true
		}
		// As bytes (A9). No date is spelled like what is none.
		switch op {
		case wire.OpEq:
			return never, true
		case wire.OpNeq:
			return c.notNull(), true
		}
		if c.Text == "" {
			return "", false
		}
		o := textOperand(text(v), c.NoNUL)
		return b.compareExpr(c, c.Text, func(p string) string { return b.flavor.TextParam(p) }, op, o), true
	}
	return "", false
}

// numberOperand is a number as the class of the column holds it.
func numberOperand(c *Column, d digits) operand {
	switch c.Class {
	case ClassInteger:
		return integerOperand(d)
	case ClassFloat:
		return floatOperand(d)
	}
	return decimalOperand(d, c.Precision, c.Scale)
}

// bytesOperand decodes base64; false for text that no bytes are spelled by.
func bytesOperand(v wire.Value) (operand, bool) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text(v))
	if err != nil || strings.ContainsAny(text(v), "\r\n") {
		return operand{}, false
	}
	return operand{arg: raw}, true
}

// compare compares Raw with an operand.
func (b *builder) compare(c *Column, op wire.Op, o operand) string {
	if op == wire.OpEq && o.beyond == 0 && o.side == 0 && c.Same != nil {
		return b.valid(c, c.Same([]any{o.arg}, b.bind))
	}
	return b.compareExpr(c, c.Raw, c.bind, op, o)
}

// compareExpr compares an expression with an operand, or with its neighbour in
// a way that means the same.
func (b *builder) compareExpr(c *Column, expr string, bind func(string) string, op wire.Op, o operand) string {
	sign, all := comparison(op, o)
	switch {
	case all:
		return b.valid(c, c.Raw+" IS NOT NULL")
	case sign == "":
		return never
	}
	return b.valid(c, expr+" "+sign+" "+bind(b.bind(o.arg)))
}

// comparison is the operator that, with an operand's neighbour, means what op
// means with the operand itself; empty for never, all for every value.
func comparison(op wire.Op, o operand) (sign string, all bool) {
	if has(bugFloor) {
		o.side = 0
	}
	switch {
	case o.beyond < 0:
		return "", op == wire.OpGt || op == wire.OpGte || op == wire.OpNeq
	case o.beyond > 0:
		return "", op == wire.OpLt || op == wire.OpLte || op == wire.OpNeq
	}
	switch op {
	case wire.OpEq:
		if o.side != 0 {
			return "", false
		}
		return "=", false
	case wire.OpNeq:
		if o.side != 0 {
			return "", true
		}
		return "<>", false
	case wire.OpGt:
		if o.side > 0 {
			return ">=", false
		}
		return ">", false
	case wire.OpGte:
		if o.side < 0 {
			return ">", false
		}
		return ">=", false
	case wire.OpLt:
		if o.side < 0 {
			return "<=", false
		}
		return "<", false
	default:
		if o.side > 0 {
			return "<", false
		}
		return "<=", false
	}
}

// valid adds what keeps values that are null on the wire from matching, and
// those that are none of the type.
func (b *builder) valid(c *Column, condition string) string {
	switch {
	case has(bugValid):
	case c.Valid != "" && c.Odd != "":
		return "(" + condition + " AND " + c.Valid + " AND NOT (" + c.Odd + "))"
	case c.Valid != "":
		return "(" + condition + " AND " + c.Valid + ")"
	case c.Odd != "":
		return "(" + condition + " AND NOT (" + c.Odd + "))"
	}
	return condition
}

// mixed compares a column whose values are integers and reals. They are
// compared apart where one bound operand cannot serve both.
func (b *builder) mixed(c *Column, op wire.Op, d digits) string {
	f := floatOperand(d)
	if x, ok := f.arg.(float64); ok && f.side == 0 && x > -wire.MaxSafeInteger && x < wire.MaxSafeInteger {
		return b.compare(c, op, f)
	}
	branch := func(kind string, o operand) string {
		sign, all := comparison(op, o)
		switch {
		case all:
			return kind
		case sign == "":
			return never
		}
		return "(" + kind + " AND " + c.Exact + " " + sign + " " + b.bind(o.arg) + ")"
	}
	return "(" + branch(c.Integer, integerOperand(d)) + " OR " + branch(c.Real, f) + ")"
}

// boolean judges the two values there are here, and asks for those that match.
func (b *builder) boolean(c *Column, f wire.Filter) (string, bool) {
	program, err := filter.Compile(wire.Where{And: []wire.Filter{f}}, []wire.Column{{Name: f.Field, Type: c.Type}})
	if err != nil {
		return "", false
	}
	yes, no := program.Match([]wire.Value{wire.Bool(true)}), program.Match([]wire.Value{wire.Bool(false)})
	condition := never
	switch {
	case yes && no:
		condition = c.notNull()
	case yes:
		condition = c.Raw
	case no:
		condition = "NOT (" + c.Raw + ")"
	}
	if f.Op == wire.OpNin {
		return "(" + c.null() + " OR " + condition + ")", true // A3
	}
	return condition, true
}

// member is in and nin (A3).
func (b *builder) member(c *Column, f wire.Filter) (string, bool) {
	values := slices.DeleteFunc(slices.Clone(f.Values), func(v wire.Value) bool { return v.IsNull() && !has(bugNullMember) })
	in := never
	switch {
	case len(values) == 0:
	case c.Class == ClassBoolean:
		return b.boolean(c, wire.Filter{Field: f.Field, Op: f.Op, Values: values})
	case c.Class == ClassOpaque || len(values) > maxMembers:
		return "", false
	default:
		in = b.list(c, values)
	}
	if f.Op == wire.OpIn {
		return in, true
	}
	kept := "(" + c.null()
	if has(bugNinNull) {
		kept = "(" + never
	}
	if c.Odd != "" {
		kept += " OR " + c.Odd
	}
	if in == never {
		return kept + " OR " + c.notNull() + ")", true
	}
	return kept + " OR NOT " + in + ")", true
}

// list is the condition that a value that is not null equals one of these.
func (b *builder) list(c *Column, values []wire.Value) string {
	var args []any
	var apart []string // conditions of a mixed column
	for _, v := range values {
		o := operand{}
		ok := true
		switch c.Class {
		case ClassText:
			o = textOperand(text(v), c.NoNUL)
		case ClassBytes:
			o, ok = bytesOperand(v)
		case ClassDate, ClassDatetime:
			o, ok = instantOperand(v, c)
		default:
			var d digits
			if d, ok = parseDigits(v); ok && c.Class == ClassMixed {
				apart = append(apart, b.mixed(c, wire.OpEq, d))
				continue
			}
			o = numberOperand(c, d)
		}
		if ok && o.beyond == 0 && o.side == 0 {
			args = append(args, o.arg)
		}
	}
	switch {
	case len(apart) > 0:
		return b.anyOf(apart)
	case len(args) == 0:
		return never
	}
	if c.Same != nil {
		return "(" + b.valid(c, c.Same(args, b.bind)) + ")"
	}
	params := make([]string, len(args))
	for i, arg := range args {
		params[i] = c.bind(b.bind(arg))
	}
	return "(" + b.valid(c, c.Raw+" IN ("+strings.Join(params, ", ")+")") + ")"
}

// anyOf is a disjunction, nested evenly so that no engine finds it too deep.
func (b *builder) anyOf(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	half := len(conditions) / 2
	return "(" + b.anyOf(conditions[:half]) + " OR " + b.anyOf(conditions[half:]) + ")"
}

// part is includes and startswith (A5).
func (b *builder) part(c *Column, f wire.Filter) (string, bool) {
	part := text(f.Value)
	switch {
	case part == "":
		return c.notNull(), true
	case c.Class == ClassBoolean:
		return b.boolean(c, f)
	case c.Text == "":
		return "", false
	case c.NoNUL && strings.IndexByte(part, 0) >= 0:
		return never, true
	}
	param := b.bind(part)
	if f.Op == wire.OpIncludes || has(bugPrefixInside) {
		return b.flavor.Includes(c.Text, param), true
	}
	return b.flavor.HasPrefix(c.Text, param, len(part)), true
}

// contains is membership in an array (A4). No text of these classes is that of
// an array.
func (b *builder) contains(c *Column, v wire.Value) (string, bool) {
	switch c.Class {
	case ClassInteger, ClassDecimal, ClassFloat, ClassBoolean, ClassDate, ClassDatetime, ClassBytes:
		if c.Odd == "" {
			return never, true
		}
	}
	if _, number := parseDigits(v); number || c.Contains == nil {
		return "", false // A6 within an array
	}
	s := text(v)
	if c.NoNUL && strings.IndexByte(s, 0) >= 0 {
		return never, true
	}
	return c.Contains(b.bind(s), s), true
}

// text is a value's text on the wire (A5, A7).
func text(v wire.Value) string { return string(v.AppendText(nil)) }
