package filter

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Split divides a request's filters for a source that evaluates some of them
// upstream. can says of one filter whether the source evaluates it with
// exactly the semantics of this package; it is asked about every filter that
// constrains anything.
//
// Push pushAnd, and pushOr as one more conjunct; both may be empty. or is
// pushed as a whole or not at all, because a part of it would drop rows that
// another of its groups keeps. An or that is true of every row (A1) is pushed
// by leaving it away. all tells that nothing is left over, so that
// served.filters may be claimed; where it is false leave the claim false, and
// the rest is judged over the rows answered.
func Split(and []wire.Filter, or [][]wire.Filter, can func(wire.Filter) bool) (pushAnd []wire.Filter, pushOr [][]wire.Filter, all bool) {
	all = true
	for _, f := range and {
		if can(f) {
			pushAnd = append(pushAnd, f)
		} else {
			all = false
		}
	}
	for _, group := range or {
		if len(group) == 0 {
			return pushAnd, nil, all
		}
	}
	for _, group := range or {
		if slices.ContainsFunc(group, func(f wire.Filter) bool { return !can(f) }) {
			return pushAnd, nil, false
		}
	}
	return pushAnd, append([][]wire.Filter(nil), or...), all
}
