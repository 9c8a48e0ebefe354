// Package defaults holds what the options of a run default to, for the package and the
// command, and the measures that its checks share.
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

const (
	// QueryTimeout is the timeoutMs of requests to /query that are not about it.
	QueryTimeout = 60 * time.Second
	// Grace is how long an answer is waited for beyond a deadline.
	Grace = 10 * time.Second
	// WindowRows is how many rows are read of a table that is not read whole.
	WindowRows = 500
)
