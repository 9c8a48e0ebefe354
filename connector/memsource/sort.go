package memsource

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Sort emits rows in an order (filter.CompileOrder), for a source whose upstream
// cannot sort. It collects all rows, so use it for a query without a limit. With
// a limit, do not claim the sort: the library then sorts, and keeps only the rows
// that offset and limit select.
//
// Sort calls begin once, before the first row, and passes whether the rows are
// sorted. begin returns the function that takes them:
//
//	err := memsource.Sort(rows, order, 0, func(sorted bool) func(...wire.Value) error {
//		out.Claim(connector.Served{Sort: sorted})
//		return out.Begin(columns).Row
//	})
//
// Rows beyond the budget are neither refused nor cut: Sort then emits what it
// has collected, and the rest as it comes, unsorted. Rows that are equal in the
// order stay in the order they came in.
//
// Sort returns the errors of rows and of the function that begin returned. If
// rows fails before the first row is emitted, Sort does not call begin, so the
// failure still has its own HTTP status.
func Sort(rows Rows, order *filter.Order, budget Budget, begin func(sorted bool) (row func(values ...wire.Value) error)) error {
	tally := budget.open()
	kept := ranking{order: order}
	var emit func(...wire.Value) error
	for row, err := range rows {
		if err != nil {
			return err
		}
		if emit != nil {
			if err := emit(row...); err != nil {
				return err
			}
			continue
		}
		if tally.spend(fold.RowSize(row)) {
			kept.offer(fold.KeepRow(row))
			continue
		}
		emit = begin(false)
		for _, k := range kept.rows {
			if err := emit(k...); err != nil {
				return err
			}
		}
		kept.rows = nil
		if err := emit(row...); err != nil {
			return err
		}
	}
	if emit != nil {
		return nil
	}
	emit = begin(true)
	for _, k := range kept.sorted() {
		if err := emit(k...); err != nil {
			return err
		}
	}
	return nil
}

// ranking collects rows and sorts them. The order is total, so that pages compose
// wherever they are cut.
type ranking struct {
	order *filter.Order
	most  int // how many rows are wanted; 0: all
	rows  [][]wire.Value
	cut   bool // rows[:most] are sorted, and rows[most-1] is the last wanted so far
}

// offer adds a row, without copying it.
func (r *ranking) offer(row []wire.Value) {
	if r.cut && r.order.Compare(row, r.rows[r.most-1]) >= 0 {
		return
	}
	r.rows = append(r.rows, row)
	// It collects a little more than twice the wanted rows and then sorts the
	// surplus away: the cost per row of a heap, without a heap.
	if r.most > 0 && len(r.rows) >= 2*r.most+64 {
		r.rows = r.sorted()
		r.cut = true
	}
}

// sorted returns the wanted rows, in order.
func (r *ranking) sorted() [][]wire.Value {
	slices.SortFunc(r.rows, r.order.Compare)
	if r.most > 0 && len(r.rows) > r.most {
		clear(r.rows[r.most:])
		r.rows = r.rows[:r.most]
	}
	return r.rows
}
