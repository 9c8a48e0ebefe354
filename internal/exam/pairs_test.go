package exam

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tableOfTexts returns a table with columns a, b and so on.
func tableOfTexts(rows ...[]wire.Value) *oracle.Table {
	t := &oracle.Table{Rows: rows}
	for i := range rows[0] {
		t.Columns = append(t.Columns, wire.Column{Name: string(rune('a' + i)), Type: wire.TypeString})
	}
	return t
}

// TestTellingPairs chooses the pairs of columns that show careless keys of two columns.
func TestTellingPairs(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/pairs.tsv", 3) {
		table := tableOfTexts(cells.Rows(t, c[0])...)
		var columns, pairs []string
		for _, column := range table.Columns {
			columns = append(columns, column.Name)
		}
		for _, pair := range TellingPairs(table, columns, 5, 3) {
			pairs = append(pairs, pair[0]+" "+pair[1])
		}
		require.Equal(t, strings.TrimPrefix(c[1], "-"), strings.Join(pairs, ", "), c[2])
	}
}

// BenchmarkTellingPairs chooses among the columns of a table with many values.
func BenchmarkTellingPairs(b *testing.B) {
	var rows [][]wire.Value
	for i := range 2000 {
		rows = append(rows, cells.Row(b, fmt.Sprintf(`"%d" "%d" "x-%d" "Town %d" null "%d" "%d" "k%d"`,
			i%7, i%11, i%13, i%17, i%90, i%5, i%3)))
	}
	t := tableOfTexts(rows...)
	for b.Loop() {
		TellingPairs(t, []string{"a", "b", "c", "d", "e", "f", "g", "h"}, wire.AggregateLimit-1, 3)
	}
}

// TestColumns says of which columns a sort or a group is worth asking for first: of those whose values differ
// from most careless orders and keys.
func TestColumns(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/columns.tsv", 6) {
		table := &oracle.Table{Name: "t", Columns: []wire.Column{{Name: "c", Type: wire.Type(c[0])}}}
		for _, v := range cells.Row(t, c[1]) {
			table.Rows = append(table.Rows, []wire.Value{v})
		}
		for i, got := range []any{OrderSettled(table, 0), OrderTells(table, 0), GroupTells(table, 0)} {
			if want := c[2+i]; want != "-" {
				require.Equal(t, want, fmt.Sprint(got), c[5])
			}
		}
	}
}

// TestLaterOrderTells counts the same where the first key ties.
func TestLaterOrderTells(t *testing.T) {
	table := &oracle.Table{Columns: []wire.Column{{Name: "first", Type: wire.TypeString}, {Name: "c", Type: wire.TypeNumber}}}
	add := func(first string, v wire.Value) { table.Rows = append(table.Rows, []wire.Value{wire.Text(first), v}) }
	add("a", wire.Int(9))
	add("b", wire.Int(10))
	require.Zero(t, LaterOrderTells(table, []int{0}, 1), "no two rows tie")
	add("b", wire.Null())
	require.Equal(t, 2, LaterOrderTells(table, []int{0}, 1), "a null ties with a value")
	add("a", wire.Int(10))
	require.Equal(t, 3, LaterOrderTells(table, []int{0}, 1), "and 9 with 10")
}
