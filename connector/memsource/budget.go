package memsource

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Budget bounds the bytes that one call keeps in memory: rows to sort, groups
// and their keys, distinct values, the tables of a join. The zero Budget is
// [DefaultBudget]; a negative one, [Unlimited], is no bound.
//
// Bytes are counted, not measured: a cell is 32 plus the length of its text, a
// row 24 more, a key (of a group, a distinct value or a join) 64 plus its
// length. The heap was seen to hold 0.7 to 1.1 times what is counted. A connector
// runs as many calls at once as its document's limits.concurrency says, each
// with a budget of its own.
type Budget int64

// DefaultBudget is what a zero Budget allows: 64 MiB, about 900,000 short
// keys or half a million short rows.
const DefaultBudget Budget = 64 << 20

// Unlimited is no bound. Use it for rows that are known to be few, or that are
// in memory anyway.
const Unlimited Budget = -1

// What is counted for each thing that is kept.
const (
	cellBytes = 32 // the size of a wire.Value
	rowBytes  = 24 // the slice header of a row
	keyBytes  = 64 // a string and its share of a map
)

// BudgetError says what outgrew a [Budget]. It wraps the answer that is right
// for the route, so a source returns it as it is: an aggregate is declined
// (connector.ErrDecline, 204), a join and a link are refused
// (connector.ErrUnsupported, 422). Nothing else in this package returns one: a
// count keeps nothing, a sort over its budget is answered unsorted (B8), and a
// column over it cannot be counted distinctly (nil).
type BudgetError struct {
	What   string // what was kept, in the plural, such as "the groups of table orders"
	Budget Budget // what was allowed, in bytes
	Answer error  // what the platform is told
}

// Error says what was exceeded and what to do. It is for the host's log.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("memsource: %s need more than the budget of %d bytes; pass a larger memsource.Budget, or let the upstream do this work", e.What, int64(e.Budget))
}

// Unwrap is the answer.
func (e *BudgetError) Unwrap() error { return e.Answer }

// tally is what is left of a budget.
type tally struct {
	budget  Budget
	left    int64
	bounded bool
}

func (b Budget) open() *tally {
	if b == 0 {
		b = DefaultBudget
	}
	return &tally{budget: b, left: int64(b), bounded: b > 0}
}

// spend takes n bytes, which may be negative, and reports whether they were
// there.
func (t *tally) spend(n int) bool {
	t.left -= int64(n)
	return t.left >= 0 || !t.bounded
}

// over is the error for a tally that is spent.
func (t *tally) over(answer error, format string, args ...any) error {
	return &BudgetError{What: fmt.Sprintf(format, args...), Budget: t.budget, Answer: answer}
}

// rowSize is what a kept row counts.
func rowSize(row []wire.Value) int {
	n := rowBytes + cellBytes*len(row)
	for i := range row {
		n += len(row[i].Text())
	}
	return n
}

// keySize is what a kept key counts.
func keySize(key []byte) int { return keyBytes + len(key) }
