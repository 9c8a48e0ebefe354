package jsontext

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

func TestExactIntegerAgainstRationals(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	most := big.NewInt(999999999999999999)
	for range testrun.Rounds(100_000) {
		raw := strconv.Itoa(random.IntN(1000) - 500)
		if random.IntN(2) == 0 {
			raw += "." + strings.Repeat("0", random.IntN(4)) + strconv.Itoa(random.IntN(1000)) + strings.Repeat("0", random.IntN(4))
		}
		if random.IntN(2) == 0 {
			raw += "e" + strconv.Itoa(random.IntN(48)-24)
		}
		r, ok := new(big.Rat).SetString(raw)
		assert.True(t, ok, raw)
		fits := r.IsInt() && new(big.Int).Abs(r.Num()).Cmp(most) <= 0
		got, ok := ExactInteger(raw)
		if ok != fits || ok && got != r.Num().Int64() {
			t.Fatalf("%s is judged %d, %v", raw, got, ok)
		}
	}
}

// A megabyte of digits or an absurd exponent is judged in one pass.
func TestExactIntegerIsLinear(t *testing.T) {
	start := time.Now()
	for _, raw := range []string{
		strings.Repeat("9", 1<<20),
		"1" + strings.Repeat("0", 1<<20),
		"0." + strings.Repeat("0", 1<<20) + "1e1048577",
		"1e" + strings.Repeat("9", 1<<20),
	} {
		ExactInteger(raw)
	}
	assert.Less(t, time.Since(start), time.Minute, "milliseconds, where expanding would take minutes")
}

func TestNextStopAtEveryPlace(t *testing.T) {
	for length := 0; length <= 24; length++ {
		for at := 0; at < length; at++ {
			for b := 0; b < 256; b++ {
				s := []byte(strings.Repeat("\xf0", length)) // beyond ASCII is no stop
				s[at] = byte(b)
				want := length
				if b < ' ' || b == '"' || b == '\\' {
					want = at
				}
				if got := nextStop(string(s), 0); got != want {
					t.Fatalf("%q stops at %d", s, got)
				}
			}
		}
	}
	// Below the first stop nothing hides, whatever the bytes: random ones
	// provoke borrows between neighbours.
	random := rand.New(rand.NewPCG(9, 10))
	for range testrun.Rounds(200_000) {
		s := make([]byte, 16)
		for i := range s {
			s[i] = byte(random.Uint32())
			if random.IntN(3) > 0 {
				s[i] = " !\"#[\\]\x1f\x7f\x80\xa2\xdc\xff"[random.IntN(13)]
			}
		}
		from := random.IntN(17)
		want := len(s)
		for i := len(s) - 1; i >= 0; i-- {
			if c := s[i]; i >= from && (c < ' ' || c == '"' || c == '\\') {
				want = i
			}
		}
		if got := nextStop(string(s), from); got != want {
			t.Fatalf("%q stops at %d, not %d", s, got, want)
		}
	}
}

// A number is exact if it equals the shortest digits of its double: big.Rat says so too.
func TestExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 9))
	texts := []string{
		"0", "-0", "0.0", "0e99999999999999999999", "1.5", "1.500", "-120.0e-1", "1E2", "0.1", "1e23", "5e-324",
		"1.7976931348623157e308", "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994",
		"72057594037927936", "72057594037927940", "18446744073709551615", "1.00000000000000000000001", "0.1000000000000000055511151231257827",
		"0.30000000000000004", "1e-400", "-1e-400", "123456789012345678", "123456789012345680", "1234567890123456.7",
	}
	for range testrun.Rounds(20_000) {
		b := strconv.AppendInt(nil, random.Int64(), 10)
		if b = b[:1+random.IntN(len(b))]; random.IntN(2) == 0 {
			b = append(append(b, '.'), strconv.AppendInt(nil, random.Int64(), 10)[:1+random.IntN(10)]...)
		}
		if random.IntN(3) == 0 {
			b = strconv.AppendInt(append(b, 'e'), random.Int64N(600)-300, 10)
		}
		texts = append(texts, string(b), strconv.FormatFloat(random.NormFloat64()*1e6, 'g', -1, 64))
	}
	exacts := 0
	for _, text := range texts {
		var s Scanner
		s.Reset(text)
		v, exact, ok := s.Exact()
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			assert.False(t, ok, text)
			continue
		}
		same := want == 0 && !strings.ContainsAny(strings.Split(text, "e")[0], "123456789")
		if want != 0 {
			own, _ := new(big.Rat).SetString(text)
			shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(want, 'g', -1, 64))
			same = own.Cmp(shortest) == 0
		}
		assert.True(t, ok, text)
		assert.Equal(t, same, exact, text)
		if s.End(); exact {
			exacts++
			var again Scanner
			again.Reset(text)
			assert.Equal(t, again.Scalar(), v, text)
		}
		assert.NoError(t, s.Err(), text)
	}
	assert.Greater(t, exacts, testrun.Rounds(10_000))
	assert.Greater(t, len(texts)-exacts, testrun.Rounds(5_000))
}

// The exponent and the digits of a hostile number cost no more than reading it.
func TestExactStaysLinear(t *testing.T) {
	for _, text := range []string{strings.Repeat("7", 1<<20), "1e-" + strings.Repeat("9", 1<<20), "0." + strings.Repeat("0", 1<<20) + "1"} {
		var s Scanner
		s.Reset(text)
		began := time.Now()
		_, exact, ok := s.Exact()
		assert.False(t, exact && ok)
		assert.Less(t, time.Since(began), 5*time.Second)
	}
}
