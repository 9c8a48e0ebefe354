// Package defaults holds what the options of a run default to, for the package and the
// command.
package defaults

import "time"

// The defaults of a run.
const (
	RowBudget = 200_000
	Requests  = 1500 // in the mode live, or fewer if so many took longer than Timeout
	Seed      = 1
	Timeout   = 10 * time.Minute
	// FewRequests are enough to judge a little by every check. A run sends as many, however long
	// they take, and ends at MaxTimeout in any case.
	FewRequests = 400
	MaxTimeout  = 24 * time.Hour
)
