//go:build plantedbugs

package sqlsource

import "sync/atomic"

var planted atomic.Value

func has(b bug) bool {
	p, _ := planted.Load().(bug)
	return p == b
}

// allBugs are all of them.
var allBugs = []bug{
	bugNinNull, bugNullMember, bugValid, bugFloor, bugOr, bugGroupOr, bugNullsFirst, bugTie, bugOffset,
	bugInnerJoin, bugCountDupes, bugNullGroup, bugPrefixInside, bugHitRateRows,
}

// Plant plants a bug, or none for "".
func Plant(name string) { planted.Store(bug(name)) }

// Bugs are the names of all that can be planted.
func Bugs() []string {
	names := make([]string, len(allBugs))
	for i, b := range allBugs {
		names[i] = string(b)
	}
	return names
}
