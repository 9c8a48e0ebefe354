package relation

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestKeepRow copies rows, and looks at what they count in a budget: a slice header,
// the cells and their texts.
func TestKeepRow(t *testing.T) {
	cases := []struct {
		row  []wire.Value
		size int
		why  string
	}{
		{nil, 24, "no cells"},
		{[]wire.Value{wire.Null(), wire.Int(7), wire.Float(1.5), wire.Bool(true)}, 24 + 4*32, "no texts"},
		{[]wire.Value{wire.Text("ab"), wire.Text(""), wire.Null(), wire.Text("cde"), wire.Decimal("1.50"), wire.JSON(`[1]`)}, 24 + 6*32 + 12,
			"each text is its own, whatever stands before it"},
		{[]wire.Value{wire.Text(strings.Repeat("é", 500)), wire.Text("é")}, 24 + 2*32 + 1002, "bytes, not characters"},
	}
	for _, c := range cases {
		kept := KeepRow(c.row)
		require.Len(t, kept, len(c.row), c.why)
		for i := range kept {
			assert.Equal(t, c.row[i].Kind(), kept[i].Kind(), c.why)
			assert.Equal(t, c.row[i].String(), kept[i].String(), c.why)
			if text := kept[i].Text(); text != "" {
				assert.NotSame(t, unsafe.StringData(c.row[i].Text()), unsafe.StringData(text), "the producer's buffer is let go")
			}
		}
		assert.Equal(t, c.size, RowSize(c.row), c.why)
		assert.Equal(t, c.size, RowSize(kept), c.why)
	}
	assert.Equal(t, 64, KeySize(nil))
	assert.Equal(t, 67, KeySize([]byte("abc")))
}

// TestJoinKey compares values as a join does (measure-2b).
func TestJoinKey(t *testing.T) {
	cases := []struct {
		a, b    wire.Value
		numeric bool
		equal   bool
		why     string
	}{
		{wire.Int(1), wire.Int(1), true, true, "the same number"},
		{wire.Int(1), wire.Decimal("1.00"), true, true, "numbers are equal by value"},
		{wire.Text("01"), wire.Float(1), true, true, "as text too, where both columns are declared numeric"},
		{wire.Int(1), wire.Int(2), true, false, "two numbers"},
		{wire.Text("x"), wire.Text("x"), true, false, "no number matches nothing"},
		{wire.Bool(true), wire.Bool(true), true, false, "a boolean is no number"},
		{wire.Null(), wire.Null(), true, false, "null matches nothing"},
		{wire.Null(), wire.Null(), false, false, "null matches nothing, as text neither"},
		{wire.Null(), wire.Text(""), false, false, "nor the empty text"},
		{wire.Text(""), wire.Text(""), false, true, "the empty text is a text"},
		{wire.Int(1), wire.Text("1"), false, true, "otherwise the digits are compared"},
		{wire.Int(1), wire.Text("1.0"), false, false, "and are others"},
		{wire.Text("a"), wire.Text("A"), false, false, "case by case"},
		{wire.Bool(true), wire.Text("true"), false, true, "a boolean is its text"},
	}
	for _, c := range cases {
		a, okA := AppendJoinKey([]byte("x"), c.a, c.numeric)
		b, okB := AppendJoinKey([]byte("x"), c.b, c.numeric)
		assert.Equal(t, c.equal, okA && okB && string(a) == string(b), c.why)
		assert.Equal(t, byte('x'), a[0], "the key is appended")
	}
}
