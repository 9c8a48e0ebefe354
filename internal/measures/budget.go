package measures

import (
	"cmp"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
)

// DefaultBudget is the budget that zero stands for: 64 MiB, about 900,000 short
// keys or half a million short rows.
const DefaultBudget = 64 << 20

// Unlimited is a budget without a bound, for rows that are in memory anyway.
const Unlimited = -1

// BudgetError says what exceeded a budget. It wraps the right answer for the
// route, so a source returns it as it is: an aggregate is declined
// (connector.ErrDecline, 204), a join or a link is refused
// (wire.CodeUnsupported, 422). Nothing else in this package returns one: a
// count keeps nothing, and a column over its budget is answered nil.
type BudgetError struct {
	What   string // what was kept, in the plural, such as "the groups of table orders"
	Budget int64  // what was allowed, in bytes
	Answer error  // what the platform is told
}

// Error returns a text for the host's log: what exceeded the budget, and what to
// do.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("%s need more than the budget of %d bytes; "+
		"raise the budget in the options of the source, or let the upstream do this work", e.What, e.Budget)
}

// Unwrap returns the answer.
func (e *BudgetError) Unwrap() error { return e.Answer }

// Budget returns the budget of one call: so many bytes, [DefaultBudget] for zero, no
// bound for a negative number.
func Budget(bytes int64) *relation.Budget {
	return relation.NewBudget(cmp.Or(bytes, DefaultBudget))
}
