package wire

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

// What is fast must say the same as what is plain.

// Floats are written in the shortest digits, which strconv finds [rule cell-1].
func TestAppendFloatAgreesWithStrconv(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	check := func(f float64) {
		t.Helper()
		if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		if got, want := string(appendFloat(nil, f)), strconv.FormatFloat(f, 'f', -1, 64); got != want {
			t.Fatalf("%x is spelled %s, not %s", f, got, want)
		}
	}
	for _, f := range []float64{0.1, 0.5, 1.005, 99.99, 1e10, 1e11, 1e11 - 0.0001, 99999999999.9999, 123456789012.3456,
		0.0001, 0.00005, 1e-300, 5e-324, math.MaxFloat64, 1<<53 + 0.5, 4503599627370495.5} {
		check(f)
		check(-f)
		check(math.Nextafter(f, 0))
		check(math.Nextafter(f, math.Inf(1)))
	}
	for range testrun.Rounds(50_000) {
		check(math.Float64frombits(random.Uint64()))
		// Few decimals, of every size, and their neighbours.
		f := float64(random.Int64N(int64(math.Pow10(1+random.IntN(16))))) / math.Pow10(random.IntN(7))
		check(f)
		check(-f)
		check(math.Nextafter(f, 0))
	}
}

// Integers are written in decimal digits [rule cell-1]: beside each power of ten, and of
// every length.
func TestAppendIntAgreesWithStrconv(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	check := func(i int64) {
		t.Helper()
		if got, want := string(appendInt([]byte("before"), i)), "before"+strconv.FormatInt(i, 10); got != want {
			t.Fatalf("%s, not %s", got, want)
		}
	}
	for i := range int64(20_000) { // parts of four digits, all of them
		check(i)
		check(i * 10_000)
		check(-i)
	}
	for n := int64(1); n < math.MaxInt64/10; n *= 10 {
		check(n - 1)
		check(n)
		check(-n)
	}
	check(math.MinInt64)
	check(math.MaxInt64)
	for range testrun.Rounds(50_000) {
		check(int64(random.Uint64()) >> random.IntN(64))
	}
}

func TestNameSet(t *testing.T) {
	var set nameSet
	for i := range 1000 { // a few are compared, many hashed
		name := "n" + strconv.Itoa(i)
		assert.False(t, set.has(name))
		assert.True(t, set.add(name))
		assert.True(t, set.has(name))
		assert.False(t, set.add(name))
		assert.False(t, set.add("n0"))
	}
}
