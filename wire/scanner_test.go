package wire_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// walk reads any JSON value the way a user of the Scanner would.
func walk(s *wire.Scanner) {
	switch s.Peek() {
	case '{':
		s.Expect('{')
		for n := 0; s.Err() == nil && !s.Skip('}'); n++ {
			if n > 0 && !s.Expect(',') {
				return
			}
			_ = s.String()
			s.Expect(':')
			walk(s)
		}
	case '[':
		s.Expect('[')
		for n := 0; s.Err() == nil && !s.Skip(']'); n++ {
			if n > 0 && !s.Expect(',') {
				return
			}
			walk(s)
		}
	default:
		s.Scalar()
	}
}

// texts are what parsers are known to differ on, after the JSONTestSuite: y
// are JSON, n are not, s are JSON that this protocol refuses all the same.
var texts = []struct {
	verdict byte
	why     string
	text    string
}{
	{'y', "an empty array", `[]`},
	{'y', "an empty object", `{}`},
	{'y', "a lone string", `"asd"`},
	{'y', "a lone integer", `42`},
	{'y', "a lone negative", `-0.1`},
	{'y', "a lone null", `null`},
	{'y', "blanks around", " \t\r\n[ ] \n"},
	{'y', "nested arrays", `[[[[]]],[[]]]`},
	{'y', "all literals", `[true,false,null]`},
	{'y', "zero with exponent", `[0e1]`},
	{'y', "zero with signed exponent", `[0e+1]`},
	{'y', "capital exponent", `[1E22]`},
	{'y', "capital negative exponent", `[1E-2]`},
	{'y', "minus zero", `[-0]`},
	{'y', "minus zero point zero", `[-0.0]`},
	{'y', "a real with exponent", `[123.456e78]`},
	{'y', "a tiny number that rounds to zero", `[123e-10000000]`},
	{'y', "many digits", `[100000000000000000000000000000000000000000000000000000]`},
	{'y', "many digits after the point", `[0.` + strings.Repeat("1", 400) + `]`},
	{'y', "an empty string", `""`},
	{'y', "an empty name", `{"":0}`},
	{'y', "all short escapes", `["\"\\\/\b\f\n\r\t"]`},
	{'y', "unicode escapes in both cases", `["\u00e9\u00E9"]`},
	{'y', "an escaped NUL", `["\u0000"]`},
	{'y', "an escaped quote as unicode", `["\u0022\u005c"]`},
	{'y', "a surrogate pair", `["\ud834\uDD1E"]`},
	{'y', "the last pair", `["\udbff\udfff"]`},
	{'y', "a noncharacter", `["\uFFFF"]`},
	{'y', "the replacement character itself", "[\"\ufffd\"]"},
	{'y', "an escaped replacement character", `["\ufffd"]`},
	{'y', "an unescaped DEL", "[\"\x7f\"]"},
	{'y', "line separators unescaped", "[\"\u2028\u2029\"]"},
	{'y', "two to four bytes of UTF-8", `["é€😀"]`},
	{'y', "a backslash before a quote's end", `["\\"]`},
	{'y', "escapes on the edge of eight bytes", `["1234567\n","12345678\n","123456789\n"]`},

	{'n', "nothing", ``},
	{'n', "blanks only", " \n"},
	{'n', "an unclosed array", `[`},
	{'n', "an unclosed array after a value", `[1`},
	{'n', "an unclosed array after a comma", `[1,`},
	{'n', "an unclosed object", `{`},
	{'n', "an unclosed object after a name", `{"a"`},
	{'n', "an unclosed object after a colon", `{"a":`},
	{'n', "an unclosed object after a value", `{"a":1`},
	{'n', "a trailing comma in an array", `[1,]`},
	{'n', "a trailing comma in an object", `{"a":1,}`},
	{'n', "a leading comma", `[,1]`},
	{'n', "two commas", `[1,,2]`},
	{'n', "a missing comma", `[1 2]`},
	{'n', "a colon for a comma", `[1:2]`},
	{'n', "a missing colon", `{"a" 1}`},
	{'n', "two colons", `{"a"::1}`},
	{'n', "a comma for a colon", `{"a",1}`},
	{'n', "a name without quotes", `{a:1}`},
	{'n', "a name in single quotes", `{'a':1}`},
	{'n', "a number for a name", `{1:1}`},
	{'n', "null for a name", `{null:1}`},
	{'n', "the wrong bracket", `[1}`},
	{'n', "an extra bracket", `[1]]`},
	{'n', "a closing bracket alone", `]`},
	{'n', "two values", `1 2`},
	{'n', "two objects", `{}{}`},
	{'n', "a NUL after the value", "{}\x00"},
	{'n', "a NUL before the value", "\x00{}"},
	{'n', "a NUL inside an array", "[\x00]"},
	{'n', "a form feed as blank", "[\f]"},
	{'n', "a no-break space as blank", "[\u00a0]"},
	{'n', "a byte order mark", "\ufeff{}"},
	{'n', "a line comment", "[1] // a"},
	{'n', "a block comment", `[/**/]`},
	{'n', "a hash comment", "[] # a"},
	{'n', "a leading zero", `[012]`},
	{'n', "a leading zero after minus", `[-012]`},
	{'n', "two zeros", `[00]`},
	{'n', "two zeros before a point", `[00.5]`},
	{'n', "a plus sign", `[+1]`},
	{'n', "a point without digits before", `[.5]`},
	{'n', "a minus and a point", `[-.5]`},
	{'n', "a point without digits after", `[5.]`},
	{'n', "a point and an exponent", `[5.e1]`},
	{'n', "two points", `[1.2.3]`},
	{'n', "two minus signs", `[--1]`},
	{'n', "a minus alone", `[-]`},
	{'n', "a minus before a blank", `[- 1]`},
	{'n', "a minus before a word", `[-Infinity]`},
	{'n', "an exponent without digits", `[1e]`},
	{'n', "an exponent with a sign only", `[1e+]`},
	{'n', "an exponent with a point", `[1e1.5]`},
	{'n', "two exponents", `[1e1e1]`},
	{'n', "hexadecimal digits", `[0x42]`},
	{'n', "a letter behind digits", `[1a]`},
	{'n', "a full-width digit", `[１]`},
	{'n', "digit grouping", `[1_000]`},
	{'n', "NaN", `[NaN]`},
	{'n', "Infinity", `[Infinity]`},
	{'n', "a capital literal", `[True]`},
	{'n', "a cut literal", `[tru]`},
	{'n', "a cut literal at the end", `nul`},
	{'n', "a long literal", `[nulll]`},
	{'n', "a foreign literal", `[undefined]`},
	{'n', "an unclosed string", `"`},
	{'n', "an unclosed string of eight bytes", `"1234567`},
	{'n', "a string that ends in a backslash", `"a\`},
	{'n', "an escaped end", `["a\"]`},
	{'n', "an unknown escape", `["\a"]`},
	{'n', "an octal escape", `["\012"]`},
	{'n', "a hexadecimal escape", `["\x41"]`},
	{'n', "an escaped line break", "[\"\\\n\"]"},
	{'n', "an escaped character beyond ASCII", `["\é"]`},
	{'n', "a capital U", `["\U0041"]`},
	{'n', "a short unicode escape", `["\u00A"]`},
	{'n', "a unicode escape cut by the end", `["\u00`},
	{'n', "a unicode escape with a bad digit", `["\u00g0"]`},
	{'n', "a raw line break", "[\"a\nb\"]"},
	{'n', "a raw tab", "[\"a\tb\"]"},
	{'n', "a raw NUL", "[\"a\x00b\"]"},
	{'n', "a raw escape character past eight bytes", "[\"12345678\x1b\"]"},
	{'n', "single quotes", `['a']`},
	{'n', "no quotes", `[a]`},
	{'n', "curly quotes", `[“a”]`},

	{'s', "half of a pair", `["\ud800"]`},
	{'s', "the second half alone", `["\udc00"]`},
	{'s', "the halves the wrong way round", `["\udc00\ud800"]`},
	{'s', "two first halves", `["\ud800\ud800"]`},
	{'s', "half of a pair before another escape", `["\ud800\n"]`},
	{'s', "half of a pair before text", `["\ud800abcdef"]`},
	{'s', "half of a pair before a plain unicode escape", `["\ud800\u0041"]`},
	{'s', "half of a pair at the end", `"\ud800"`},
	{'s', "a byte that is no UTF-8", "[\"\xff\"]"},
	{'s', "a cut sequence", "[\"\xe2\x82\"]"},
	{'s', "an overlong sequence", "[\"\xc0\xaf\"]"},
	{'s', "an encoded surrogate", "[\"\xed\xa0\x80\"]"},
	{'s', "beyond the last code point", "[\"\xf4\x90\x80\x80\"]"},
	{'s', "a number beyond the doubles", `[1e400]`},
	{'s', "a negative number beyond the doubles", `[-123456e7890]`},
}

func TestScanner(t *testing.T) {
	for _, c := range texts {
		t.Run(c.why, func(t *testing.T) {
			s := wire.NewScanner([]byte(c.text))
			walk(s)
			s.End()
			if c.verdict == 'y' {
				require.NoError(t, s.Err())
				assert.Equal(t, len(c.text), s.Offset())
				return
			}
			var problem *wire.SyntaxError
			require.ErrorAs(t, s.Err(), &problem)
			assert.LessOrEqual(t, problem.Offset, len(c.text))

			// The first fault sticks, and everything else reads nothing.
			assert.Equal(t, byte(0), s.Peek())
			assert.Empty(t, s.String())
			assert.Empty(t, s.Number())
			assert.True(t, s.Scalar().IsNull())
			assert.False(t, s.Expect('['))
			s.End()
			assert.Same(t, problem, s.Err())
		})
		// The table itself is checked against the standard library, whose
		// mercy is known: it replaces bad text and never sees a number's size.
		lenient := c.verdict != 'n'
		assert.Equal(t, lenient, json.Valid([]byte(c.text)), c.why)

		// The decoder reads past an unknown member as strictly. It does not
		// look at the size of a number there: nobody reads it.
		body := `{"credentials":{},"timeoutMs":1,"x":` + c.text + `}`
		err := wire.Decode([]byte(body), new(wire.CheckRequest))
		if c.verdict == 'y' || strings.Contains(c.why, "beyond the doubles") {
			assert.NoError(t, err, c.why)
		} else {
			assert.Error(t, err, c.why)
		}
	}
}

func TestScannerFaultsSayWhere(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{`[1,`, "invalid JSON at byte 3: unexpected end"},
		{`[1;2]`, "invalid JSON at byte 2: expected ','"},
		{`{"a" 1}`, "invalid JSON at byte 5: expected ':'"},
		{`{1:1}`, "invalid JSON at byte 1: expected a string"},
		{`[tru]`, "invalid JSON at byte 1: expected a value"},
		{`["12345678` + "\n" + `"]`, "invalid JSON at byte 10: a control character inside a string must be escaped"},
		{`["\q"]`, "invalid JSON at byte 2: unknown escape"},
		{`["\u12"]`, "invalid JSON at byte 2: \\u needs four hexadecimal digits"},
		{`["a\ud800"]`, "invalid JSON at byte 3: half of a surrogate pair"},
		{`[1e999]`, "invalid JSON at byte 1: a number too large for a double"},
		{"[\"abc\xff\"]", "invalid JSON at byte 5: not valid UTF-8"},
		{`[] []`, "invalid JSON at byte 3: more text after the value"},
		{"[]\x00", "invalid JSON at byte 2: a NUL byte"},
	} {
		s := wire.NewScanner([]byte(c.text))
		walk(s)
		s.End()
		assert.EqualError(t, s.Err(), c.want)
	}
	s := wire.NewScanner([]byte(`{"a":1}`))
	assert.True(t, s.Scalar().IsNull())
	assert.EqualError(t, s.Err(), "invalid JSON at byte 0: expected a string, a number, true, false or null")
}

func TestScannerReset(t *testing.T) {
	s := wire.NewScanner([]byte(`[`))
	walk(s)
	require.Error(t, s.Err())
	s.Reset(`"again"`)
	assert.Equal(t, "again", s.String())
	assert.NoError(t, s.Err())
}

// Strings of every length, with every byte at every place, are read as the
// standard library reads them.
func TestScannerStringsAgainstStandardLibrary(t *testing.T) {
	for length := 0; length <= 20; length++ {
		for at := 0; at < length; at++ {
			for b := 0; b < 256; b++ {
				text := []byte(`"` + strings.Repeat("a", length) + `" `)
				text[1+at] = byte(b)
				var want string
				valid := utf8.Valid(text) && json.Unmarshal(text, &want) == nil
				s := wire.NewScanner(text)
				got := s.String()
				s.End()
				if valid != (s.Err() == nil) || valid && got != want {
					t.Fatalf("%q is read as %q, %v", text, got, s.Err())
				}
			}
		}
	}
}

// Numbers are read as strconv reads them, by whichever of the two ways.
func TestScannerNumbersAgainstStandardLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	digits := func(most int) string {
		n := 1 + random.IntN(most)
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('0' + random.IntN(10))
		}
		if n > 1 && b[0] == '0' {
			b[0] = '1'
		}
		return string(b)
	}
	for range 100_000 {
		text := digits(20)
		if random.IntN(2) == 0 {
			text = "-" + text
		}
		if random.IntN(3) > 0 {
			text += "." + digits(18)
		}
		if random.IntN(4) == 0 {
			text += fmt.Sprintf("e%d", random.IntN(60)-30)
		}
		want, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		s := wire.NewScanner([]byte(text))
		v := s.Scalar()
		s.End()
		require.NoError(t, s.Err(), text)
		if v.Float64() != want {
			t.Fatalf("%s is read as %v, not %v", text, v.Float64(), want)
		}
		integer := want == float64(int64(want)) && want >= -wire.MaxSafeInteger && want <= wire.MaxSafeInteger
		if integer != (v.Kind() == wire.KindInt) {
			t.Fatalf("%s has the kind %v", text, v.Kind())
		}
	}
}

func TestScannerSharesItsText(t *testing.T) {
	var s wire.Scanner
	const text = `{"name":"a long enough name","n":12.5,"ok":true,"none":null}`
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		s.Reset(text)
		walk(&s)
	}), "reading what holds no escape allocates nothing")
	require.NoError(t, s.Err())

	data := []byte(`"kept"`)
	kept := wire.NewScanner(data).String()
	copy(data, `"lost"`)
	assert.Equal(t, "kept", kept, "NewScanner keeps a copy")
}
