package platform_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPagesByOffsetOverlap changes a table after its first page. Pages by offset show it where it moved
// the rows that are still to come: a row that nobody deleted is never missed without a word.
func TestPagesByOffsetOverlap(t *testing.T) {
	t.Parallel()
	row := func(id int64) []wire.Value { return []wire.Value{wire.Int(id), wire.Int(0), wire.Text("")} }
	drop := func(from, to int) func([][]wire.Value) [][]wire.Value {
		return func(rows [][]wire.Value) [][]wire.Value { return slices.Delete(rows, from, to) }
	}
	for _, c := range []struct {
		why     string
		change  func([][]wire.Value) [][]wire.Value
		rows    int // of the answer
		moved   bool
		keyed   bool
		perPage int64
	}{
		{"nothing changes", drop(0, 0), 100, false, false, 8},
		{"two rows a page are enough", drop(0, 0), 100, false, false, 2},
		{"a row that was read is deleted", drop(2, 3), 8, true, false, 8},
		{"and so from a table whose key has no filter", drop(2, 3), 8, true, true, 8},
		{"the last row that was read is deleted", drop(7, 8), 8, true, false, 8},
		{"a row is inserted before", func(rows [][]wire.Value) [][]wire.Value {
			return slices.Insert(rows, 0, row(-1))
		}, 8, true, false, 8},
		{"all are deleted", drop(0, 100), 8, true, false, 8},
		{"a row that is still to come is deleted", drop(50, 51), 99, false, false, 8},
		{"a row that is still to come is inserted", func(rows [][]wire.Value) [][]wire.Value { return append(rows, row(101)) },
			101, false, false, 8},
	} {
		for _, concurrency := range []int{1, 8} {
			table := keylessNumbered(100, false)
			if c.keyed {
				table = numbered(100, false)
			}
			before, err := memsource.New([]memsource.Table{table}, nil)
			require.NoError(t, err)
			table.Rows = c.change(slices.Clone(table.Rows))
			later, err := memsource.New([]memsource.Table{table}, nil)
			require.NoError(t, err)
			r := record(built(connector.Definition{Limits: wire.Limits{PageSizeMax: c.perPage, Concurrency: concurrency}},
				&moving{Source: before, change: func(int) *memsource.Source { return later }}, connector.Omit{Operators: []wire.Op{wire.OpGt}}))
			conn := connectTo(t, r, nil)
			rows, _, err := casetest.Rows(t.Context(), conn, &wire.QueryRequest{Table: "numbered", Fields: []string{"id", "text"}})
			if c.moved {
				require.ErrorIs(t, err, platform.ErrMoved, c.why)
				require.ErrorContains(t, err, "deleted or inserted", c.why)
			} else {
				require.NoError(t, err, c.why)
			}
			require.Len(t, rows, c.rows, c.why)
			for i, row := range rows[:min(50, len(rows))] {
				require.Equal(t, fmt.Sprint(i+1), fmt.Sprint(row[0]), c.why)
			}
			_, faults := r.seen()
			require.Empty(t, faults, c.why)
		}
	}
	// A page of one row has no room for another row than the one that it repeats.
	conn := connectTo(t, tabled(keylessNumbered(3, false), wire.Limits{PageSizeMax: 1}, connector.Omit{}), nil)
	_, _, err := casetest.Rows(t.Context(), conn, &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}})
	require.ErrorIs(t, err, platform.ErrReach)
}
