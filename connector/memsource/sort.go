package memsource

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Sort answers rows in an order (filter.CompileOrder), for a source whose
// upstream cannot sort. It holds all of them, so it is for a query without a
// limit: with one, claim nothing, and the SDK keeps only the rows of the window
// in a heap.
//
// begin is called once, before the first row goes out, and told whether the
// rows are sorted. It returns where they go:
//
//	err := memsource.Sort(rows, order, 0, func(sorted bool) func(...wire.Value) error {
//		return out.Begin(columns).Row
//	})
//
// Rows beyond the budget are never refused and never cut (B8): Sort then hands
// out what it has collected, and the rest as it comes, unsorted. Rows that the
// order cannot tell apart stay in the order they came in.
//
// Errors are those of rows and of the function that begin returned. When rows
// fail before begin was called it is not called at all, so the failure still
// has its own HTTP status (C3).
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
		if tally.spend(rowSize(row)) {
			kept.offer(keepRow(row))
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

// ranking puts rows in an order, which is total: pages cut from it compose,
// whatever was cut where (B3).
type ranking struct {
	order *filter.Order
	most  int // how many rows are wanted; 0: all
	rows  [][]wire.Value
	cut   bool // rows[:most] are sorted, and rows[most-1] is the last wanted so far
}

// offer takes one more row, without copying it.
func (r *ranking) offer(row []wire.Value) {
	if r.cut && r.order.Compare(row, r.rows[r.most-1]) >= 0 {
		return
	}
	r.rows = append(r.rows, row)
	// Twice the wanted rows, and some, are collected before the surplus is
	// sorted away: a heap's cost per row, without a heap.
	if r.most > 0 && len(r.rows) >= 2*r.most+64 {
		r.rows = r.sorted()
		r.cut = true
	}
}

// sorted is the wanted rows, in order.
func (r *ranking) sorted() [][]wire.Value {
	slices.SortFunc(r.rows, r.order.Compare)
	if r.most > 0 && len(r.rows) > r.most {
		clear(r.rows[r.most:])
		r.rows = r.rows[:r.most]
	}
	return r.rows
}
