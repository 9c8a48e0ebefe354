package relation

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

func repeat(v wire.Value, n int) []wire.Value {
	list := make([]wire.Value, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func TestSumIsExact(t *testing.T) {
	nines := strings.Repeat("9", 40)
	cases := []struct {
		addends []wire.Value
		want    string
		why     string
	}{
		{repeat(wire.Decimal("0.1"), 10_000), "1000.0", "aggregate-1a: 10,000 tenths are a thousand; floats make it 1000.0000000001588"},
		{repeat(wire.Float(0.1), 10_000), "1000.0", "filter-6: a float is its shortest digits, so its sum is exact too"},
		{[]wire.Value{wire.Float(0.1), wire.Float(0.2)}, "0.3", "a float sum would be 0.30000000000000004"},
		{[]wire.Value{wire.Int(1 << 53), wire.Int(1)}, "9007199254740993", "2^53 and its neighbour have no common float"},
		{[]wire.Value{wire.Decimal("9007199254740993"), wire.Int(-1)}, "9007199254740992", "beyond 2^53 in text as in integers"},
		{[]wire.Value{wire.Int(math.MaxInt64), wire.Int(math.MaxInt64)}, "18446744073709551614", "a sum does not wrap"},
		{[]wire.Value{wire.Int(math.MinInt64), wire.Int(math.MinInt64)}, "-18446744073709551616", "nor below zero"},
		{[]wire.Value{wire.Uint(math.MaxUint64), wire.Int(1)}, "18446744073709551616", "an unsigned integer crosses as digits"},
		{[]wire.Value{wire.Decimal(nines), wire.Int(1)}, "1" + strings.Repeat("0", 40), "40 digits carry through"},
		{[]wire.Value{wire.Decimal("0." + nines), wire.Decimal("0." + strings.Repeat("0", 39) + "1")},
			"1." + strings.Repeat("0", 40), "40 decimals carry through, their scale kept"},
		{[]wire.Value{wire.Decimal("1" + strings.Repeat("0", 40)), wire.Int(-1)}, nines, "a borrow runs through 40 digits"},
		{[]wire.Value{wire.Int(1), wire.Decimal("-0.000000000000000000000000000001")}, "0." + strings.Repeat("9", 30),
			"a borrow runs across the point"},
		{[]wire.Value{wire.Decimal("-0"), wire.Decimal("-0")}, "0", "filter-6: minus zero is zero"},
		{[]wire.Value{wire.Decimal("-0.00")}, "0.00", "minus zero with a scale"},
		{[]wire.Value{wire.Float(math.Copysign(0, -1))}, "0", "minus zero of a float"},
		{[]wire.Value{wire.Decimal("1.50"), wire.Decimal("-1.5")}, "0.00", "nothing is left but the scale"},
		{[]wire.Value{wire.Decimal("-1.50"), wire.Int(1)}, "-0.50", "a minus before a zero whole part"},
		{[]wire.Value{wire.Decimal("10.250"), wire.Int(1)}, "11.250", "the largest scale of the addends is kept (cell-1b)"},
		{[]wire.Value{wire.Decimal("1.5"), wire.Decimal("1.500")}, "3.000", "whatever their order"},
		{[]wire.Value{wire.Text("01.5"), wire.Text("+1.5")}, "3.0", "filter-6: leading zeros and a plus are digits too"},
		{[]wire.Value{wire.Float(1e22), wire.Int(1)}, "10000000000000000000001", "a float that crosses as a string of digits"},
		{[]wire.Value{wire.Float(1e-7), wire.Int(1)}, "1.0000001", "never an exponent"},
		{[]wire.Value{wire.Float(math.MaxFloat64), wire.Float(-math.MaxFloat64)}, "0", "opposite giants cancel"},
		{[]wire.Value{wire.Float(math.SmallestNonzeroFloat64)}, "0." + strings.Repeat("0", 323) + "5", "the smallest float, in full"},
		{[]wire.Value{wire.Decimal("1000000000"), wire.Decimal("-999999999")}, "1", "across a limb"},
		{[]wire.Value{wire.Decimal("-1000000000.000000001"), wire.Decimal("0.000000002")}, "-999999999.999999999",
			"limbs of both signs on both sides of the point"},
		{[]wire.Value{wire.Int(0)}, "0", "one zero"},
		{[]wire.Value{wire.Decimal("000000000000000000000")}, "0", "many zeros are one"},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			var forward, backward Sum
			for i := range c.addends {
				require.True(t, forward.Add(c.addends[i]), c.why)
				require.True(t, backward.Add(c.addends[len(c.addends)-1-i]), c.why)
			}
			assert.Equal(t, c.want, forward.Value().String(), c.why)
			assert.Equal(t, c.want, backward.Value().String(), "the order of addends is of no matter")
			assert.NoError(t, forward.Value().Err())
			assert.Equal(t, c.want, forward.Value().String(), "asking twice changes nothing")
		})
	}
}

func TestSumTakesNumbersOnly(t *testing.T) {
	for _, v := range []wire.Value{
		wire.Text("1e5"), wire.Text(".5"), wire.Text("5."), wire.Text(" 1"), wire.Text(""), wire.Text("NaN"), wire.Text("--1"),
		wire.Text("1,5"), wire.Text("0x10"), wire.Text("١"), wire.Bool(true), wire.Null(),
		wire.Float(math.NaN()), wire.JSON("[1]"),
	} {
		var s Sum
		assert.False(t, s.Add(v), "filter-6: %s is no number", v)
		assert.Equal(t, "0", s.Value().String(), "and leaves the sum as it was")
	}
}

// TestSumCarriesInTime: limbs are carried long before they overflow, and
// nobody notices.
func TestSumCarriesInTime(t *testing.T) {
	s := Sum{whole: []int64{1_000_000_000 * (carryEvery - 1)}, added: carryEvery - 1}
	require.True(t, s.Add(wire.Int(999_999_999)))
	assert.Zero(t, s.added)
	assert.Less(t, s.whole[0], int64(limbBase))
	assert.Equal(t, "4294967295999999999", s.Value().String())
}

// TestSumSize counts the limbs on both sides of the point.
func TestSumSize(t *testing.T) {
	var s Sum
	assert.Zero(t, s.Size())
	for number, least := range map[string]int{"1.5": 16, strings.Repeat("7", 9000): 8 * 1000, "0." + strings.Repeat("7", 90_000): 8 * 11_000} {
		require.True(t, s.Add(wire.Text(number)))
		assert.GreaterOrEqual(t, s.Size(), least)
	}
}

// TestSumAllocates nothing once its limbs are there.
func TestSumAllocates(t *testing.T) {
	var s Sum
	values := []wire.Value{wire.Int(math.MaxInt64), wire.Decimal("-12345678901234567890.123456789"), wire.Float(0.1), wire.Float(1e20)}
	for _, v := range values {
		s.Add(v)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, v := range values {
			s.Add(v)
		}
	}))
}

// BenchmarkSumHostile adds a column made to ripple: a carry through 100,000
// digits, to and fro. The time per row does not depend on the digits.
func BenchmarkSumHostile(b *testing.B) {
	for _, width := range []int{10, 100_000} {
		b.Run(strconv.Itoa(width), func(b *testing.B) {
			var s Sum
			s.Add(wire.Decimal("1" + strings.Repeat("0", width) + "." + strings.Repeat("0", width)))
			minus, plus := wire.Decimal("-1"), wire.Decimal("1")
			for b.Loop() {
				s.Add(minus)
				s.Add(plus)
			}
		})
	}
}

func BenchmarkSum(b *testing.B) {
	v := wire.Decimal("1234567.89")
	var s Sum
	b.ReportAllocs()
	for b.Loop() {
		s.Add(v)
	}
}

func BenchmarkSumShopspring(b *testing.B) {
	v := wire.Decimal("1234567.89")
	total := decimal.Zero
	b.ReportAllocs()
	for b.Loop() {
		d, _ := decimal.NewFromString(v.Text())
		total = total.Add(d)
	}
}
