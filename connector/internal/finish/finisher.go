package finish

import (
	"errors"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Finisher takes the rows that a source offers and passes on those that are to
// be answered. Its methods are called with the lock of the handoff held.
type Finisher struct {
	// Count is the number of rows passed on.
	Count int64

	plan *Plan
	to   *batch.Batcher // nil: rows are only counted

	match *filter.Matcher // nil: nothing to filter
	top   *relation.TopN  // nil: nothing to sort
	skip  int64           // rows of the offset still to drop
	left  int64           // rows of the limit still to come; negative: no limit
	exact bool            // the source claims the window: a row beyond it is an error
}

// New returns a finisher that passes rows to a batcher, or only counts them if
// that is nil.
func New(p *Plan, to *batch.Batcher) *Finisher {
	return &Finisher{plan: p, to: to, left: -1}
}

// Begin takes what the source claims and the columns it begins with, and works
// out what is left to do. It returns the columns with their types.
func (f *Finisher) Begin(claimed wire.Served, columns []wire.Column) ([]wire.Column, error) {
	columns, at, err := f.plan.typed(columns)
	if err != nil {
		return nil, err
	}
	names, from, err := f.plan.members(columns, at)
	if err != nil {
		return nil, err
	}
	served, err := f.prepare(f.plan.WithTrivialClaims(claimed), columns, at, from)
	if err != nil || f.to == nil {
		return columns, err
	}
	if f.top != nil {
		for i, at := range from { // in a kept row
			from[i], _ = slices.BinarySearch(f.top.Cells, at)
		}
	}
	return columns, f.to.Begin(served, names, from)
}

// prepare sets up what the source did not serve, and returns what the stream
// serves: the sum of both. The answer shows the cells at from.
func (f *Finisher) prepare(served wire.Served, columns []wire.Column, at positions, from []int) (wire.Served, error) {
	p := f.plan
	var err error
	if !served.Filters {
		if f.match, err = p.match(columns, at); err != nil {
			return served, err
		}
		served.Filters = true
	}
	limit := p.Request.Limit
	if served.Window {
		if limit > 0 {
			f.left, f.exact = limit, true
		}
		return served, nil
	}
	if !served.Sort {
		order, keep, err := p.order(columns, at, from)
		if err != nil || !p.canSort() {
			return served, err
		}
		f.top = &relation.TopN{Order: order, Most: p.Request.Offset + limit, Cells: keep}
		served.Sort = true
	}
	if p.WindowAllowed() {
		served.Window = true
		f.skip = p.Request.Offset
		if limit > 0 {
			f.left = limit
		}
	}
	return served, nil
}

// Row takes one row and keeps nothing of values. It returns [batch.ErrEnough]
// once no more rows are wanted.
func (f *Finisher) Row(values []wire.Value) error {
	if f.match != nil {
		ok, err := f.match.Match(values)
		if err != nil {
			return fmt.Errorf("the source emitted a row that cannot be filtered: %w", err)
		}
		if !ok {
			return nil
		}
	}
	if f.top != nil {
		if err := f.top.Offer(values); err != nil {
			return fmt.Errorf("the source emitted a row that cannot be sorted: %w", err)
		}
		return nil
	}
	return f.emit(values)
}

var errBeyondLimit = errors.New("the source claimed the window and offered more rows than the limit")

// emit passes on one row of the finished order.
func (f *Finisher) emit(values []wire.Value) error {
	if f.skip > 0 {
		f.skip--
		return nil
	}
	if f.left == 0 {
		return errBeyondLimit
	}
	if f.to != nil {
		if err := f.to.Add(values); err != nil {
			return err
		}
	}
	f.Count++
	if f.left--; f.left == 0 && !f.exact {
		return batch.ErrEnough
	}
	return nil
}

// Drain passes on the rows that a heap held back until the last row was offered.
func (f *Finisher) Drain() error {
	if f.top == nil {
		return nil
	}
	for _, values := range f.top.Sorted() {
		if err := f.emit(values); err != nil {
			return err
		}
	}
	return nil
}
