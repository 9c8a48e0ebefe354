package jsontext_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// scan reads a scalar and the end of the text. What it accepts, encoding/json reads alike.
func scan(t *testing.T, text string) error {
	t.Helper()
	var s jsontext.Scanner
	s.Reset(text)
	v := s.Scalar()
	s.End()
	if s.Err() != nil {
		assert.Zero(t, s.Peek(), "%q", text)
		assert.True(t, s.AtEnd(), "%q", text)
		return s.Err()
	}
	var want any
	require.NoError(t, json.Unmarshal([]byte(text), &want), "%q", text)
	got := map[jsontext.Kind]any{jsontext.Null: nil, jsontext.Bool: v.Bits == 1, jsontext.Int: float64(int64(v.Bits)),
		jsontext.Float: math.Float64frombits(v.Bits), jsontext.String: v.Text}[v.Kind]
	require.Equal(t, want, got, "%q", text)
	require.Equal(t, want == true, v.IsTrue(), "%q", text)
	if f, ok := want.(float64); ok {
		require.Equal(t, f == math.Trunc(f) && math.Abs(f) <= jsontext.MaxSafeInteger, v.Kind == jsontext.Int, "%q", text)
	}
	return nil
}

func TestScalars(t *testing.T) {
	for _, text := range []string{"true", "false", "null", "0", "-0", "7", "-7", "1.5", "-2.50", "1e5", "1E+5", "12e-5", "0.1e1", "1.5e22",
		"123456789012345678", "9007199254740991", "9007199254740992", "-9007199254740993.5", "1e-400", `""`} {
		require.NoError(t, scan(t, text))
		for b := range 0x80 { // before, behind and instead of the last byte
			for _, other := range []string{string(rune(b)) + text, text + string(rune(b)), text[:len(text)-1] + string(rune(b))} {
				assert.Equal(t, json.Valid([]byte(other)) && !strings.ContainsAny(other, "[]{}"), scan(t, other) == nil, "%q", other)
			}
		}
	}
	for _, c := range testkit.Table(t, "testdata/faults.tsv", 3) {
		assert.EqualError(t, scan(t, testkit.Must(strconv.Unquote(c[0]))(t)), c[1], c[2])
	}
}

// TestStrings reads strings at every place of a word.
func TestStrings(t *testing.T) {
	for n := range 10 {
		before := `"` + strings.Repeat("x", n)
		for _, body := range []string{``, `a`, `é😀~`, `\"`, `\\`, `\/`, `\b\f\n\r\t`, `\u0041b`, `\u00e9\uABCD`, `\ud83d\ude00`,
			`\uD83D\uDE00 \uffff`,
			`a longer text \t with an escape`, `a longer text \u0000`} {
			require.NoError(t, scan(t, before+body+`"`))
			for end := range len(body) + 1 {
				if cut := before + body[:end]; utf8.ValidString(cut) {
					assert.Error(t, scan(t, cut), "%q", cut)
				}
			}
		}
		for b := range 0x80 {
			c := string(rune(b))
			for _, body := range []string{c, `\` + c, `\n` + c, `\u` + c + `041`, `\u0` + c + `41`, `\u00` + c + `1`, `\u004` + c} {
				text := before + body + `"`
				assert.Equal(t, json.Valid([]byte(text)), scan(t, text) == nil, "%q", text)
			}
		}
		for _, c := range testkit.Table(t, "testdata/strings.tsv", 3) {
			body := testkit.Must(strconv.Unquote(c[0]))(t)
			for _, escape := range []string{"", `\"`} {
				var fault *jsontext.SyntaxError
				require.ErrorAs(t, scan(t, before+escape+body+`"`), &fault)
				assert.Equal(t, jsontext.SyntaxError{Offset: len(before + escape), Problem: c[1]}, *fault, c[2])
			}
		}
		for _, open := range []string{before, before + `\n`, before + `\`} {
			assert.EqualError(t, scan(t, open), (&jsontext.SyntaxError{Offset: len(open), Problem: "unexpected end"}).Error())
		}
	}
}

// TestTokens reads what surrounds scalars, and numbers as they are written. The first
// fault stays.
func TestTokens(t *testing.T) {
	var s jsontext.Scanner
	number := func(want string, next byte) func() bool {
		return func() bool { return s.Number() == want && s.Peek() == next }
	}
	for _, c := range []struct {
		text, says string
		read       func() bool
	}{
		{"\n:", "", func() bool { return s.Expect(':') }},
		{" x\r", "", func() bool { return s.Skip('x') && !s.Skip('x') && s.AtEnd() }},
		{"a true", "", func() bool { s.Seek(2); s.Literal("true"); return s.AtEnd() }},
		{" \t\"name\" ", "", func() bool { return s.String() == "name" && s.Offset() == 8 && s.Peek() == 0 }},
		{" -1.50e+2,", "", number("-1.50e+2", ',')},
		{"1:", "", number("1", ':')},
		{"1.5:", "", number("1.5", ':')},
		{"1e5:", "", number("1e5", ':')},
		{"1d5", "", number("1", 'd')},
		{"-1x", "", func() bool { v, exact, ok := s.Exact(); return int64(v.Bits) == -1 && exact && ok && s.Skip('x') }},
		{"-a", "byte 0: expected a value", func() bool { _, exact, ok := s.Exact(); return exact && ok }},
		{" ;", "byte 1: expected ':'", func() bool { return !s.Expect(':') && !s.Expect(',') }},
		{" ", "byte 1: unexpected end", func() bool { return !s.Expect(':') }},
		{" 'a'", "byte 1: expected a string", func() bool { return s.String() == "" }},
		{"  ", "byte 2: unexpected end", func() bool { return s.String() == "" }},
		{"\xff", "byte 0: not valid UTF-8", func() bool { s.Fail("more"); return s.AtEnd() }},
		{"abctru", "byte 3: expected a value", func() bool { s.Seek(3); s.Literal("true"); return s.AtEnd() }},
	} {
		s.Reset(c.text)
		assert.True(t, c.read(), "%q", c.text)
		if c.says == "" {
			assert.NoError(t, s.Err(), "%q", c.text)
		} else {
			assert.EqualError(t, s.Err(), "invalid JSON at "+c.says, "%q", c.text)
		}
	}
}

// TestPutString writes strings of every length into as much room as they need, and
// into less.
func TestPutString(t *testing.T) {
	for n := range 40 {
		text := strings.Repeat("abcdefgh", 5)[:n]
		dst := make([]byte, 3, 3+n+2)
		end, ascii := jsontext.PutString(dst, text)
		assert.Equal(t, 3+n+2, end)
		assert.True(t, ascii)
		assert.Equal(t, "\x00\x00\x00\""+text+`"`, string(dst[:end]))
		end, ascii = jsontext.PutString(dst[:3:3+n+1], text)
		assert.True(t, end == 0 && !ascii)
		for at := range n {
			for c, want := range map[string]int{"\x00": 0, "\x1f": 0, `"`: 0, `\`: 0, "\x80": 3 + n + 2, "\xff": 3 + n + 2,
				"\x7f": 3 + n + 2, "!": 3 + n + 2} {
				end, ascii := jsontext.PutString(dst, text[:at]+c+text[at+1:])
				assert.Equal(t, want, end, "%q at %d of %d", c, at, n)
				assert.Equal(t, end > 0 && c < "\x80", ascii, "%q at %d of %d", c, at, n)
			}
		}
	}
}

func TestExactInteger(t *testing.T) {
	zeros := strings.Repeat("0", 100_000)
	for _, c := range append(testkit.Table(t, "testdata/integers.tsv", 3), [][]string{
		{"1." + zeros + "1", "-", "a fraction behind many zeros"},
		{"1" + zeros + "e-100000", "1", "many zeros that the exponent cuts"},
		{"0." + zeros + "7e100001", "7", "many zeros that the exponent lifts"},
	}...) {
		got, ok := jsontext.ExactInteger(c[0])
		want, err := strconv.ParseInt(c[1], 10, 64) // 0 for "-"
		assert.Equal(t, err == nil, ok, c[2])
		assert.Equal(t, want, got, c[2])
	}
}
