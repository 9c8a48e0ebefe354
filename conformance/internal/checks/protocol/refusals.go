package protocol

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// wrongBody is a body with one thing wrong, which must be refused.
type wrongBody struct {
	route session.Route
	text  []byte
	what  string // what is wrong, such as "two JSON values"
	codes []wire.Code
	// declinable is set if an aggregate may answer 204 instead.
	declinable bool
}

// refusesAll sends bodies until one is not refused. If the run has a budget of
// requests, it sends no more than the check's weight and share of them.
func refusesAll(run *session.Run, bodies []wrongBody) *check.Finding {
	if run.Requests > 0 {
		bodies = bodies[:min(len(bodies), run.Check.Share())]
	}
	for _, b := range bodies {
		if run.Cases > 0 && run.Allowance() == 0 {
			return nil
		}
		a := run.PostBody(b.route, b.text)
		if b.declinable && b.route.Path == wire.PathAggregate && a.Declined() {
			run.Cases++
			continue
		}
		if f := run.Refused(a, b.route.Path+" with "+b.what, b.codes...); f != nil {
			return f
		}
	}
	return nil
}

// inTurn merges lists: the first bodies of all, then the second ones.
func inTurn(lists [][]wrongBody) (merged []wrongBody) {
	for round := 0; ; round++ {
		some := false
		for _, list := range lists {
			if round < len(list) {
				merged = append(merged, list[round])
				some = true
			}
		}
		if !some {
			return merged
		}
	}
}

// rotated returns a list that begins elsewhere, so that the first bodies of several
// routes are wrong in different ways.
func rotated(list []wrongBody, by int) []wrongBody {
	if len(list) == 0 {
		return nil
	}
	by %= len(list)
	return slices.Concat(list[by:], list[:by])
}
