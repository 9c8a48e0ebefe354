package wire

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is fast must say the same as what is plain.

// D1: floats are spelled in shortest digits, which strconv finds.
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
	for _, f := range []float64{0.1, 0.5, 1.005, 99.99, 1e10, 1e11, 1e11 - 0.0001, 99999999999.9999, 123456789012.3456, 0.0001, 0.00005, 1e-300, 5e-324, math.MaxFloat64, 1<<53 + 0.5, 4503599627370495.5} {
		check(f)
		check(-f)
		check(math.Nextafter(f, 0))
		check(math.Nextafter(f, math.Inf(1)))
	}
	for range 50_000 {
		check(math.Float64frombits(random.Uint64()))
		// Few decimals, of every size, and their neighbours.
		f := float64(random.Int64N(int64(math.Pow10(1+random.IntN(16))))) / math.Pow10(random.IntN(7))
		check(f)
		check(-f)
		check(math.Nextafter(f, 0))
	}
}

// The short way of reading a number and the long one agree on every text: on
// the value, and on whether it is one.
func TestPlainNumberAgreesWithTheLongWay(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	texts := []string{
		"0", "-0", "-0.0", "00", "01", "-01", "0.", ".5", "-.5", "-", "", "1.", "1.5", "1.50", "1..5", "1.5.5", "1e5", "1E5", "1.5e-3", "1e", "+1",
		"123456789012345", "1234567890123456", "12345678901234567890", "9007199254740991", "9007199254740993", "0.1", "0.3", "1.000000000000001",
		"999999999999999.9", "99999999999999.9", "0.123456789012345", "0.00000000000001", "0.000000000000001", "4.35", "2.675", "1x", "1.5x", "-x",
	}
	for range 10_000 {
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
			want, ok := numberValue(raw)
			require.True(t, ok, text)
			require.Equal(t, want, v, text)
			require.Equal(t, long.pos, fast.pos, text)
		}
	}
	var s Scanner
	s.Reset("1.25,")
	v, ok := s.plainNumber()
	assert.True(t, ok, "the short way is taken at all")
	assert.Equal(t, Float(1.25), v)
}

func TestAppendStringAgreesByteByByte(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	dst := make([]byte, 0, 256)
	for range 10_000 {
		pieces := make([]string, random.IntN(40))
		for i := range pieces {
			pieces[i] = string(rune('a' + random.IntN(26)))
		}
		for range min(len(pieces), random.IntN(3)) {
			pieces[random.IntN(len(pieces))] = []string{`"`, `\`, "\n", "\x00", "\x1f", "\x7f", "ü", "😀"}[random.IntN(8)]
		}
		s := strings.Join(pieces, "")
		var want strings.Builder
		want.WriteString(`before"`)
		for _, r := range s {
			switch {
			case r == '"' || r == '\\':
				want.WriteString(`\` + string(r))
			case r == '\n':
				want.WriteString(`\n`)
			case r < ' ':
				want.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
			default:
				want.WriteRune(r)
			}
		}
		want.WriteByte('"')
		got, err := AppendString(append(dst[:0], "before"...), s)
		require.NoError(t, err)
		require.Equal(t, want.String(), string(got))
		if at := random.IntN(len(s) + 1); at < len(s) && utf8.RuneStart(s[at]) {
			got, err = AppendString(append(dst[:0], "before"...), s[:at]+"\xff"+s[at:])
			require.ErrorIs(t, err, error(errUTF8))
			require.Equal(t, "before", string(got), "what cannot cross leaves dst as it was")
		}
	}
}

func TestMembers(t *testing.T) {
	before := []string{`{"a":`, `,"b":`, `,"c":`}
	for _, c := range []struct {
		why   string
		text  string
		cells []Value // those read
		rest  string  // what is left, or the fault
		fault string
	}{
		{"all of them", `{"a":1,"b":"x","c":null}`, []Value{Int(1), Text("x"), Null()}, "}", ""},
		{"strings of every length and spelling", `{"a":"","b":"1234567","c":"12345678"}`, []Value{Text(""), Text("1234567"), Text("12345678")}, "}", ""},
		{"strings with escapes and letters beyond ASCII", `{"a":"\"","b":"12345678\n","c":"Straße 😀 und mehr"}`, []Value{Text(`"`), Text("12345678\n"), Text("Straße 😀 und mehr")}, "}", ""},
		{"blanks after the text are no part of it", `{"a": true,"b":  "x","c":` + "\t0.5 }", []Value{Bool(true), Text("x"), Float(0.5)}, " }", ""},
		{"another text at once", `{"x":1}`, nil, `{"x":1}`, ""},
		{"another text later", `{"a":1,"x":2}`, []Value{Int(1)}, `,"x":2}`, ""},
		{"a blank where there was none", `{"a":1, "b":2}`, []Value{Int(1)}, `, "b":2}`, ""},
		{"an end where more was expected", `{"a":1}`, []Value{Int(1)}, "}", ""},
		{"a text that is cut", `{"a":1,"b"`, []Value{Int(1)}, `,"b"`, ""},
		{"nothing", "", nil, "", ""},
		{"a cell that is no scalar", `{"a":1,"b":{},"c":3}`, []Value{Int(1), Null()}, "", "invalid JSON at byte 11: expected a string, a number, true, false or null"},
		{"a cell that is missing", `{"a":1,"b":`, []Value{Int(1), Null()}, "", "invalid JSON at byte 11: unexpected end"},
		{"a string that is cut", `{"a":"12345678901234567890`, []Value{Text("")}, "", "invalid JSON at byte 26: unexpected end"},
		{"a control character", "{\"a\":\"1234567890\x01234567890\"", []Value{Text("")}, "", "invalid JSON at byte 16: " + rawControl},
		{"a bad escape", `{"a":"12345678\x"`, []Value{Text("")}, "", "invalid JSON at byte 14: unknown escape"},
	} {
		t.Run(c.why, func(t *testing.T) {
			var s Scanner
			s.Reset(c.text)
			cells := make([]Value, len(before))
			n := s.Members(before, cells)
			if len(c.cells) > 0 || n > 0 {
				assert.Equal(t, c.cells, cells[:n])
			}
			if c.fault != "" {
				assert.EqualError(t, s.Err(), c.fault)
				return
			}
			assert.NoError(t, s.Err())
			assert.Equal(t, c.rest, s.text[s.Offset():])
		})
	}
}
