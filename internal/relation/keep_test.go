package relation_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
)

// TestKeepRow copies rows, and looks at what they count in a budget: a slice header,
// the cells and their texts.
func TestKeepRow(t *testing.T) {
	for _, c := range []struct {
		cells string
		size  int
		why   string
	}{
		{"", 24, "no cells"},
		{"null 7 1.5 true", 24 + 4*32, "no texts"},
		{`"ab" "" null "cde" decimal:1.50 json:[1]`, 24 + 6*32 + 12, "each text is its own, whatever stands before it"},
		{`"é"*500 "é"`, 24 + 2*32 + 1002, "bytes, not characters"},
	} {
		row := cells.Row(t, c.cells)
		kept := relation.KeepRow(row)
		require.Len(t, kept, len(row), c.why)
		for i := range kept {
			assert.Equal(t, row[i].Kind(), kept[i].Kind(), c.why)
			assert.Equal(t, row[i].String(), kept[i].String(), c.why)
			if text := kept[i].Text(); text != "" {
				assert.NotSame(t, unsafe.StringData(row[i].Text()), unsafe.StringData(text), "the producer's buffer is let go")
			}
		}
		assert.Equal(t, c.size, relation.RowSize(row), c.why)
		assert.Equal(t, c.size, relation.RowSize(kept), c.why)
	}
	assert.Equal(t, 64, relation.KeySize(nil))
	assert.Equal(t, 67, relation.KeySize([]byte("abc")))
}

// TestJoinKey compares values as a join does (measure-2b).
func TestJoinKey(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/joinkey.tsv", 5) {
		a, okA := relation.AppendJoinKey([]byte("x"), cells.One(t, c[0]), c[2] == "true")
		b, okB := relation.AppendJoinKey([]byte("x"), cells.One(t, c[1]), c[2] == "true")
		assert.Equal(t, c[3], fmt.Sprint(okA && okB && string(a) == string(b)), c[4])
		assert.Equal(t, byte('x'), a[0], "the key is appended")
	}
}
