package filter_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func sign(n int) int { return cmp.Compare(n, 0) }

// TestCompareOracle compares Compare with a simple implementation of the rules
// for every pair of the pool and every type.
func TestCompareOracle(t *testing.T) {
	values := pool(t)
	for _, typ := range allTypes {
		for _, a := range values {
			for _, b := range values {
				want, wantOK := oracleCompare(a, b, typ)
				if got, ok := filter.Compare(a, b, typ); wantOK != ok || ok && sign(got) != want {
					t.Fatalf("Compare(%s %s, %s %s, %q) = %d, %v; want %d, %v", kindName(a.Kind()), a, kindName(b.Kind()), b, typ, got, ok, want, wantOK)
				}
			}
		}
	}
	got, ok := filter.Compare(wire.Text("10"), wire.Text("9"), "varchar")
	require.True(t, ok && got > 0, "an unknown type is undeclared")
}

// TestFloatsAgainstDigits compares the shortcut for floats, which does not
// write them out, with a comparison of their digits: around random numbers,
// midpoints between two floats, and the ends of the range.
func TestFloatsAgainstDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	floats := []float64{0, 1, 5e-324, 1e-323, 2.2250738585072014e-308, 1.7976931348623157e308, 1 << 53, 1<<53 + 2,
		1 << 62, 1 << 63, 0.1, 0.3, 1e22, 1e23, 123456.789}
	for range 40 {
		f := rng.Float64()
		for range rng.IntN(40) {
			f *= 37.3
		}
		floats = append(floats, f)
	}
	for _, f := range floats {
		exact := new(big.Rat).SetFloat64(f)
		for _, ulps := range []int64{-2, -1, 0, 1, 2} {
			// Exact halves of the distance to the next float.
			next := new(big.Rat).SetFloat64(math.Nextafter(f, math.MaxFloat64))
			half := new(big.Rat).Sub(next, exact)
			half.Mul(half, big.NewRat(ulps, 2))
			digits := new(big.Rat).Add(exact, half).FloatString(1100)
			for _, s := range []string{digits, wire.Float(f).String(), "-" + strings.TrimPrefix(digits, "-")} {
				b := wire.Text(s)
				for _, a := range []wire.Value{wire.Float(f), wire.Float(-f)} {
					want, _ := oracleCompare(a, b, wire.TypeNumber)
					got, ok := filter.Compare(a, b, wire.TypeNumber)
					require.True(t, ok)
					require.Equal(t, want, sign(got), "Compare(%v, %s)", a, s)
					for _, op := range []wire.Op{wire.OpEq, wire.OpGt, wire.OpLte} {
						f := wire.Filter{Field: "c", Op: op, Value: b}
						p := testkit.Must(filter.Compile(wire.Where{And: []wire.Filter{f}}, column(wire.TypeNumber)))(t)
						require.Equal(t, oracleMatch(a, f, wire.TypeNumber), passes(t, p, a), "%v %s %s", a, op, s)
					}
				}
			}
		}
	}
}

// TestKeysAreEquality checks that values have equal keys if and only if they compare as
// equal. No key begins another, so the keys of several columns can be written one after
// the other.
func TestKeysAreEquality(t *testing.T) {
	values := append(pool(t), texts("aa", "a\x00", "\x00a", "11", "\x04\x01a", "2024-05-01T00:00:00.0000000001Z")...)
	for _, typ := range allTypes {
		keys := make([][]byte, len(values))
		for i, v := range values {
			keys[i] = filter.AppendKey(nil, v, typ)
			require.NotEmpty(t, keys[i])
			require.Equal(t, append([]byte("before"), keys[i]...), filter.AppendKey([]byte("before"), v, typ))
		}
		for i, a := range values {
			for j, b := range values {
				same := bytes.Equal(keys[i], keys[j])
				var want bool
				if c, ok := filter.Compare(a, b, typ); ok {
					want = c == 0 // [rule aggregate-2]
				} else {
					// All nulls share a key, all invalid values share another,
					// and text that is not a number has its own [rule aggregate-3].
					want = a.IsNull() == b.IsNull() && (a.Kind() == wire.KindInvalid) == (b.Kind() == wire.KindInvalid) &&
						(a.IsNull() || a.Kind() == wire.KindInvalid || a.String() == b.String())
				}
				if want != same {
					require.Equal(t, want, same, "%q: %s %s, %s %s", typ, kindName(a.Kind()), a, kindName(b.Kind()), b)
				}
				if !same && bytes.HasPrefix(keys[i], keys[j]) {
					require.Fail(t, "a key that begins another is not self-delimiting", "%q: %s, %s", typ, a, b)
				}
			}
		}
	}
}

func TestInstant(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/instants.tsv", 3) {
		if got, ok := filter.Instant(cells.One(t, c[0])); assert.Equal(t, c[1] != "-", ok, c[2]) && ok {
			assert.Equal(t, c[1], got.Format(time.RFC3339Nano), c[2])
			assert.Equal(t, time.UTC, got.Location(), c[2])
		}
	}
}

// TestCalendar compares the calendar with that of package time: every day of more than four
// centuries, after which the calendar repeats, days that do not exist among them, and the ends
// of February and of the year in all other years.
func TestCalendar(t *testing.T) {
	check := func(year, month, day int) {
		date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
		exists := date.Year() == year && int(date.Month()) == month && date.Day() == day
		text := fmt.Sprintf("%04d-%02d-%02d", year, month, day)
		if got, ok := filter.Instant(wire.Text(text)); ok != exists || ok && !got.Equal(date) {
			t.Fatalf("%s: %v, %v", text, got, ok)
		}
	}
	for year := 1800; year < 2210; year++ {
		for month := range 14 {
			for day := range 33 {
				check(year, month, day)
			}
		}
	}
	for year := range 10000 {
		for _, day := range [][2]int{{1, 1}, {2, 28}, {2, 29}, {3, 1}, {12, 31}} {
			check(year, day[0], day[1])
		}
	}
}

// pool returns values of every kind, with the spellings that comparisons
// typically get wrong.
func pool(t testing.TB) (values []wire.Value) {
	t.Helper()
	for _, c := range testkit.Table(t, "testdata/pool.tsv", 2) {
		values = append(values, cells.Row(t, c[0])...)
	}
	return append(values, texts(strings.Repeat("9", 400), "-"+strings.Repeat("9", 400), "0."+strings.Repeat("0", 400)+"1",
		"1."+strings.Repeat("0", 400))...)
}

// plainDecimal returns random plain decimal text with redundant zeros and
// signs, mostly short, sometimes very long.
func plainDecimal(rng *rand.Rand) string {
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(rng.IntN(10))
			if rng.IntN(3) == 0 {
				b[i] = '0' // zeros are where it goes wrong
			}
		}
		return string(b)
	}
	length := func() int {
		if rng.IntN(20) == 0 {
			return 1 + rng.IntN(60)
		}
		return 1 + rng.IntN(4)
	}
	s := []string{"", "", "-", "+"}[rng.IntN(4)] + digits(length())
	if rng.IntN(2) == 0 {
		s += "." + digits(length())
	}
	return s
}
