package memsource

import (
	"cmp"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
)

// Budget bounds the bytes that one call keeps in memory: rows to sort, groups
// and their keys, distinct values, the tables of a join. The zero Budget is
// [DefaultBudget]; a negative one, [Unlimited], is no bound.
//
// Bytes are estimated: a cell counts 32 plus the length of its text, a row 24
// more, a key (of a group, a distinct value or a join) 64 plus its length. The
// heap was measured to hold 0.7 to 1.1 times the estimate. A connector runs as
// many calls at once as its document's limits.concurrency says, each with a
// budget of its own.
type Budget int64

// DefaultBudget is the bound of a zero Budget: 64 MiB, about 900,000 short
// keys or half a million short rows.
const DefaultBudget Budget = 64 << 20

// Unlimited removes the bound. Use it for rows that are known to be few, or that
// are in memory anyway.
const Unlimited Budget = -1

// BudgetError says what exceeded a [Budget]. It wraps the right answer for the
// route, so a source returns it as it is: an aggregate is declined
// (connector.ErrDecline, 204), a join or a link is refused
// (connector.ErrUnsupported, 422). Nothing else in this package returns one: a
// count keeps nothing, a sort over its budget leaves the rows unsorted, and a
// column over it is answered nil.
type BudgetError struct {
	What   string // what was kept, in the plural, such as "the groups of table orders"
	Budget Budget // what was allowed, in bytes
	Answer error  // what the platform is told
}

// Error returns a text for the host's log: what exceeded the budget, and what to
// do.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("memsource: %s need more than the budget of %d bytes; "+
		"pass a larger memsource.Budget, or let the upstream do this work", e.What, int64(e.Budget))
}

// Unwrap returns the answer.
func (e *BudgetError) Unwrap() error { return e.Answer }

// open returns the budget of one call.
func (b Budget) open() *relation.Budget {
	return relation.NewBudget(int64(cmp.Or(b, DefaultBudget)))
}
