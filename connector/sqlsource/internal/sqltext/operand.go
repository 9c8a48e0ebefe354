package sqltext

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// operand is a filter's value as a column's class can hold it. If the class
// cannot hold it exactly, arg is a neighbour.
type operand struct {
	arg any
	// side says where arg lies: 0 is the value itself, -1 the largest value of the
	// class below it, +1 the smallest above it.
	side int
	// outside is -1 for a value below all values of the class, +1 for one above.
	outside int
}

// exact reports whether arg is the value itself.
func (o operand) exact() bool { return o.side == 0 && o.outside == 0 }

// digits is a number of unlimited precision: a sign, whole digits without
// leading zeros, and a fraction without trailing ones [rule filter-6].
type digits struct {
	negative        bool
	whole, fraction string
}

// parseDigits reads a filter's value as a number, and reports whether it is one.
func parseDigits(v wire.Value) (digits, bool) {
	s := text(v)
	if v.Kind() == wire.KindBool || !terms.IsDecimal(s) {
		return digits{}, false
	}
	var d digits
	switch s[0] {
	case '-':
		d.negative, s = true, s[1:]
	case '+':
		s = s[1:]
	}
	d.whole, d.fraction, _ = strings.Cut(s, ".")
	d.whole = strings.TrimLeft(d.whole, "0")
	d.fraction = strings.TrimRight(d.fraction, "0")
	if d.whole == "" && d.fraction == "" {
		d.negative = false
	}
	return d, true
}

func (d digits) String() string {
	s := cmp.Or(d.whole, "0")
	if d.fraction != "" {
		s += "." + d.fraction
	}
	if d.negative {
		s = "-" + s
	}
	return s
}

// sign returns -1 for a negative number, else 1.
func (d digits) sign() int {
	if d.negative {
		return -1
	}
	return 1
}

// compare orders two numbers by their digits.
func (d digits) compare(e digits) int {
	if d.negative != e.negative {
		return d.sign()
	}
	c := len(d.whole) - len(e.whole)
	if c == 0 {
		c = strings.Compare(d.whole, e.whole)
	}
	if c == 0 {
		c = strings.Compare(d.fraction, e.fraction)
	}
	return c * d.sign()
}

// decimalOperand cuts a number to a precision and scale. It cuts towards zero,
// so arg lies above a negative number.
func decimalOperand(d digits, precision, scale int) operand {
	zeros := max(0, scale-precision) // behind the point: a numeric(3,5) has values below 0.01 alone
	if len(d.whole) > max(0, precision-scale) || strings.Trim(d.fraction[:min(zeros, len(d.fraction))], "0") != "" {
		return operand{outside: d.sign()}
	}
	var o operand
	if len(d.fraction) > scale {
		d.fraction = strings.TrimRight(d.fraction[:scale], "0")
		o.side = -d.sign()
		if d.whole == "" && d.fraction == "" {
			d.negative = false
		}
	}
	o.arg = d.String()
	return o
}

// integerOperand cuts a number to an int64.
func integerOperand(d digits) operand {
	o := decimalOperand(d, 19, 0)
	if o.outside != 0 {
		return o
	}
	n, err := strconv.ParseInt(o.arg.(string), 10, 64)
	if err != nil { // out of range
		return operand{outside: d.sign()}
	}
	o.arg = n
	return o
}

// floatOperand returns the nearest float. A float stands for its shortest
// digits, so they say on which side of the number it lies.
func floatOperand(d digits) operand {
	f, _ := strconv.ParseFloat(d.String(), 64)
	switch {
	case math.IsInf(f, 1):
		return operand{outside: 1}
	case math.IsInf(f, -1):
		return operand{outside: -1}
	}
	near, _ := parseDigits(wire.Float(f))
	return operand{arg: f, side: near.compare(d)}
}

// singleOperand returns the nearest float of 32 bits, as floatOperand does.
func singleOperand(d digits) operand {
	wide, _ := strconv.ParseFloat(d.String(), 32)
	switch {
	case math.IsInf(wide, 1):
		return operand{outside: 1}
	case math.IsInf(wide, -1):
		return operand{outside: -1}
	}
	near, _ := parseDigits(wire.Float32(float32(wide)))
	return operand{arg: wide, side: near.compare(d)}
}

// mixedOperand returns a number as a column of integers and floats holds it, whose
// engine compares the two exactly. From 2^53 on floats are whole, and stand for
// their value as integers do.
func mixedOperand(d digits) operand {
	o := floatOperand(d)
	f, ok := o.arg.(float64)
	if !ok || math.Abs(f) < 1<<53 {
		return o
	}
	if n := integerOperand(d); n.outside == 0 {
		return n
	}
	if f == math.MinInt64 {
		return operand{arg: int64(math.MinInt64), side: 1}
	}
	return o
}

// textOperand cuts a text at its first NUL where the engine's texts have none.
func textOperand(s string, c *Column) operand {
	if i := strings.IndexByte(s, 0); i >= 0 && c.NoNUL {
		return operand{arg: s[:i], side: -1}
	}
	return operand{arg: s}
}

// instantOperand cuts an instant to a class's unit: days, or digits of a
// fraction of a second. It reports whether the value is an instant.
func instantOperand(v wire.Value, c *Column) (operand, bool) {
	t, ok := filter.Instant(v)
	if !ok {
		return operand{}, false
	}
	if t.Year() > 9999 {
		return operand{outside: 1}, true
	}
	if t.Year() < c.FirstYear {
		return operand{outside: -1}, true
	}
	layout := "2006-01-02"
	cut := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	if c.Class == sqlengine.ClassDatetime {
		layout = datetimeLayout(c.Precision)
		unit := int64(math.Pow10(9 - c.Precision))
		cut = t.Add(-time.Duration(int64(t.Nanosecond()) % unit))
	}
	o := operand{arg: cut.Format(layout)}
	// Compare with the value itself: t has lost digits beyond nanoseconds, and a
	// leap second.
	if order, ok := filter.Compare(wire.Datetime(cut), v, wire.TypeDatetime); ok {
		o.side = order
	}
	return o, true
}

// datetimeLayout returns the layout of a datetime with so many digits of
// fraction.
func datetimeLayout(digits int) string {
	if digits == 0 {
		return "2006-01-02 15:04:05"
	}
	return "2006-01-02 15:04:05." + strings.Repeat("0", digits)
}
