package exam

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tableOfTexts returns a table with columns a, b and so on. "-" is null.
func tableOfTexts(rows ...[]string) *oracle.Table {
	t := &oracle.Table{}
	for i := range rows[0] {
		t.Columns = append(t.Columns, wire.Column{Name: string(rune('a' + i)), Type: wire.TypeString})
	}
	for _, texts := range rows {
		var row []wire.Value
		for _, text := range texts {
			v := wire.Text(text)
			if text == "-" {
				v = wire.Null()
			}
			row = append(row, v)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// TestTellingPairs chooses the pairs of columns that show careless keys of two columns.
func TestTellingPairs(t *testing.T) {
	for _, test := range []struct {
		why   string
		rows  [][]string
		pairs [][2]string
	}{
		{"one column", [][]string{{"x"}, {"y"}}, nil},
		{"nothing is merged: the first pair will do", [][]string{{"x", "1"}, {"y", "2"}}, [][2]string{{"a", "b"}}},
		{"one behind the other, in this order alone", [][]string{{"bc", "a"}, {"c", "ab"}}, [][2]string{{"b", "a"}}},
		{"with a hyphen between", [][]string{{"x", "p", "1-2"}, {"x", "p-1", "2"}}, [][2]string{{"b", "c"}}},
		{"in any order", [][]string{{"0", "5", "3"}, {"0", "3", "5"}}, [][2]string{{"b", "c"}}},
		{"null is empty", [][]string{{"x", "y", ""}, {"x", "y", "-"}}, [][2]string{{"a", "c"}}},
		{"null by name", [][]string{{"x", "y", "None"}, {"x", "y", "-"}}, [][2]string{{"a", "c"}}},
		{"without case", [][]string{{"x", "y", "K"}, {"x", "y", "k"}}, [][2]string{{"a", "c"}}},
		{"two pairs for two kinds", [][]string{{"x", "k", "1"}, {"x", "K", "1"}, {"x1", "m", "0"}, {"x", "m", "10"}},
			[][2]string{{"a", "b"}, {"a", "c"}}},
		{"as many as the limit",
			[][]string{{"1", "11", "x"}, {"11", "1", "x"}, {"2", "2", "x"}, {"3", "3", "x"}, {"4", "4", "x"}}, nil},
	} {
		table := tableOfTexts(test.rows...)
		var columns []string
		for _, c := range table.Columns {
			columns = append(columns, c.Name)
		}
		require.Equal(t, test.pairs, TellingPairs(table, columns, 5, 3), test.why)
	}
}

// BenchmarkTellingPairs chooses among the columns of a table with many values.
func BenchmarkTellingPairs(b *testing.B) {
	var rows [][]string
	for i := range 2000 {
		rows = append(rows, []string{fmt.Sprint(i % 7), fmt.Sprint(i % 11), fmt.Sprint("x-", i%13),
			fmt.Sprint("Town ", i%17), "-", fmt.Sprint(i % 90), fmt.Sprint(i % 5), fmt.Sprint("k", i%3)})
	}
	t := tableOfTexts(rows...)
	for b.Loop() {
		TellingPairs(t, []string{"a", "b", "c", "d", "e", "f", "g", "h"}, wire.AggregateLimit-1, 3)
	}
}
