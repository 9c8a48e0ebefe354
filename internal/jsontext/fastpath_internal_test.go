package jsontext

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
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
