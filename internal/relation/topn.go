package relation

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TopN sorts rows and keeps the first ones only, or all. It keeps these in a heap
// whose root is the last of them, so a row that comes after the root costs one
// comparison and no memory. The order is total, so pages compose wherever they are
// cut.
type TopN struct {
	// Order is that of the kept cells.
	Order *filter.Order
	// Most is the number of rows that are wanted; zero or less means all.
	Most int64
	// Cells are the positions of the cells to keep, ascending; nil means all.
	Cells []int
	// Budget, if set, bounds what is kept.
	Budget *Budget

	rows   [][]wire.Value
	heaped bool         // rows is full, and a heap
	picked []wire.Value // the wanted cells of the row that is offered
}

// Offer keeps a copy of a row if it belongs to the first ones. A cell without a value
// has no place in the order, so its row is a [*CellError].
func (t *TopN) Offer(row []wire.Value) error {
	if t.Cells != nil && len(t.Cells) < len(row) {
		row = t.pick(row)
	}
	for _, v := range row {
		if v.Kind() == wire.KindInvalid {
			return &CellError{v.Err()}
		}
	}
	place, err := t.place(row)
	switch place {
	case asOneMore:
		t.rows = append(t.rows, KeepRow(row))
	case asRoot:
		if last := t.rows[0]; len(last) == len(row) {
			keepIn(last, row)
		} else {
			t.rows[0] = KeepRow(row)
		}
		t.down(0)
	}
	return err
}

// OfferOwned offers a row that nobody changes and whose cells are valid. It keeps the row
// itself, with all its cells. A method of its own leaves the rows of Offer's callers on
// their stacks.
func (t *TopN) OfferOwned(row []wire.Value) error {
	place, err := t.place(row)
	switch place {
	case asOneMore:
		t.rows = append(t.rows, row)
	case asRoot:
		t.rows[0] = row
		t.down(0)
	}
	return err
}

// Where a row belongs that is offered.
const (
	nowhere   = iota
	asOneMore // there is room for more rows
	asRoot    // instead of the last row
)

// place returns where a row belongs, and charges the budget for it.
func (t *TopN) place(row []wire.Value) (place int, err error) {
	size := 0
	if t.Most <= 0 || int64(len(t.rows)) < t.Most {
		place, size = asOneMore, RowSize(row)
	} else {
		if !t.heaped {
			t.heaped = true
			for i := len(t.rows)/2 - 1; i >= 0; i-- {
				t.down(i)
			}
		}
		if t.Order.Compare(row, t.rows[0]) >= 0 {
			return nowhere, nil
		}
		place, size = asRoot, RowSize(row)-RowSize(t.rows[0])
	}
	if t.Budget != nil && !t.Budget.spend(size) {
		return nowhere, t.Budget.over("", "the rows to sort")
	}
	return place, nil
}

// pick returns the wanted cells of a row.
func (t *TopN) pick(row []wire.Value) []wire.Value {
	if t.picked == nil {
		t.picked = make([]wire.Value, len(t.Cells))
	}
	for i, at := range t.Cells {
		t.picked[i] = row[at]
	}
	return t.picked
}

// down moves the i-th row down to its place in the heap.
func (t *TopN) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.rows) {
			return
		}
		if right := child + 1; right < len(t.rows) && t.Order.Compare(t.rows[right], t.rows[child]) > 0 {
			child = right
		}
		if t.Order.Compare(t.rows[i], t.rows[child]) >= 0 {
			return
		}
		t.rows[i], t.rows[child] = t.rows[child], t.rows[i]
		i = child
	}
}

// Sorted returns the wanted rows in order. No more can be offered afterwards.
func (t *TopN) Sorted() [][]wire.Value {
	slices.SortFunc(t.rows, t.Order.Compare)
	return t.rows
}
