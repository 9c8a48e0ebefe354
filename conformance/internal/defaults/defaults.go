// Package defaults holds what the options of a run default to, for the package and the
// command.
package defaults

import "time"

// The defaults of a run.
const (
	RowBudget = 200_000
	Requests  = 1500 // in the mode live
	Seed      = 1
	Timeout   = 10 * time.Minute
)
