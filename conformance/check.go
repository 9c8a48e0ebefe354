package conformance

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/advice"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/authentication"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/clocks"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/document"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/fixture"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/live"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/protocol"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/tenants"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
)

// Check describes one rule that a connector can break.
type Check struct {
	ID    string // stable, such as P3.4c
	Phase int    // 0 to 4
	Title string // what holds when it passes
	// Rules are the rules of the rulebook, docs/protocol.md, that the check defends,
	// such as query-3.
	Rules []string
	// Fix is what the author of a connector that fails it most likely has to do.
	Fix string
	// Advice marks a rule that is not binding. Breaking it is reported, and changes no
	// exit code.
	Advice bool
}

// allChecks returns the checks of all themes for one run, in the order in which they run. Those
// of a theme share what they learn in the run.
func allChecks(k *clocks.Clocks) []session.Check {
	liveChecks, liveAdvice := live.Checks()
	return slices.Concat(document.Checks(), authentication.Checks(), fixture.Checks(), protocol.Checks(), k.Checks(),
		liveChecks, tenants.Checks(), document.Advice(), advice.Checks(), liveAdvice, k.Slowest())
}

// describe returns what users see of a check.
func describe(c *session.Check) Check {
	return Check{ID: c.ID, Phase: c.Phase, Title: c.Title, Rules: c.Rules, Fix: c.Fix, Advice: c.Advice}
}
