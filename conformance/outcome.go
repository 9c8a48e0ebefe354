package conformance

import "time"

// Verdict is how a check ended (I1).
type Verdict string

// The verdicts.
const (
	Pass   Verdict = "pass"
	Fail   Verdict = "fail"
	Skip   Verdict = "skip"   // see the Reason
	Advise Verdict = "advice" // a rule beyond the protocol's text is broken
)

// Reason is why a check was skipped (I1).
type Reason string

// The reasons.
const (
	NotDeclared Reason = "not declared"               // the document does not declare what is tested
	NoData      Reason = "data cannot exercise it"    // nothing to test it on
	DataChanged Reason = "data changed while reading" // live data moved under the check
	Blocked     Reason = "blocked"                    // by another failure; the run is red
	NotReached  Reason = "not reached"                // the run was interrupted or timed out
)

// Outcome is the verdict of one check.
type Outcome struct {
	Check
	Verdict Verdict
	// Reason is set for Skip.
	Reason Reason
	// Detail says what was found: why a check failed or was skipped.
	Detail string
	// Expected and Received are short texts; empty when the detail says it all.
	Expected, Received string
	// Request produced the failure; nil when no single one did.
	Request *Request
	// Cases is how many cases the check judged, and Failed how many failed; the
	// rest of the outcome is about the first of these.
	Cases, Failed int
	Duration      time.Duration
}
