package platform

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sorter collects rows and sorts them. If only the first rows are wanted, it
// holds about twice as many, however many it is offered.
type sorter struct {
	order  *filter.Order
	most   int64 // how many rows are wanted; 0: all
	budget *budget
	rows   [][]wire.Value
	cut    bool // rows[:most] are sorted, and rows[most-1] is the last wanted one so far
}

// offer keeps a copy of a row if it may be wanted. It reports false when the
// budget is exceeded.
func (s *sorter) offer(row []wire.Value) bool {
	if s.cut && s.order.Compare(row, s.rows[s.most-1]) >= 0 {
		return true
	}
	if !s.budget.spend(fold.RowSize(row)) {
		return false
	}
	s.rows = append(s.rows, fold.KeepRow(row))
	// Sorting the surplus away now and then costs as much for a row as a heap
	// would.
	if s.most > 0 && int64(len(s.rows)) >= 2*s.most+64 {
		s.sorted()
		s.cut = true
	}
	return true
}

// sorted returns the wanted rows in order.
func (s *sorter) sorted() [][]wire.Value {
	slices.SortFunc(s.rows, s.order.Compare)
	if s.most > 0 && int64(len(s.rows)) > s.most {
		for _, row := range s.rows[s.most:] {
			s.budget.spend(-fold.RowSize(row))
		}
		clear(s.rows[s.most:])
		s.rows = s.rows[:s.most]
	}
	return s.rows
}

// budget counts the bytes that one question may keep in memory.
type budget struct {
	bytes, left int64
}

func newBudget(bytes int64) *budget { return &budget{bytes: bytes, left: bytes} }

// spend takes n bytes, which may be negative, and reports whether the budget
// allows it.
func (b *budget) spend(n int) bool {
	b.left -= int64(n)
	return b.left >= 0
}

func (b *budget) over(what, advice string) error {
	return &BudgetError{What: what, Advice: advice, Budget: b.bytes}
}
