package corpus

import (
	"sync"
	"time"
)

// SlowStall is how long every query of the table [Slow] waits before the first row, and
// so does a count, an aggregate or a measurement, unless the connector knows the answer
// without looking.
const SlowStall = 25 * time.Second

// Slow returns a table, called slow, that a connector under test may serve besides
// [Tables], so that heartbeats and deadlines can be observed. It is not part of the
// digest. Without it, the checks that need it are skipped, and the report says so.
func Slow() Table { return readSlow().clone() }

var readSlow = sync.OnceValue(func() Table { return readTable("slow") })
