package sqltext

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var comparators = []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte}

// numerals are operands around everything that a class can hold.
var numerals = []string{
	"0", "-0", "0.0", "1", "1.0", "1.5", "+1.5", "01.50", "-1.5", "0.1", "0.10000000000000000555", "0.3", "0.30000000000000004",
	"0.01", "0.011", "0.019", "-0.001",
	"0.00123", "0.001234", "0.00999", "0.009995", "-0.00999", "-0.0099901",
	"9.99", "9.995", "10", "99.99", "99.995", "100", "-99.99", "-99.999", "-100",
	"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993.5", "-9007199254740993",
	"9223372036854775806.5", "9223372036854775807", "9223372036854775807.1", "9223372036854775808",
	"-9223372036854775808", "-9223372036854775808.5", "-9223372036854775809",
	"1" + strings.Repeat("0", 30), "-1" + strings.Repeat("0", 30), "1" + strings.Repeat("0", 400), "-1" + strings.Repeat("0", 400),
	"0." + strings.Repeat("0", 400) + "1",
}

// inDecimals compares as a column of decimals does, and requires that what is bound fits its scale.
func inDecimals(scale int) func(wire.Value, any) int {
	return func(cell wire.Value, arg any) int {
		order, ok := filter.Compare(cell, wire.Text(arg.(string)), wire.TypeDecimal)
		if _, fraction, _ := strings.Cut(arg.(string), "."); !ok || len(fraction) > scale {
			panic("what is bound does not fit the column: " + arg.(string))
		}
		return order
	}
}

// TestOperands cuts each operand to what a class can hold, and compares by it
// and by the platform's own comparison.
func TestOperands(t *testing.T) {
	for _, class := range []struct {
		why    string
		column Column
		cells  []wire.Value
		order  func(cell wire.Value, arg any) int // as the engine compares
	}{
		{"integers", Column{Column: sqlengine.Column{Class: sqlengine.ClassInteger}}, []wire.Value{
			wire.Int(0), wire.Int(1), wire.Int(-1), wire.Int(2), wire.Int(10),
			wire.Int(1<<53 - 1), wire.Int(1 << 53), wire.Int(1<<53 + 1), wire.Int(-1<<53 - 1),
			wire.Int(math.MaxInt64), wire.Int(math.MinInt64), wire.Int(math.MaxInt64 - 1),
		}, func(cell wire.Value, arg any) int { return cmp.Compare(cell.Int64(), arg.(int64)) }},
		{"decimals of four digits, two of them a fraction",
			Column{Column: sqlengine.Column{Class: sqlengine.ClassDecimal, Precision: 4, Scale: 2}}, []wire.Value{
				wire.Decimal("0.00"), wire.Decimal("0.01"), wire.Decimal("-0.01"), wire.Decimal("1.50"), wire.Decimal("-1.50"),
				wire.Decimal("99.99"), wire.Decimal("-99.99"), wire.Decimal("10.00"), wire.Decimal("0.10"),
			}, inDecimals(2)},
		{"decimals of three digits behind two zeros",
			Column{Column: sqlengine.Column{Class: sqlengine.ClassDecimal, Precision: 3, Scale: 5}}, []wire.Value{
				wire.Decimal("0.00000"), wire.Decimal("0.00001"), wire.Decimal("0.00123"), wire.Decimal("-0.00100"), wire.Decimal("0.00999"),
			}, inDecimals(5)},
		{"floats, as numbers of the processor", Column{Column: sqlengine.Column{Class: sqlengine.ClassFloat}}, []wire.Value{
			wire.Float(0), wire.Float(math.Copysign(0, -1)), wire.Float(0.1), wire.Float(0.3), wire.Float(0.30000000000000004),
			wire.Float(1.5), wire.Float(-1.5), wire.Float(1 << 53), wire.Float(1 << 63), wire.Float(1e30), wire.Float(-1e30),
			wire.Float(math.MaxFloat64), wire.Float(-math.MaxFloat64), wire.Float(5e-324),
		}, func(cell wire.Value, arg any) int { return cmp.Compare(cell.Float64(), arg.(float64)) }},
		{"integers among floats", Column{Column: sqlengine.Column{
			Class: sqlengine.ClassFloat, Loose: sqlengine.Loose{Integers: true},
		}}, []wire.Value{
			wire.Int(0), wire.Int(1), wire.Int(-1), wire.Float(0.1), wire.Float(1.5), wire.Float(-1.5), wire.Float(0.30000000000000004),
			wire.Int(1<<53 - 1), wire.Int(1 << 53), wire.Int(1<<53 + 1), wire.Int(-1<<53 - 1), wire.Float(1<<53 - 1.5),
			wire.Int(math.MaxInt64), wire.Int(math.MaxInt64 - 1023), wire.Int(math.MinInt64), wire.Int(math.MinInt64 + 1),
			wire.Float(1 << 63), wire.Float(-1<<63 - 2048), wire.Float(1e30), wire.Float(-1e30),
			wire.Float(math.MaxFloat64), wire.Float(-math.MaxFloat64), wire.Float(5e-324),
		}, func(cell wire.Value, arg any) int {
			exact := new(big.Rat)
			if cell.Kind() == wire.KindInt {
				exact.SetInt64(cell.Int64())
			} else {
				exact.SetFloat64(cell.Float64())
			}
			bound := new(big.Rat)
			if n, ok := arg.(int64); ok {
				bound.SetInt64(n)
			} else {
				bound.SetFloat64(arg.(float64))
			}
			return exact.Cmp(bound)
		}},
	} {
		t.Run(class.why, func(t *testing.T) {
			for _, numeral := range numerals {
				d, ok := parseDigits(wire.Text(numeral))
				require.True(t, ok)
				o := numberOperand(&class.column, d)
				for _, op := range comparators {
					matches := compiled(t, op, numeral, wire.TypeDecimal)
					for _, cell := range class.cells {
						got := holds(op, o, func(arg any) int { return class.order(cell, arg) })
						require.Equal(t, matches(cell), got, "%s %s %s", cell, op, numeral)
					}
				}
			}
		})
	}
}

// compiled returns a filter on one column as the platform evaluates it.
func compiled(t *testing.T, op wire.Op, value string, typ wire.Type) func(cell wire.Value) bool {
	where := wire.Where{And: []wire.Filter{{Field: "c", Op: op, Value: wire.Text(value)}}}
	program := testkit.Must(filter.Compile(where, []wire.Column{{Name: "c", Type: typ}}))(t)
	return func(cell wire.Value) bool {
		return testkit.Must(program.Match([]wire.Value{cell}))(t)
	}
}

// holds evaluates what a statement would have.
func holds(op wire.Op, o operand, order func(arg any) int) bool {
	sign, all := comparison(op, o)
	switch sign {
	case "":
		return all
	case "=":
		return order(o.arg) == 0
	case "<>":
		return order(o.arg) != 0
	case "<":
		return order(o.arg) < 0
	case "<=":
		return order(o.arg) <= 0
	case ">":
		return order(o.arg) > 0
	case ">=":
		return order(o.arg) >= 0
	}
	panic(sign)
}

// TestInstants does the same for dates and datetimes of every precision.
func TestInstants(t *testing.T) {
	operands := []string{
		"2024-02-29", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000001Z", "2024-02-29T00:00:00.0000000001Z",
		"2024-02-29T00:00:00.1235Z", "2024-02-29T12:00", "2024-02-28T24:00:00Z", "2024-02-29T01:00:00+01:00",
		"2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z", "0000-01-01", "0000-12-31T23:59:59.9Z", "0001-01-01T00:00:00+23:59",
		"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-23:59", "2023-12-31t23:59:59z",
	}
	for precision := -1; precision <= 9; precision++ {
		c := &Column{Column: sqlengine.Column{Class: sqlengine.ClassDatetime, Type: wire.TypeDatetime, Precision: precision, FirstYear: 1}}
		if precision < 0 {
			c.Class, c.Type, c.Precision = sqlengine.ClassDate, wire.TypeDate, 0
		}
		unit := time.Duration(math.Pow10(9 - c.Precision))
		if c.Class == sqlengine.ClassDate {
			unit = 24 * time.Hour
		}
		var cells []time.Time
		for _, s := range operands {
			at, ok := filter.Instant(wire.Text(s))
			require.True(t, ok, s)
			for _, cell := range []time.Time{at.Truncate(unit), at.Truncate(unit).Add(unit), at.Truncate(unit).Add(-unit)} {
				if cell.Year() >= 1 && cell.Year() <= 9999 {
					cells = append(cells, cell)
				}
			}
		}
		for _, s := range operands {
			o, ok := instantOperand(wire.Text(s), c)
			require.True(t, ok)
			for _, op := range comparators {
				matches := compiled(t, op, s, c.Type)
				for _, cell := range cells {
					layout := datetimeLayout(c.Precision)
					value := wire.Datetime(cell)
					if c.Class == sqlengine.ClassDate {
						layout, value = time.DateOnly, wire.Date(cell)
					}
					got := holds(op, o, func(arg any) int { return strings.Compare(cell.Format(layout), arg.(string)) })
					require.Equal(t, matches(value), got, "precision %d: %s %s %s", precision, value, op, s)
				}
			}
		}
	}
}

// TestTextOperand cuts at a NUL where the engine's texts have none.
func TestTextOperand(t *testing.T) {
	for _, cell := range []string{"", "a", "ab", "b", "a\x01", "é"} {
		for _, value := range []string{"", "a", "a\x00", "a\x00b", "\x00", "b\x00"} {
			for _, op := range comparators {
				matches := compiled(t, op, value, wire.TypeString)
				o := textOperand(value, &Column{Column: sqlengine.Column{NoNUL: true}})
				require.NotContains(t, o.arg, "\x00")
				got := holds(op, o, func(arg any) int { return strings.Compare(cell, arg.(string)) })
				require.Equal(t, matches(wire.Text(cell)), got, "%q %s %q", cell, op, value)
			}
		}
	}
}

// TestUnbound leaves to the library a text with a NUL that a driver cannot bind, one that is longer than the flavor
// binds, and nothing else.
func TestUnbound(t *testing.T) {
	text := sqlengine.Column{Class: sqlengine.ClassText, Raw: "c", Text: "c"}
	noNUL, short := text, text
	noNUL.NULUnbound, short.MaxOperand = true, 2
	b := &Builder{Flavor: &ofSQLite}
	for _, op := range []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpIncludes, wire.OpStartsWith, wire.OpIn, wire.OpNin} {
		for text, want := range map[string]struct{ noNUL, short bool }{ // é has two bytes
			"ab": {true, true}, "a\x00b": {false, false}, "é": {true, true}, "abc": {true, false}, "aé": {true, false},
		} {
			f := wire.Filter{Field: "c", Op: op, Value: wire.Text(text), Values: []wire.Value{wire.Text("x"), wire.Text(text)}}
			_, pushed := b.Condition(&Column{Column: noNUL}, f)
			require.Equal(t, want.noNUL, pushed, "%s %q", op, text)
			_, pushed = b.Condition(&Column{Column: short}, f)
			require.Equal(t, want.short, pushed, "%s %q", op, text)
		}
	}
}

// bareNear compares the bare column n with what is bound.
func bareNear(sign string, arg any, bind func(any) string) string {
	return "n " + sign + " " + bind(arg)
}

// TestNear shows what stands beside the exact condition of a filter.
func TestNear(t *testing.T) {
	day := Column{Column: sqlengine.Column{
		Type: wire.TypeDate, Class: sqlengine.ClassDate, Raw: "day(n)", Index: sqlengine.Index{Near: bareNear},
	}}
	guarded := day
	guarded.Loose.Guard = "odd(n)"
	word := Column{Column: sqlengine.Column{
		Type: wire.TypeString, Class: sqlengine.ClassText, Raw: "bytes(n)", Text: "bytes(n)", Index: sqlengine.Index{Near: bareNear},
	}}
	same := word
	same.Index.Equal = func(args []any, bind func(any) string) string { return "n = " + bind(args[0]) }
	columns := map[string]Column{"day": day, "guarded": guarded, "word": word, "same": same}
	for _, c := range testkit.Table(t, "testdata/near.tsv", 6) {
		var operands []wire.Value
		for text := range strings.FieldsSeq(c[3]) {
			operands = append(operands, wire.Text(text))
		}
		b, column := &Builder{Flavor: &ofSQLite}, columns[c[1]]
		got, ok := b.Condition(&column, cells.Filter("n", wire.Op(c[2]), operands...))
		require.True(t, ok, c[0])
		require.Equal(t, strings.Replace(c[4], "FALSE", False, 1), got, c[0])
		require.Equal(t, c[5], strconv.Itoa(len(b.Args)), c[0])
	}
}
