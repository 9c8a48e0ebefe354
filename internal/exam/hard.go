package exam

import (
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Operands that databases get wrong. Every column takes each of them, and those of its own type more often.
var (
	hardTexts = texts("", " ", "%", "_", "a%", `\`, "*", "'", `"; --`, "`", "\x00", "a\x00b", "\x00a",
		"é", "e\u0301", "ß", "\U0001F600", "\uffff", "true", "false", "True", "t")
	hardNumbers = slices.Concat(
		[]wire.Value{wire.Int(0), wire.Int(1), wire.Int(-1), wire.Int(9007199254740991)},
		[]wire.Value{wire.Float(1.5), wire.Float(-0.5), wire.Float(0.1), wire.Float(1e-7), wire.Float(1e21)},
		texts("1.50", "+1.5", "01.5", "-0", "-0.00", "1.5000000000000000000000000000000000000001", "0.1000000000000000055511151231257827"),
		texts("1e3", ".5", "5.", "NaN", "Infinity", "0x10", "1 ", "abc"), // no numbers
		texts("9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993"),
		texts("9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
			"18446744073709551615", "18446744073709551616", "9223372036854775806.5"),
		texts("1"+strings.Repeat("0", 70), "-1"+strings.Repeat("0", 70), "0."+strings.Repeat("0", 60)+"1",
			"1"+strings.Repeat("0", 400), "99999999999999999999.99"),
	)
	hardTimes = texts("2024-02-29", "2024-02-29T00:00:00Z", "2024-02-29T12:30", "2024-02-29T01:00:00+01:00",
		"2024-02-28T23:59:59.9999999Z", "0000-01-01", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59.9999999999-12:00",
		"2016-12-31T23:59:60Z", "2024-02-28T24:00:00Z",
		"2024-02-30", "20240229", "2024-02-29 00:00:00", "2024", "2024-02-29T00:00:00Zulu") // the last five are no times
	hard = slices.Concat([]wire.Value{wire.Bool(true), wire.Bool(false)}, hardTexts, hardNumbers, hardTimes)
)

// hardElements are further operands of contains.
var hardElements = slices.Concat(texts("a", "b", "A", "1", "1.50", "true", "null", "[]"),
	[]wire.Value{wire.Int(1), wire.Float(2.5), wire.Bool(true)})

func texts(list ...string) (values []wire.Value) {
	for _, text := range list {
		values = append(values, wire.Text(text))
	}
	return values
}

// hardFilters returns n filters with an operator on a column: of hard operands, and of other spellings and
// close neighbours of the column's cells.
func (d random) hardFilters(c *Column, op wire.Op, n int) (filters []wire.Filter) {
	for range n {
		f := wire.Filter{Field: c.Name, Op: op}
		switch terms.ShapeOf(op) {
		case terms.ShapeValue:
			f.Value = d.hardOperand(c, op)
		case terms.ShapeMember:
			f.Values = []wire.Value{}
			for range pick(d, []int{1, 2, 3, 5, 12}) {
				f.Values = append(f.Values, d.hardOperand(c, op))
			}
		default:
			return []wire.Filter{f}
		}
		filters = append(filters, f)
	}
	return filters
}

func (d random) hardOperand(c *Column, op wire.Op) wire.Value {
	switch {
	case d.chance(8):
		return wire.Null()
	case op == wire.OpContains && d.chance(2):
		return pick(d, hardElements)
	case len(c.cells) > 0 && d.chance(2):
		return d.beside(pick(d, c.cells), c.Type)
	case c.Type.Numeric() && d.chance(2):
		return pick(d, hardNumbers)
	case terms.IsTime(c.Type) && d.chance(2):
		return pick(d, hardTimes)
	}
	return pick(d, hard)
}

// beside returns a value in another spelling, or one close to it.
func (d random) beside(v wire.Value, t wire.Type) wire.Value {
	text := v.String()
	layout := time.RFC3339
	if len(text) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	if at, err := time.Parse(layout, text); err == nil && terms.IsTime(t) {
		return wire.Text(pick(d, []string{
			at.In(time.FixedZone("", 5*3600+1800)).Format("2006-01-02T15:04:05.999999999-07:00"),
			at.Format("2006-01-02t15:04:05.000000000z"),
			at.Format("2006-01-02T15:04:05.000000000") + "0001",
			at.Add(-time.Nanosecond).Format("2006-01-02T15:04:05.999999999Z"),
			at.Format("2006-01-02 15:04:05"),
			at.AddDate(0, 0, d.IntN(3)-1).Format(time.DateOnly),
		}))
	}
	if terms.IsDecimal(text) && v.Kind() != wire.KindBool {
		dotted := text
		if !strings.Contains(text, ".") {
			dotted += "."
		}
		return wire.Text(pick(d, []string{
			dotted + "0", "00" + strings.TrimPrefix(text, "-"), dotted + "000000000000000000000000000000000001", dotted + "5",
			text + "e0", " " + text, text,
		}))
	}
	if other, ok := d.near(wire.Text(text), wire.TypeString); ok && d.chance(2) {
		return other
	}
	return wire.Text(pick(d, []string{strings.ToUpper(text), strings.ToLower(text), text + " ", text + "\x00", text + "a"}))
}
