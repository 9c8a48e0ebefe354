package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

// Mode says what data the connector serves, and so which phases can be run
// (protocol, Conformance check).
type Mode string

// The modes.
const (
	ModeFixture Mode = "fixture" // phases 0 to 3, over the corpus (the default)
	ModeLive    Mode = "live"    // phases 0, 1, 3 and 4, read-only, over real data
	ModeBoth    Mode = "both"    // all phases, over the corpus
)

// phases are those of the mode; none for an unknown one.
func (m Mode) phases() []int {
	switch m {
	case ModeFixture:
		return []int{0, 1, 2, 3}
	case ModeLive:
		return []int{0, 1, 3, 4}
	case ModeBoth:
		return []int{0, 1, 2, 3, 4}
	}
	return nil
}

// The defaults of [Options].
const (
	DefaultRows    = 200_000 // protocol, Limits
	DefaultTimeout = 10 * time.Minute
)

// Options say how a run goes. The zero value runs every check of the mode
// fixture.
type Options struct {
	Mode   Mode
	Phases []int // of those the mode has; empty: all of them
	// Run is a regular expression; only checks whose id it matches are run.
	// Empty: all. The document is read and the token tried in any case.
	Run string
	// Rows is the row budget: larger tables are not read whole. 0: DefaultRows.
	Rows int
	// Seed makes the generated queries; the report tells it. 0: one by chance.
	Seed uint64
	// Timeout ends the run, whatever the connector does; checks that were not
	// reached are then reported as such. 0: DefaultTimeout.
	Timeout time.Duration
	// Progress, when set, is called from one goroutine before and after each
	// check.
	Progress func(Event)
}

// Event is one step of a run, for whoever shows its progress.
type Event struct {
	ID      string   // of the check
	Title   string   // of the check
	Index   int      // of the check, from 0
	Planned int      // checks in this run
	Done    *Outcome // nil when the check begins
}

// plan is Options, checked and completed.
type plan struct {
	Options
	checks []Check
}

func (o Options) plan() (*plan, error) {
	if o.Mode == "" {
		o.Mode = ModeFixture
	}
	phases := o.Mode.phases()
	if phases == nil {
		return nil, fmt.Errorf("unknown mode %q; the modes are fixture, live and both", o.Mode)
	}
	for _, p := range o.Phases {
		if p < 0 || p > 4 {
			return nil, fmt.Errorf("unknown phase %d; the phases are 0 to 4", p)
		}
		if !slices.Contains(phases, p) {
			return nil, fmt.Errorf("mode %s has no phase %d; it has %v", o.Mode, p, phases)
		}
	}
	if len(o.Phases) > 0 {
		phases = o.Phases
	}
	pattern, err := regexp.Compile(o.Run)
	if err != nil {
		return nil, fmt.Errorf("the pattern of ids does not compile: %w", err)
	}
	if o.Rows < 0 || o.Timeout < 0 {
		return nil, fmt.Errorf("the row budget and the timeout must not be negative")
	}
	if o.Rows == 0 {
		o.Rows = DefaultRows
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	p := &plan{Options: o}
	for _, c := range Checks() {
		if slices.Contains(phases, c.Phase) && pattern.MatchString(c.ID) {
			p.checks = append(p.checks, c)
		}
	}
	if len(p.checks) == 0 {
		return nil, fmt.Errorf("no check of mode %s and phases %v has an id that matches %q", o.Mode, phases, o.Run)
	}
	return p, nil
}
