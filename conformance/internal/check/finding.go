// Package check defines what the judge of one check returns: nothing when the
// check passes, otherwise a [Finding].
package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Reason is why a check was skipped.
type Reason string

// The reasons.
const (
	NotDeclared Reason = "not declared"               // the document does not declare what is tested
	NoData      Reason = "data cannot exercise it"    // nothing to test it on
	DataChanged Reason = "data changed while reading" // live data changed during the check
	Blocked     Reason = "blocked"                    // by another failure; the run is red
	NotAsked    Reason = "not asked for"              // it needs an option of the run
	NotReached  Reason = "not reached"                // the run was interrupted or timed out
)

// TokenRejected is what the platform says about a token that is refused.
const TokenRejected = "The connector rejected the token"

// A Finding says why a check did not pass: because the connector breaks the
// rule, or, when Skip is set, because the check could not be judged. A nil
// *Finding means that nothing is wrong.
type Finding struct {
	Detail             string
	Expected, Received string   // short texts; empty when Detail says it all
	Request            *Request // nil: the last request of the check
	Failed             int      // how many cases failed like this one; 0 counts as one
	Skip               Reason   // empty: a failure
	By                 string   // the check that reports the fault, when Skip is Blocked
	Fix                string   // what the author has to do, when it is not what the check says
	// Facets names the parts of the check that failed, such as "startswith on a column of type string". The finding is about
	// the first of them. Rules are those that it breaks, when they are not all of the check.
	Facets, Rules []string
	// Refused says how the connector refused the token or the credentials of the run, so that
	// it cannot be graded; empty for every other fault.
	Refused string
}

// Fail returns the finding of a broken rule.
func Fail(format string, args ...any) *Finding {
	return &Finding{Detail: fmt.Sprintf(format, args...)}
}

// Differs returns the finding of a broken rule, with what was expected and what
// was received instead.
func Differs(expected, received, format string, args ...any) *Finding {
	return &Finding{Detail: fmt.Sprintf(format, args...), Expected: expected, Received: received}
}

// Skip returns the finding of a check that cannot be judged.
func Skip(reason Reason, format string, args ...any) *Finding {
	return &Finding{Detail: fmt.Sprintf(format, args...), Skip: reason}
}

// Block returns the finding of a check that cannot be judged because of a fault
// that the check with the id reports. For that check itself it is a failure.
func Block(id, format string, args ...any) *Finding {
	return &Finding{Detail: fmt.Sprintf(format, args...), Skip: Blocked, By: id}
}

// Interrupted returns the finding of a check that the end of a run with a timeout cuts off.
func Interrupted(ctx context.Context, timeout time.Duration) *Finding {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return Skip(NotReached, "the run took longer than its timeout of %s", timeout)
	}
	return Skip(NotReached, "the run was interrupted")
}

// Failure reports whether the finding is a failure rather than a skip.
func (f *Finding) Failure() bool { return f != nil && f.Skip == "" }

// From returns f with the request that produced it; f may be nil.
func (f *Finding) From(request *Request) *Finding {
	if f != nil && f.Request == nil {
		f.Request = request
	}
	return f
}

// In returns f with its detail put into a context such as "table x: %s"; f may
// be nil.
func (f *Finding) In(format string, args ...any) *Finding {
	if f != nil {
		f.Detail = fmt.Sprintf(format, append(args, f.Detail)...)
	}
	return f
}

// And returns the finding f with another one counted: it stays about what it is about, and names the facets of
// both. If f is nil, it returns the other.
func (f *Finding) And(other *Finding) *Finding {
	switch {
	case f == nil:
		return other
	case other == nil:
		return f
	}
	own := *f // it may be kept for other checks
	own.Failed = max(f.Failed, 1) + max(other.Failed, 1)
	own.Facets = slices.Clone(f.Facets)
	for _, facet := range other.Facets {
		if !slices.Contains(own.Facets, facet) {
			own.Facets = append(own.Facets, facet)
		}
	}
	return &own
}
