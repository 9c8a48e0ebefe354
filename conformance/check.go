package conformance

import (
	"regexp"
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
	// Facets are the parts of a check of many, in the order in which they run.
	Facets []Facet
}

// Facet is a part of a check, which may fail alone.
type Facet struct {
	Name  string // what it is about, such as "null keys of a group"
	Title string // what holds when it passes
	Rules []string
	Fix   string
	// Was is the id that it had as a check of its own. It is retired: it names the check that the facet is part of,
	// and no other.
	Was string
}

// allChecks returns the checks of all themes for one run, in the order in which they run. Those
// of a theme share what they learn in the run. A cause stands before its effects: what an elapsed deadline
// is answered with, for one, before the rules of every answer.
func allChecks(k *clocks.Clocks) []session.Check {
	liveChecks, liveAdvice := live.Checks()
	asked, watched := protocol.Checks(), []session.Check(nil)
	asked = slices.DeleteFunc(asked, func(c session.Check) bool {
		if c.Watched {
			watched = append(watched, c)
		}
		return c.Watched
	})
	return slices.Concat(document.Checks(), authentication.Checks(), fixture.Checks(), asked, k.Checks(), watched,
		liveChecks, tenants.Checks(), document.Advice(), advice.Checks(), liveAdvice, k.Slowest(), protocol.Departures())
}

// describe returns what users see of a check.
func describe(c *session.Check) Check {
	own := Check{ID: c.ID, Phase: c.Phase, Title: c.Title, Rules: c.Rules, Fix: c.Fix, Advice: c.Advice}
	for i := range c.Facets {
		f := &c.Facets[i]
		own.Facets = append(own.Facets, Facet{Name: f.Facet, Title: f.Title, Rules: f.Rules, Fix: f.Fix, Was: f.Was})
	}
	return own
}

// retired holds the ids of checks whose requests another check sends, by the id of that one. They name no other
// check. What a facet was called is in its row.
var retired = map[string][]string{
	"L2": {"M1", "M2"}, "L6": {"M5"}, "L7": {"M6"}, "M10": {"M4"}, "M11": {"M3", "M8"},
}

// matches reports whether a pattern matches the id of a check, or a retired one that stands for it.
func matches(pattern *regexp.Regexp, c *session.Check) bool {
	return pattern.MatchString(c.ID) || slices.ContainsFunc(retired[c.ID], pattern.MatchString) ||
		slices.ContainsFunc(c.Facets, func(f session.Check) bool { return f.Was != "" && pattern.MatchString(f.Was) })
}
