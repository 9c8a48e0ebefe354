package sqltext

import "github.com/connectorsdk/connector-sdk-go/wire"

// compareMixed compares a column whose values are integers and reals. It
// compares them apart where one bound operand cannot serve both.
func (b *Builder) compareMixed(c *Column, op wire.Op, d digits) string {
	f, same := mixedOperand(d)
	if same {
		return b.compare(c, op, f)
	}
	branch := func(kind string, o operand) string {
		sign, all := comparison(op, o)
		switch {
		case all:
			return kind
		case sign == "":
			return falseSQL
		}
		return "(" + kind + " AND " + c.Loose.Exact + " " + sign + " " + b.bind(o.arg) + ")"
	}
	return "(" + branch(c.Loose.Integer, integerOperand(d)) + " OR " + branch(c.Loose.Real, f) + ")"
}

// mixedOperand returns the nearest float, and reports whether it is the number
// itself, for integers and for reals.
func mixedOperand(d digits) (o operand, same bool) {
	o = floatOperand(d)
	n, ok := o.arg.(float64)
	return o, ok && o.side == 0 && n > -wire.MaxSafeInteger && n < wire.MaxSafeInteger
}
