package filter_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestCompare(t *testing.T) {
	const incomparable = 99
	long := strings.Repeat("7", 1<<20)
	for _, c := range []struct {
		why  string
		a, b wire.Value
		typ  wire.Type
		want int
	}{
		{"filter-2: null is not equal to null", wire.Null(), wire.Null(), wire.TypeString, incomparable},
		{"filter-2: null on the left", wire.Null(), wire.Int(1), wire.TypeNumber, incomparable},
		{"filter-2: null on the right", wire.Int(1), wire.Null(), "", incomparable},
		{"a value that cannot cross the wire", wire.Decimal("x"), wire.Int(1), "", incomparable},
		{"a value that cannot cross the wire equals not even itself", wire.Decimal("x"), wire.Decimal("x"), wire.TypeString, incomparable},
		{"filter-6: scale twins", wire.Decimal("1.50"), wire.Float(1.5), wire.TypeDecimal, 0},
		{"filter-6: no number", wire.Text("n/a"), wire.Text("n/a"), wire.TypeNumber, incomparable},
		{"filter-6: a boolean is no number", wire.Bool(true), wire.Int(1), wire.TypeNumber, incomparable},
		{"filter-6: a date is no number", wire.Text("1"), wire.Date(reference), wire.TypeNumber, incomparable},
		{"filter-6: 2^53 and its successor as integers", wire.Int(1 << 53), wire.Int(1<<53 + 1), wire.TypeNumber, -1},
		{"filter-6: 2^53+1 as an integer and as a text", wire.Int(1<<53 + 1), wire.Text("9007199254740993"), wire.TypeNumber, 0},
		{"filter-6: 2^53 as a float and its successor", wire.Float(1 << 53), wire.Int(1<<53 + 1), wire.TypeNumber, -1},
		{"filter-6: 2^63 as a float is its shortest digits, above 2^63-1", wire.Float(1 << 63), wire.Int(1<<63 - 1), wire.TypeNumber, 1},
		{"filter-6: -2^63 as an integer, above the shortest digits of the float", wire.Int(-1 << 63), wire.Float(-1 << 63), wire.TypeNumber, 1},
		{"filter-6: the float nearest to a tenth is a tenth", wire.Float(0.1), wire.Decimal("0.10"), wire.TypeDecimal, 0},
		{"filter-6: a million digits that differ in the last", wire.Text(long + "1"), wire.Text(long + "2"), wire.TypeDecimal, -1},
		{"filter-6: a million zeros that do not matter", wire.Text("1." + strings.Repeat("0", 1<<20)), wire.Int(1), wire.TypeDecimal, 0},
		{"filter-6: a million digits against an integer", wire.Text("-" + long), wire.Int(-1 << 63), wire.TypeDecimal, -1},
		{"filter-6: a million digits against a float", wire.Text("0." + strings.Repeat("0", 1<<20) + "1"),
			wire.Float(5e-324), wire.TypeDecimal, -1},
		{"filter-7: bytes", wire.Text("10"), wire.Text("9"), wire.TypeString, -1},
		{"filter-7: a boolean is its text", wire.Bool(true), wire.Text("true"), wire.TypeBoolean, 0},
		{"filter-7: a datetime in a text column is its wire text", wire.Datetime(reference),
			wire.Text("2024-05-01T12:00:00Z"), wire.TypeString, 0},
		{"filter-8: both numbers", wire.Text("10"), wire.Text("9"), "", 1},
		{"filter-8: one is no number", wire.Text("10"), wire.Text("9x"), "", -1},
		{"an unknown type is undeclared", wire.Text("10"), wire.Text("9"), "varchar", 1},
		{"filter-9: instants", wire.Datetime(reference), wire.Text("2024-05-01T14:00:00+02:00"), wire.TypeDatetime, 0},
		{"filter-9: a date is its midnight", wire.Date(reference), wire.Datetime(reference), wire.TypeDate, -1},
		{"filter-9: one is no date", wire.Date(reference), wire.Text("2024"), wire.TypeDate, 1},
	} {
		got, ok := filter.Compare(c.a, c.b, c.typ)
		if c.want == incomparable {
			assert.False(t, ok, c.why)
			continue
		}
		if assert.True(t, ok, c.why) {
			assert.Equal(t, c.want, sign(got), c.why)
		}
		back, ok := filter.Compare(c.b, c.a, c.typ)
		assert.True(t, ok, c.why)
		assert.Equal(t, -c.want, sign(back), "%s, the other way round", c.why)
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// TestCompareOracle compares Compare with a simple implementation of the rules
// for every pair of the pool and every type.
func TestCompareOracle(t *testing.T) {
	values := pool()
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
}

func TestDecimalsAgainstOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	kinds := func(s string) []wire.Value {
		out := []wire.Value{wire.Text(s), wire.Decimal(s)}
		r, ok := new(big.Rat).SetString(s)
		require.True(t, ok)
		if r.IsInt() && r.Num().IsInt64() {
			out = append(out, wire.Int(r.Num().Int64()))
		}
		return out
	}
	for range 4000 {
		s, u := plainDecimal(rng), plainDecimal(rng)
		if rng.IntN(4) == 0 {
			u = s + "0" // often a twin
			if !strings.Contains(s, ".") {
				u = s + ".000"
			}
		}
		want := decimal.RequireFromString(strings.TrimPrefix(s, "+")).Cmp(decimal.RequireFromString(strings.TrimPrefix(u, "+")))
		for _, a := range kinds(s) {
			for _, b := range kinds(u) {
				for _, typ := range []wire.Type{wire.TypeDecimal, wire.TypeNumber, ""} {
					got, ok := filter.Compare(a, b, typ)
					require.True(t, ok, "%s, %s", s, u)
					require.Equal(t, want, sign(got), "%s %s, %s %s", kindName(a.Kind()), s, kindName(b.Kind()), u)
				}
				p, err := filter.Compile(wire.Where{And: []wire.Filter{{Field: "c", Op: wire.OpLt, Value: b}}}, column(wire.TypeDecimal))
				require.NoError(t, err)
				require.Equal(t, want < 0, passes(t, p, a), "%s < %s", s, u)
			}
		}
	}
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
			next := new(big.Rat).SetFloat64(nextFloat(f))
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

// TestCompareIsAnOrder checks that Compare orders numbers, text and instants,
// whatever the kinds of the values.
func TestCompareIsAnOrder(t *testing.T) {
	// The pairwise rules for undeclared columns and for dates are not
	// transitive. TestOrderIsTotal tests the order that sorts.
	for _, typ := range []wire.Type{wire.TypeNumber, wire.TypeString} {
		values := pool()
		for _, a := range values {
			for _, b := range values {
				ab, ok := filter.Compare(a, b, typ)
				ba, back := filter.Compare(b, a, typ)
				if ok != back || sign(ab) != -sign(ba) {
					require.Equal(t, []any{ok, sign(ab)}, []any{back, -sign(ba)}, "%q: %s and %s, both ways", typ, a, b)
				}
				if !ok || ab > 0 {
					continue
				}
				for _, c := range values {
					if bc, ok := filter.Compare(b, c, typ); ok && bc <= 0 {
						if ac, ok := filter.Compare(a, c, typ); !ok || ac > 0 {
							t.Fatalf("%q: %s <= %s <= %s, and yet Compare(%[2]s, %[4]s) = %d, %v", typ, a, b, c, ac, ok)
						}
					}
				}
			}
		}
	}
}

func nextFloat(f float64) float64 { return math.Nextafter(f, math.MaxFloat64) }
