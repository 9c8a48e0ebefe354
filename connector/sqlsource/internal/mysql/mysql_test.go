package mysql

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// comparePadded orders texts as MySQL's collations do that fill the shorter one
// with blanks.
func comparePadded(a, b string) int {
	size := max(len(a), len(b))
	fill := func(s string) string { return s + strings.Repeat(" ", size-len(s)) }
	return strings.Compare(fill(a), fill(b))
}

// TestPaddedBound holds every bound against every text of a few characters.
func TestPaddedBound(t *testing.T) {
	texts := []string{""}
	for from, length := 0, 0; length < 4; length++ {
		for _, text := range texts[from:] {
			from++
			for _, r := range []string{"\x00", "\t", "\x1f", " ", "!", "a", "b"} {
				texts = append(texts, text+r)
			}
		}
	}
	holds := func(order int, sign string) bool {
		return order == 0 && strings.HasSuffix(sign, "=") || order < 0 && sign[0] == '<' || order > 0 && sign[0] == '>'
	}
	for _, operand := range texts[:400] {
		for _, sign := range []string{"<", "<=", ">", ">="} {
			boundSign, bound := paddedBound(sign, operand)
			if boundSign == "" {
				continue
			}
			for _, text := range texts {
				if holds(strings.Compare(text, operand), sign) && !holds(comparePadded(text, bound), boundSign) {
					t.Fatalf("%q %s %q, but not %s %q where blanks fill the shorter one", text, sign, operand, boundSign, bound)
				}
			}
		}
	}
}

func TestPaddedBoundCharacters(t *testing.T) {
	for _, c := range []struct{ why, sign, operand, wantSign, want string }{
		{"the character before", ">", "ab", ">", "aa"},
		{"no character is before NUL", ">=", "b\x00\x00", ">", "a"},
		{"everything comes from here", ">=", "\x00", "", ""},
		{"surrogates are no characters", ">", "\ue000", ">", "\ud7ff"},
		{"a control character comes before a blank", "<", "a\tb", "<=", "a"},
		{"the text itself", "<", "ab", "<=", "ab"},
	} {
		sign, text := paddedBound(c.sign, c.operand)
		assert.Equal(t, c.wantSign, sign, c.why)
		assert.Equal(t, c.want, text, c.why)
	}
}

func TestMySQLVersion(t *testing.T) {
	for text, want := range map[string]version{
		"8.0.36":                        {false, 80036},
		"8.4.0-log":                     {false, 80400},
		"10.11.19-MariaDB-0+deb12u1":    {true, 101119},
		"11.4.2-MariaDB-ubu2404-log":    {true, 110402},
		"10.5.8-MariaDB-1:10.5.8+maria": {true, 100508},
	} {
		assert.Equal(t, want, parseVersion(text), text)
	}
}

func TestKeepsBoolean(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/booleans.tsv", 2) {
		assert.Equal(t, c[0] == "yes", keepsBoolean(c[1], "`c`"), c[1])
	}
}

// TestIntegersOfTheType compares a column with what its type holds, to the last integer.
func TestIntegersOfTheType(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/integers.tsv", 3) {
		typeName, unsigned := strings.CutSuffix(c[0], " unsigned")
		var args []any
		for text := range strings.FieldsSeq(c[1]) {
			args = append(args, testkit.Must(strconv.ParseInt(text, 10, 64))(t))
		}
		column := flavor{}.Column("n", sqlengine.CatalogColumn{DataType: typeName, Note: columnNote{unsigned: unsigned}})
		assert.Equal(t, c[2], column.Index.Equal(args, func(arg any) string { return fmt.Sprint(arg) }), c[0])
	}
}
