package conformance

import (
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
)

// Verdict is how a check ended.
type Verdict string

// The verdicts.
const (
	Pass   Verdict = "pass"
	Fail   Verdict = "fail"
	Skip   Verdict = "skip"   // see the Reason
	Advise Verdict = "advice" // a rule that is not binding is broken
)

// Reason is why a check was skipped.
type Reason string

// The reasons.
const (
	NotDeclared = Reason(check.NotDeclared) // the document does not declare what is tested
	NoData      = Reason(check.NoData)      // nothing to test it on
	DataChanged = Reason(check.DataChanged) // live data changed during the check
	Blocked     = Reason(check.Blocked)     // by another failure; the run is red
	NotAsked    = Reason(check.NotAsked)    // it needs an option of the run
	NotReached  = Reason(check.NotReached)  // the run was interrupted or timed out
)

// Outcome is how one check ended.
type Outcome struct {
	Check
	Verdict Verdict
	// Reason is set for Skip.
	Reason Reason
	// Detail says why a check failed or was skipped.
	Detail string
	// Broken names the facets that failed, such as "startswith on a column of type string". The detail
	// begins with them, and is about the first.
	Broken []string
	// Expected and Received are short texts; empty when the detail says it all.
	Expected, Received string
	// Request produced the failure; nil when no single one did.
	Request *Request
	// Cases is how many cases the check judged, and Failed how many failed. The rest
	// of the outcome is about the first that failed.
	Cases, Failed int
	Duration      time.Duration

	blockedBy string // the id of the failed check that prevented this one from running
	refused   string // how the connector refused what the run was given; empty if it did not
}

// maxFacets is how many facets a detail names.
const maxFacets = 6

// newOutcome returns the outcome of a check that was judged.
func newOutcome(c *session.Check, result session.Result) Outcome {
	o := Outcome{Check: describe(c), Verdict: Pass, Cases: result.Cases, Duration: result.Duration}
	f := result.Finding
	switch {
	case f == nil:
		return o
	case f.Skip != "":
		o.Verdict, o.Reason = Skip, Reason(f.Skip)
	case c.Advice:
		o.Verdict = Advise
	default:
		o.Verdict = Fail
	}
	if f.Fix != "" {
		o.Fix = f.Fix
	}
	if f.Rules != nil {
		o.Rules = f.Rules
	}
	o.Broken = f.Facets
	o.blockedBy, o.refused = f.By, f.Refused
	o.Detail, o.Expected, o.Received, o.Failed = f.Detail, f.Expected, f.Received, f.Failed
	o.Request = (*Request)(f.Request)
	if facets := phrase.Some(f.Facets, maxFacets); facets != "" && f.Skip == "" {
		o.Detail = facets + ": " + f.Detail
	}
	return o
}
