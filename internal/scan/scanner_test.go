package scan_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
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
		list = append(list, strictText{c[0][0], c[1], unquoted(t, c[2])})
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

func TestScannerReset(t *testing.T) {
	s := scan.New([]byte(`[`))
	walk(s)
	require.Error(t, s.Err())
	s.Reset(`"again"`)
	assert.Equal(t, "again", s.String())
	assert.NoError(t, s.Err())
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

func TestMembers(t *testing.T) {
	before := []string{`{"a":`, `,"b":`, `,"c":`}
	for _, c := range testkit.Table(t, "testdata/members.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			text, rest, fault := unquoted(t, c[0]), unquoted(t, c[2]), unquoted(t, c[3])
			var s scan.Scanner
			s.Reset(text)
			read := make([]wire.Value, len(before))
			if n := s.Members(before, read); c[1] != "-" || n > 0 {
				assert.Equal(t, cells.Row(t, c[1]), read[:n])
			}
			if fault != "" {
				assert.EqualError(t, s.Err(), fault)
				return
			}
			assert.NoError(t, s.Err())
			assert.Equal(t, rest, text[s.Offset():])
		})
	}
}

// unquoted returns the text of a Go string literal.
func unquoted(t testing.TB, literal string) string {
	t.Helper()
	return testkit.Must(strconv.Unquote(literal))(t, literal)
}

func TestHas(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/has.tsv", 3) {
		assert.Equal(t, c[1] == "yes", scan.Has([]byte(unquoted(t, c[0])), "sql"), c[2])
	}
}
