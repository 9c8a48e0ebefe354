package scan_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestMembers(t *testing.T) {
	before := []string{`{"a":`, `,"b":`, `,"c":`}
	for _, c := range testkit.Table(t, "testdata/members.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			text, rest, fault := unquoted(t, c[0]), unquoted(t, c[2]), unquoted(t, c[3])
			var s scan.Scanner
			s.Reset(text)
			read := make([]wire.Value, len(before))
			n := s.Members(before, read)
			if c[1] != "-" || n > 0 {
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
