package filter

import "github.com/connectorsdk/connector-sdk-go/wire"

// Split returns the filters of a request that a source can evaluate upstream.
// can reports whether the source evaluates one filter with exactly the semantics
// of this package.
//
// The source must apply all of pushed, which may have no filters. Split returns
// Or as a whole or not at all, because a part of it would drop rows that another
// of its groups keeps. If any group is empty, the whole Or is true, and Split
// omits it. Split reports all if can accepted every filter, so that the source
// may claim the filters as served. Otherwise leave the claim false: the library
// then filters the rows again and refuses unknown fields.
//
// Split calls can once for every filter: first for those of And, then for those
// of Or, even if Or is omitted in the end. So an accepted filter is not always
// pushed. can must not record what to send upstream; read that from pushed. The
// filters of Or have no influence on which filters of And are pushed.
//
// Use it for an upstream that takes whole conditions, such as SQL. For an upstream
// with a parameter for each condition, such as an API, a connector.Pushdown
// declares the filters without a callback.
func Split(where wire.Where, can func(wire.Filter) bool) (pushed wire.Where, all bool) {
	pushed.FieldTypes, all = where.FieldTypes, true
	for _, f := range where.And {
		if can(f) {
			pushed.And = append(pushed.And, f)
		} else {
			all = false
		}
	}
	push := true
	for _, group := range where.Or {
		push = push && len(group) > 0 // an empty group makes Or true
		for _, f := range group {
			if !can(f) {
				push, all = false, false
			}
		}
	}
	if push {
		pushed.Or = append(pushed.Or, where.Or...)
	}
	return pushed, all
}
