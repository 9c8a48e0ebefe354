package finish

import (
	"container/heap"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// topN keeps the first n rows of an order in a heap whose root is the last of
// them, so a row that comes after the root costs one comparison and no memory. Of
// a row it keeps some cells only.
type topN struct {
	order  *filter.Order // of the cells that are kept
	n      int
	cells  []int // the positions of these cells in an offered row, ascending
	rows   [][]wire.Value
	picked []wire.Value // these cells of the row that is offered
	spare  []wire.Value // the row dropped last, to be filled again
}

func newTopN(order *filter.Order, n int, cells []int) *topN {
	return &topN{order: order, n: n, cells: cells, picked: make([]wire.Value, len(cells))}
}

// renumber turns positions in an offered row into those in a kept one.
func (t *topN) renumber(positions []int) {
	for i, at := range positions {
		positions[i], _ = slices.BinarySearch(t.cells, at)
	}
}

// offer keeps a copy of values if they belong to the first n. A cell without a value
// has no place in the order, so its row is an error.
func (t *topN) offer(values []wire.Value) error {
	if len(t.cells) < len(values) {
		for i, at := range t.cells {
			t.picked[i] = values[at]
		}
		values = t.picked
	}
	for _, v := range values {
		if v.Kind() == wire.KindInvalid {
			return fmt.Errorf("the source emitted a row that cannot be sorted: %w", v.Err())
		}
	}
	full := len(t.rows) == t.n
	if full && t.order.Compare(values, t.rows[0]) >= 0 {
		return nil
	}
	row := t.keep(values)
	if !full {
		heap.Push(t, row)
		return nil
	}
	t.spare, t.rows[0] = t.rows[0], row
	heap.Fix(t, 0)
	return nil
}

// keep copies a row. All its text goes into one string, so that what is kept
// is two allocations and no cell holds a source's buffer.
func (t *topN) keep(values []wire.Value) []wire.Value {
	row := t.spare
	t.spare = nil
	if row == nil {
		row = make([]wire.Value, len(t.cells))
	}
	copy(row, values)
	size := 0
	for _, v := range row {
		size += len(v.Text())
	}
	var text strings.Builder
	text.Grow(size)
	for _, v := range row {
		text.WriteString(v.Text())
	}
	all, at := text.String(), 0
	for i, v := range row {
		if n := len(v.Text()); n > 0 {
			row[i] = v.WithText(all[at : at+n])
			at += n
		}
	}
	return row
}

// sorted empties the heap in order.
func (t *topN) sorted() iter.Seq[[]wire.Value] {
	slices.SortFunc(t.rows, t.order.Compare)
	return slices.Values(t.rows)
}

// Len, Less, Swap, Push and Pop are container/heap's view: the last row of the
// order is the least.

func (t *topN) Len() int           { return len(t.rows) }
func (t *topN) Less(i, j int) bool { return t.order.Compare(t.rows[i], t.rows[j]) > 0 }
func (t *topN) Swap(i, j int)      { t.rows[i], t.rows[j] = t.rows[j], t.rows[i] }
func (t *topN) Push(row any)       { t.rows = append(t.rows, row.([]wire.Value)) }
func (t *topN) Pop() any {
	last := t.rows[len(t.rows)-1]
	t.rows = t.rows[:len(t.rows)-1]
	return last
}
