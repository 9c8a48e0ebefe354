package relation

import "fmt"

// Budget counts the bytes that a call may still keep in memory. Bytes are
// estimated, see [RowSize] and [KeySize].
type Budget struct {
	limit, left int64
}

// NewBudget returns a budget of so many bytes; a negative number is no bound.
func NewBudget(bytes int64) *Budget { return &Budget{bytes, bytes} }

// spend takes n bytes, or gives them back, and reports whether the budget allows it.
func (b *Budget) spend(n int) bool {
	if b.limit < 0 {
		return true
	}
	b.left -= int64(n)
	return b.left >= 0
}

// over returns the error of an exceeded budget. The format says what was kept, in the
// plural.
func (b *Budget) over(table, format string, args ...any) error {
	return &BudgetError{What: fmt.Sprintf(format, args...), Table: table, Limit: b.limit}
}

// BudgetError reports that a call would have kept more than its [Budget].
type BudgetError struct {
	What  string // what it kept, in the plural, such as: the rows to join of table "orders"
	Table string // the table whose rows they are; "" for a sort
	Limit int64  // the budget, in bytes
}

// Error returns what exceeds the budget.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("%s need more than the budget of %d bytes", e.What, e.Limit)
}
