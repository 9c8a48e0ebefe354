package relation_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestSumIsExact(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/sum.tsv", 3) {
		t.Run(c[1], func(t *testing.T) {
			one, many := strings.CutPrefix(c[0], "10000 times ")
			addends := cells.Row(t, one)
			if many {
				addends = slices.Repeat(addends, 10_000)
			}
			var forward, backward relation.Sum
			for i := range addends {
				require.True(t, forward.Add(addends[i]), c[2])
				require.True(t, backward.Add(addends[len(addends)-1-i]), c[2])
			}
			assert.Equal(t, c[1], forward.Value().String(), c[2])
			assert.Equal(t, c[1], backward.Value().String(), "the order of addends is of no matter")
			assert.NoError(t, forward.Value().Err())
			assert.Equal(t, c[1], forward.Value().String(), "asking twice changes nothing")
		})
	}
}

func TestSumTakesNumbersOnly(t *testing.T) {
	for _, v := range cells.Row(t, `"1e5" ".5" "5." " 1" "" "NaN" "--1" "1,5" "0x10" "١" true null float:NaN json:"[1]"`) {
		var s relation.Sum
		assert.False(t, s.Add(v), "filter-6: %s is no number", v)
		assert.Equal(t, "0", s.Value().String(), "and leaves the sum as it was")
	}
}

// TestSumSize counts the limbs on both sides of the point.
func TestSumSize(t *testing.T) {
	var s relation.Sum
	assert.Zero(t, s.Size())
	for number, least := range map[string]int{"1.5": 16, strings.Repeat("7", 9000): 8 * 1000, "0." + strings.Repeat("7", 90_000): 8 * 11_000} {
		require.True(t, s.Add(wire.Text(number)))
		assert.GreaterOrEqual(t, s.Size(), least)
	}
}

// TestSumAllocates nothing once its limbs are there.
func TestSumAllocates(t *testing.T) {
	var s relation.Sum
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
			var s relation.Sum
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
	var s relation.Sum
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
