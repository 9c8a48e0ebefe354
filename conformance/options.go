package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/clocks"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
)

// Mode says what data the connector serves, and so which phases can run.
type Mode string

// The modes.
const (
	ModeFixture Mode = "fixture" // phases 0 to 3, over the corpus (the default)
	ModeLive    Mode = "live"    // phases 0, 1, 3 and 4, read-only, over real data
	ModeBoth    Mode = "both"    // all phases, over the corpus
)

// phases are those of each mode.
var phases = map[Mode][]int{ModeFixture: {0, 1, 2, 3}, ModeLive: {0, 1, 3, 4}, ModeBoth: {0, 1, 2, 3, 4}}

// modes returns the modes in which the check runs.
func (c *Check) modes() []Mode {
	all := []Mode{ModeFixture, ModeLive, ModeBoth}
	return slices.DeleteFunc(all, func(m Mode) bool { return !slices.Contains(phases[m], c.Phase) })
}

// Options say how a run goes. Nil options, or the zero value, run every check of the
// mode fixture.
type Options struct {
	Mode   Mode
	Phases []int // of those the mode has; empty: all of them
	// Match is a regular expression. Only checks whose id it matches run; empty means
	// all. The document is read and the token tried in any case.
	Match string
	// Tables are the names of the tables that are judged, in the mode live; empty: all. No
	// row of another is read, so a run over one table of a large source is short. It says
	// nothing of the others: see [Report.Verdict].
	Tables []string
	// RowBudget is a number of rows: larger tables are not read whole. 0 means
	// 200,000.
	RowBudget int
	// Requests is the most requests that the run sends. The checks share them: one that has
	// used its share judges what it has asked so far, or is not judged if that is too little to say
	// anything. If they are too few for all checks, some are left out; the verdict names both kinds. All
	// checks together need 400 to 600 in the mode live, by what the connector declares. With a second account
	// a quarter of them is for what only two accounts can show.
	//
	// 0 means no limit in the modes fixture and both, whose requests are about the corpus. In
	// the mode live it means 1500, and at most 500 more for a second account, which takes nothing from the
	// first. They are fewer if so many would take longer than ten minutes, or than Timeout, at the pace that
	// each check meets, but not fewer than 400.
	Requests int
	// WrongCredentials lets checks send credentials that are wrong on purpose, a dozen
	// times or more for each tenant: a wrong secret, a blank one, the secret of the other
	// tenant, a path as a tenant's name. A real account may be locked because of so many. Without it, checks leave out
	// what is required, and try a mistyped secret, and that of the other tenant, at most three times for an account.
	WrongCredentials bool
	// Alike says that two sets of credentials give access to the same data. Without it, a run that cannot tell
	// two accounts apart is not graded for tenants: nothing shows whose an answer is.
	Alike bool
	// Strict fails a connector whose discovery warns of something, such as a path that leads nowhere. Without it,
	// the warnings are advice.
	Strict bool
	// Seed makes the generated queries: runs with the same seed ask the same. 0 means 1.
	Seed uint64
	// Pace is the least time between the starts of two requests, for sources that take
	// only so many a second. 0 means none.
	Pace time.Duration
	// Timeout is how long the run may take: it asks as much as fits, and ends then, whatever the
	// connector does. Checks that were not reached are then reported as such. 0 means a day; then the
	// number of requests limits the run, in the mode live to about ten minutes.
	Timeout time.Duration
	// Progress, when set, is called before and after each check, and now and then in
	// between. It is never called twice at the same time.
	Progress func(Event)
}

// Event is one step of a run. Use it to show progress.
type Event struct {
	ID       string        // of the check
	Title    string        // of the check
	Index    int           // of the check, from 0
	Planned  int           // checks in this run
	Requests int           // sent so far
	Budget   int           // of requests; 0: no limit. It follows the pace if nobody gave it
	Left     time.Duration // about what the run still takes, if it uses its budget; 0: not known yet
	Done     *Outcome      // nil until the check has ended
}

// Spent describes how many requests were sent and how long the run may still take.
func (e *Event) Spent() string {
	text := plural(e.Requests, "request", "requests")
	if e.Budget >= e.Requests && e.Budget > 0 { // the few requests that every check needs may be more
		text = fmt.Sprintf("%d of %s", e.Requests, plural(e.Budget, "request", "requests"))
	}
	if e.Left >= time.Second {
		text += fmt.Sprintf(", about %s left", e.Left.Round(time.Second))
	}
	return text
}

// Checks returns the checks that a run with these options plans, in order. The error
// says what is wrong with the options, as that of [Run] would.
func (o *Options) Checks() ([]Check, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	list := make([]Check, len(p.checks))
	for i := range p.checks {
		list[i] = describe(&p.checks[i])
	}
	return list, nil
}

// plan is Options, checked and completed.
type plan struct {
	Options
	checks    []session.Check
	clocks    clocks.Clocks // of the checks
	available int           // checks of the mode
	adapt     bool          // Requests is what is usual, and no cap that the caller gave
	time      time.Duration // in which the requests are to be asked; 0: any
}

func (o *Options) plan() (*plan, error) {
	p := &plan{}
	if o != nil {
		p.Options = *o
	}
	if p.Mode == "" {
		p.Mode = ModeFixture
	}
	ofMode, known := phases[p.Mode]
	if !known {
		return nil, fmt.Errorf("unknown mode %q; the modes are fixture, live and both", p.Mode)
	}
	for _, phase := range p.Phases {
		if !slices.Contains(ofMode, phase) {
			return nil, fmt.Errorf("mode %s has no phase %d; it has %v", p.Mode, phase, ofMode)
		}
	}
	planned := ofMode
	if len(p.Phases) > 0 {
		planned = p.Phases
	}
	pattern, err := regexp.Compile(p.Match)
	if err != nil {
		return nil, fmt.Errorf("the pattern of ids does not compile: %w", err)
	}
	if p.RowBudget < 0 || p.Timeout < 0 || p.Requests < 0 || p.Pace < 0 {
		return nil, errors.New("the budgets of rows and requests, the pace and the timeout must not be negative")
	}
	if len(p.Tables) > 0 && p.Mode != ModeLive {
		return nil, fmt.Errorf("tables are selected in mode live; the mode %s judges all tables of the corpus; add -mode live", p.Mode)
	}
	if p.Requests == 0 && p.Mode == ModeLive {
		p.Requests, p.adapt = defaults.Requests, true
	}
	if p.RowBudget == 0 {
		p.RowBudget = defaults.RowBudget
	}
	switch {
	case p.Timeout > 0:
		p.time = p.Timeout - p.Timeout/10 // for the answers that are awaited when it is over
	case p.adapt:
		p.time = defaults.Timeout
	}
	if p.Timeout == 0 {
		p.Timeout = defaults.MaxTimeout
	}
	if p.Seed == 0 {
		p.Seed = defaults.Seed
	}
	for _, c := range allChecks(&p.clocks) {
		c.Advice = c.Advice && !(c.Strict && p.Strict)
		if slices.Contains(ofMode, c.Phase) {
			p.available++
		}
		if slices.Contains(planned, c.Phase) && matches(pattern, &c) {
			p.checks = append(p.checks, c)
		}
	}
	if len(p.checks) == 0 {
		return nil, fmt.Errorf("no check of mode %s and phases %v has an id that matches %q", p.Mode, planned, p.Match)
	}
	return p, nil
}
