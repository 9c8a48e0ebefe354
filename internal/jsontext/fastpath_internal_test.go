package jsontext

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

// The short way of reading a number and the long one agree on every text: on
// the value, and on whether it is one.
func TestPlainNumberAgreesWithTheLongWay(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	texts := []string{
		"0", "-0", "-0.0", "00", "01", "-01", "0.", ".5", "-.5", "-", "", "1.", "1.5", "1.50", "1..5", "1.5.5", "1e5",
		"1E5", "1.5e-3", "1e", "+1",
		"123456789012345", "1234567890123456", "12345678901234567890", "9007199254740991", "9007199254740993", "0.1", "0.3", "1.000000000000001",
		"999999999999999.9", "99999999999999.9", "0.123456789012345", "0.00000000000001", "0.000000000000001", "4.35",
		"2.675", "1x", "1.5x", "-x",
	}
	for range testrun.Rounds(10_000) {
		b := make([]byte, 1+random.IntN(20))
		for i := range b {
			b[i] = "00123456789....-eE+"[random.IntN(19)]
		}
		texts = append(texts, string(b))
		texts = append(texts, strconv.FormatFloat(float64(random.Int64N(1e15))/math.Pow10(random.IntN(15)), 'f', -1, 64))
	}
	for _, text := range texts {
		for _, after := range []string{"", ",", " "} {
			var fast, long Scanner
			fast.Reset(text + after)
			long.Reset(text + after)
			v, ok := fast.plainNumber()
			if !ok {
				require.Zero(t, fast.pos, "%q: nothing is consumed", text)
				continue
			}
			raw := long.Number()
			require.NoError(t, long.err, "%q is no number", text)
			want, ok := parseNumber(raw)
			require.True(t, ok, text)
			require.Equal(t, want, v, text)
			require.Equal(t, long.pos, fast.pos, text)
		}
	}
	var s Scanner
	s.Reset("1.25,")
	v, ok := s.plainNumber()
	assert.True(t, ok, "the short way is taken at all")
	assert.Equal(t, Scalar{Kind: Float, Bits: math.Float64bits(1.25)}, v)
}

// slowString returns s as a JSON string, or nothing if it is not UTF-8.
func slowString(s string) string {
	b := []byte{'"'}
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	if !utf8.ValidString(s) {
		return ""
	}
	return string(append(b, '"'))
}

func TestAppendStringAgreesByteByByte(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	dst := make([]byte, 0, 256)
	check := func(s string) {
		t.Helper()
		got, err := AppendString(append(dst[:0], "before"...), s)
		want := slowString(s)
		if want == "" && err != ErrUTF8 || want != "" && err != nil || string(got) != "before"+want {
			t.Fatalf("%q is spelled %q, with the error %v", s, got, err)
		}
	}
	for range testrun.Rounds(10_000) {
		pieces := make([]string, random.IntN(40))
		for i := range pieces {
			pieces[i] = string(rune('a' + random.IntN(26)))
		}
		for range min(len(pieces), random.IntN(3)) {
			pieces[random.IntN(len(pieces))] = []string{`"`, `\`, "\n", "\r", "\t", "\x00", "\x1f", "\x7f", "ü", "😀"}[random.IntN(10)]
		}
		s := strings.Join(pieces, "")
		check(s)
		at := random.IntN(len(s) + 1)
		check(s[:at] + "\xff" + s[at:])
	}
	// Bytes that provoke borrows between neighbours.
	for range testrun.Rounds(200_000) {
		var s []byte
		for range random.IntN(24) {
			s = append(s, [...]string{" ", "!", "\"", "#", "[", "\\", "]", "\x1f", "\x7f", "\x80", "¢", "ܢ", "a", "a"}[random.IntN(14)]...)
		}
		check(string(s))
	}
}

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
