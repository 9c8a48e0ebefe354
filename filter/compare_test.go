package filter_test

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
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
				got, ok := filter.Compare(a, b, typ)
				if wantOK != ok || ok && sign(got) != want {
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
						p, err := filter.Compile(wire.Where{And: []wire.Filter{f}}, column(wire.TypeNumber))
						require.NoError(t, err)
						require.Equal(t, oracleMatch(a, f, wire.TypeNumber), passes(t, p, a), "%v %s %s", a, op, s)
					}
				}
			}
		}
	}
}
