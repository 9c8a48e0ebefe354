package scan_test

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

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// walk reads any JSON value the way a user of the Scanner would.
func walk(s *scan.Scanner) {
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

type strictText struct {
	verdict byte // y: JSON, n: not JSON, s: JSON that the protocol refuses all the same
	why     string
	text    string
}

func strictTexts(t testing.TB) []strictText {
	t.Helper()
	var list []strictText
	for _, c := range testkit.Table(t, "../jsontext/testdata/texts.tsv", 3) {
		list = append(list, strictText{c[0][0], c[1], testkit.Must(strconv.Unquote(c[2]))(t, c[1])})
	}
	return list
}

func TestScanner(t *testing.T) {
	for _, c := range strictTexts(t) {
		t.Run(c.why, func(t *testing.T) {
			s := scan.New([]byte(c.text))
			walk(s)
			s.End()
			if c.verdict == 'y' {
				require.NoError(t, s.Err())
				assert.Equal(t, len(c.text), s.Offset())
				return
			}
			var problem *scan.SyntaxError
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
		{`[1e999]`, "at byte 1: a number too large for a double"},
		{"[\"abc\xff\"]", "invalid JSON at byte 5: not valid UTF-8"},
		{`[] []`, "invalid JSON at byte 3: unexpected data after the JSON value"},
		{"[]\x00", "invalid JSON at byte 2: a NUL byte"},
	} {
		s := scan.New([]byte(c.text))
		walk(s)
		s.End()
		assert.EqualError(t, s.Err(), c.want)
	}
	s := scan.New([]byte(`{"a":1}`))
	assert.True(t, s.Scalar().IsNull())
	assert.EqualError(t, s.Err(), "invalid JSON at byte 0: expected a string, a number, true, false or null")
}

func TestScannerReset(t *testing.T) {
	s := scan.New([]byte(`[`))
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
				s := scan.New(text)
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
		s := scan.New([]byte(text))
		v := s.Scalar()
		s.End()
		require.NoError(t, s.Err(), text)
		if v.Float64() != want {
			t.Fatalf("%s is read as %v, not %v", text, v.Float64(), want)
		}
		integer := want == float64(int64(want)) && want >= -terms.MaxSafeInteger && want <= terms.MaxSafeInteger
		if integer != (v.Kind() == wire.KindInt) {
			t.Fatalf("%s has the kind %v", text, v.Kind())
		}
	}
}

func TestScannerSharesItsText(t *testing.T) {
	var s scan.Scanner
	const text = `{"name":"a long enough name","n":12.5,"ok":true,"none":null}`
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		s.Reset(text)
		walk(&s)
	}), "reading what holds no escape allocates nothing")
	require.NoError(t, s.Err())

	data := []byte(`"kept"`)
	kept := scan.New(data).String()
	copy(data, `"lost"`)
	assert.Equal(t, "kept", kept, "NewScanner keeps a copy")
}
