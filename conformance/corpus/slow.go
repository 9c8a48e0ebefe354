package corpus

import (
	"sync"
	"time"
)

// SlowTable is a table that a connector under test may serve besides [Tables],
// so that heartbeats and deadlines can be observed. Every query of it waits
// [SlowStall] before the first row, and so does a count, an aggregate or a
// measurement, unless the connector knows the answer without looking.
const (
	SlowTable = "slow"
	SlowStall = 25 * time.Second
)

// Slow returns the table [SlowTable]. It is not part of [Tables] or of the
// digest. Without it, the checks that need it are skipped, and the report says so.
func Slow() Table { return readSlow().clone() }

var readSlow = sync.OnceValue(func() Table { return readTable(SlowTable) })
