package filter

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Split returns the filters of a request that a source can evaluate upstream.
// can reports whether the source evaluates one filter with exactly the semantics
// of this package.
//
// The source must apply all of pushed, which may have no filters. Split returns
// Or as a whole or not at all, because a part of it would drop rows that another
// of its groups keeps. If any group is empty, the whole Or is true, and Split
// omits it. Split reports all if nothing is left over, so that the source may
// claim the filters as served. Otherwise leave the claim false: the library
// filters the rows again.
func Split(where wire.Where, can func(wire.Filter) bool) (pushed wire.Where, all bool) {
	pushed.FieldTypes, all = where.FieldTypes, true
	for _, f := range where.And {
		if can(f) {
			pushed.And = append(pushed.And, f)
		} else {
			all = false
		}
	}
	for _, group := range where.Or {
		if len(group) == 0 {
			return pushed, all
		}
	}
	for _, group := range where.Or {
		if slices.ContainsFunc(group, func(f wire.Filter) bool { return !can(f) }) {
			return pushed, false
		}
	}
	pushed.Or = append(pushed.Or, where.Or...)
	return pushed, all
}
