package conformance

import "slices"

// Check is one row of the table of checks: a rule that a connector can break.
type Check struct {
	ID    string // stable, such as P3.4c
	Phase int    // 0 to 4
	Title string // what holds when it passes
	// Rule names the section of the protocol and, where one settles it, the
	// ruling: "protocol, Filter; A3".
	Rule string
	// Quote is the sentence that the check defends, word for word.
	Quote string
	// Fix is what the author of a connector that fails it most likely has to
	// do.
	Fix string
	// Advice marks a rule that the protocol's text does not state. Breaking it
	// is reported, and changes no exit code.
	Advice bool

	// needs tells, from the document, why the check does not apply; empty when
	// it does. Nil: it always applies.
	needs func(*document) string
	// open marks a check that is run whether the token is accepted or not.
	open bool
	// judge does the work. It returns when the check has passed.
	judge func(*exam)
	// watched marks a rule that every exchange of the run is held against: judge
	// only makes sure that there are some, and the verdict is passed at the end.
	watched bool
}

// Checks are all checks, in the order in which they run.
func Checks() []Check {
	return slices.Concat(documentChecks(), authChecks(), fixtureChecks(), protocolChecks(), liveChecks(), tenantChecks(), adviceChecks())
}
