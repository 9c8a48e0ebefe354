package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/advice"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
)

// Report is what a run found out. It does not change, and many goroutines may read
// it.
type Report struct {
	Mode     Mode
	Endpoint string // the base URL
	Slug     string // of the connector; empty when the document was not read
	Seed     uint64 // of the generated queries: a run with it asks the same again
	Began    time.Time
	Duration time.Duration
	Outcomes []Outcome // one for each planned check, in order
	// Available is how many checks the mode has. A run of fewer is a selection, which
	// cannot say that the connector is conformant.
	Available int
	// Tables are those that were selected to be judged; empty: all.
	Tables []string
	// DialectOnly is the dialect of SQL in which alone the connector takes queries, so that
	// no row of it could be judged; empty for all others.
	DialectOnly string
	// Requests is how many requests were sent.
	Requests int
	// Judged says in a few words what the outcomes rest on: how many rows of how many tables,
	// fields and operators were judged.
	Judged string
	// Problem says why the run could not happen or did not come to its end; empty
	// when it did.
	Problem string

	// Whole is about how long a run takes that nothing cuts short, if this one was cut short because the
	// connector was slow; else 0.
	Whole time.Duration

	coverage    coverage.Report
	twoAccounts bool // it was to tell two accounts apart
	wrong       bool // it was free to send wrong credentials
}

// Summary counts the outcomes by verdict.
type Summary struct {
	Planned int `json:"planned"`
	Passed  int `json:"pass"`
	Failed  int `json:"fail"`
	Skipped int `json:"skip"`
	Blocked int `json:"blocked"` // of the skipped
	Advised int `json:"advice"`
}

// Summary returns the counts of the outcomes.
func (r *Report) Summary() Summary {
	s := Summary{
		Planned: len(r.Outcomes), Passed: len(r.with(Pass)), Failed: len(r.with(Fail)), Skipped: len(r.with(Skip)), Advised: len(r.with(Advise)),
	}
	for _, o := range r.with(Skip) {
		if o.Reason == Blocked {
			s.Blocked++
		}
	}
	return s
}

// Failures returns the outcomes that failed, in order.
func (r *Report) Failures() []Outcome { return r.with(Fail) }

// Advice returns the outcomes that advise: first what discovery warns of, then the others in order.
func (r *Report) Advice() []Outcome { return r.with(Advise) }

// with returns the outcomes with a verdict, in order. Advice begins with what discovery warns of.
func (r *Report) with(v Verdict) (list []Outcome) {
	for _, o := range r.Outcomes {
		switch {
		case o.Verdict != v:
		case v == Advise && o.ID == advice.Warnings:
			list = slices.Insert(list, 0, o)
		default:
			list = append(list, o)
		}
	}
	return list
}

// blocked returns the ids of the checks that could not be judged because a check failed.
func (r *Report) blocked(id string) (ids []string) {
	for _, o := range r.Outcomes {
		if o.Verdict == Skip && o.blockedBy == id {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// quote returns what the outcome's rules say.
func (o *Outcome) quote() string {
	var texts []string
	for _, id := range o.Rules {
		if rule, _ := rules.Lookup(id); rule.Text != "" {
			texts = append(texts, rule.Text)
		}
	}
	return strings.Join(texts, " ")
}

// phaseNames are the subjects of the phases.
var phaseNames = [...]string{"Document", "Authentication", "Fixture corpus", "Protocol behaviour", "Live data"}

// phaseName returns the name of a phase.
func phaseName(phase int) string {
	if phase < 0 || phase >= len(phaseNames) {
		return fmt.Sprintf("Phase %d", phase)
	}
	return fmt.Sprintf("Phase %d: %s", phase, phaseNames[phase])
}

// phase is the part of a report that is about one phase: its outcomes and their duration.
type phase struct {
	Name string
	Report
}

// byPhase groups the outcomes by phase.
func (r *Report) byPhase() (list []*phase) {
	for n := range phaseNames {
		p := &phase{Name: phaseName(n)}
		for _, o := range r.Outcomes {
			if o.Phase == n {
				p.Outcomes = append(p.Outcomes, o)
				p.Duration += o.Duration
			}
		}
		if p.Outcomes != nil {
			list = append(list, p)
		}
	}
	return list
}

// skipGroup lists the checks that were skipped for one reason and one cause.
type skipGroup struct {
	Reason Reason   `json:"reason"`
	Why    string   `json:"why"`
	IDs    []string `json:"ids"`
}

// failed reports whether the check with the id failed.
func (r *Report) failed(id string) bool {
	return slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.ID == id && o.Verdict == Fail })
}

// skips groups the skipped checks by reason and cause, with or without those that a failed one
// blocks. Those that the run should have judged come first.
func (r *Report) skips(withBlocked bool) (list [][]skipGroup) {
	for _, reason := range []Reason{Blocked, NotReached, DataChanged, NoData, NotDeclared, NotAsked} {
		var groups []skipGroup
		for _, o := range r.Outcomes {
			if o.Verdict != Skip || o.Reason != reason || !withBlocked && r.failed(o.blockedBy) {
				continue
			}
			i := slices.IndexFunc(groups, func(g skipGroup) bool { return g.Why == o.Detail })
			if i < 0 {
				i, groups = len(groups), append(groups, skipGroup{Reason: reason, Why: o.Detail})
			}
			groups[i].IDs = append(groups[i].IDs, o.ID)
		}
		if groups != nil {
			list = append(list, groups)
		}
	}
	return list
}

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// took returns a duration for people.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
