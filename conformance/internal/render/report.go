// Package render writes the report of a run: as text for a terminal, as JSON, as
// JUnit's XML and as a page of HTML.
package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
)

// Report is what the forms of a report show.
type Report struct {
	Mode     string
	Endpoint string
	Slug     string
	Seed     uint64
	Began    time.Time
	Duration time.Duration
	Outcomes []Outcome
	Summary  Summary
	Coverage Coverage
	Problem  string
	Exit     int // one of the exit codes below
	// Available is how many checks the mode has, more than Outcomes if they are a selection.
	Available int
	Tables    []string // those that were selected; empty: all
	// Dialect is set if the connector takes queries in this dialect of SQL alone, which no
	// check can judge.
	Dialect string
}

// The exit codes of the program.
const (
	ExitPass   = 0
	ExitFail   = 1
	ExitNotRun = 2
)

// Outcome is how one check ended.
type Outcome struct {
	ID                 string
	Phase              int
	Title              string
	Rules              []Rule
	Fix                string
	Verdict            string // one of the verdicts below
	Reason             check.Reason
	Detail             string
	BlockedBy          string // the failed check that stands in the way
	Expected, Received string
	Request            *check.Request
	Cases, Failed      int
	Duration           time.Duration
	Seed               uint64 // if it is not the report's
}

// The verdicts.
const (
	pass   = "pass"
	fail   = "fail"
	skip   = "skip"
	advise = "advice"
)

// Rule is a rule of the protocol that a check defends.
type Rule struct{ ID, Text string }

// Summary counts the outcomes by verdict. Blocked counts those of the skipped.
type Summary struct{ Planned, Passed, Failed, Skipped, Advised, Blocked int }

// with returns the outcomes with a verdict, in order.
func (r *Report) with(verdict string) (list []Outcome) {
	for _, o := range r.Outcomes {
		if o.Verdict == verdict {
			list = append(list, o)
		}
	}
	return list
}

// blocked returns the ids of the checks that could not be judged because a check failed.
func (r *Report) blocked(id string) (ids []string) {
	for _, o := range r.Outcomes {
		if o.Verdict == skip && o.BlockedBy == id {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// seed returns the seed that made the requests of an outcome.
func (r *Report) seed(o *Outcome) uint64 { return cmp.Or(o.Seed, r.Seed) }

// ruleIDs returns the ids of the outcome's rules.
func (o *Outcome) ruleIDs() string {
	ids := make([]string, len(o.Rules))
	for i, r := range o.Rules {
		ids[i] = r.ID
	}
	return strings.Join(ids, ", ")
}

// ruleText returns what the outcome's rules say.
func (o *Outcome) ruleText() string {
	var texts []string
	for _, r := range o.Rules {
		if r.Text != "" {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, " ")
}

// phaseNames are the subjects of the phases.
var phaseNames = [...]string{"Document", "Authentication", "Fixture corpus", "Protocol behaviour", "Live data"}

// PhaseName returns the name of a phase.
func PhaseName(phase int) string {
	if phase < 0 || phase >= len(phaseNames) {
		return fmt.Sprintf("Phase %d", phase)
	}
	return fmt.Sprintf("Phase %d: %s", phase, phaseNames[phase])
}

// phaseOutcomes are the outcomes of one phase, in order.
type phaseOutcomes struct {
	Name     string
	Outcomes []Outcome
}

// byPhase groups the outcomes by phase.
func (r *Report) byPhase() (list []phaseOutcomes) {
	for phase := range phaseNames {
		p := phaseOutcomes{Name: PhaseName(phase)}
		for _, o := range r.Outcomes {
			if o.Phase == phase {
				p.Outcomes = append(p.Outcomes, o)
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
	Reason check.Reason `json:"reason"`
	Why    string       `json:"why"`
	IDs    []string     `json:"ids"`
}

// failed reports whether the check with the id failed.
func (r *Report) failed(id string) bool {
	return slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.ID == id && o.Verdict == fail })
}

// skips groups the skipped checks, with or without those that a failed one blocks. Those
// that the run should have judged come first.
func (r *Report) skips(withBlocked bool) (list []skipGroup) {
	for _, reason := range []check.Reason{check.Blocked, check.NotReached, check.DataChanged, check.NoData, check.NotDeclared} {
		first := len(list)
		for _, o := range r.Outcomes {
			if o.Verdict != skip || o.Reason != reason || !withBlocked && r.failed(o.BlockedBy) {
				continue
			}
			i := first
			for i < len(list) && list[i].Why != o.Detail {
				i++
			}
			if i == len(list) {
				list = append(list, skipGroup{Reason: reason, Why: o.Detail})
			}
			list[i].IDs = append(list[i].IDs, o.ID)
		}
	}
	return list
}

// selection reports whether only some checks of the mode were planned, or only some
// tables judged.
func (r *Report) selection() bool { return len(r.Outcomes) < r.Available || len(r.Tables) > 0 }

// verdict returns the result of the run in words.
func (r *Report) verdict() string {
	switch {
	case r.Exit == ExitNotRun:
		return "not graded"
	case r.Exit == ExitFail:
		return "not conformant"
	case r.selection():
		return "no selected check failed"
	case r.Dialect != "":
		return "conformant as far as it can be judged"
	}
	return "conformant"
}

// why returns a sentence about what the exit code stands for.
func (r *Report) why() string {
	s := r.Summary
	switch {
	case r.tokenRejected():
		return check.TokenRejected
	case s.Failed > 0 && r.Problem != "":
		return fmt.Sprintf("%s failed; and %s", plural(s.Failed, "check", "checks"), r.Problem)
	case s.Failed > 0:
		return plural(s.Failed, "check", "checks") + " failed"
	case r.Problem != "":
		return r.Problem
	case r.Exit != ExitPass:
		return "nothing was checked"
	case len(r.Tables) > 0:
		return fmt.Sprintf("%d of the %s of the mode ran, over the selected tables alone: %s",
			len(r.Outcomes), plural(r.Available, "check", "checks"), strings.Join(r.Tables, ", "))
	case r.selection():
		return fmt.Sprintf("%d of the %s of the mode ran", len(r.Outcomes), plural(r.Available, "check", "checks"))
	case r.Dialect != "":
		return fmt.Sprintf("no check failed; queries are taken in the dialect %s alone, and the rows that SQL answers cannot be judged",
			strconv.Quote(r.Dialect))
	case r.Coverage.Basis.Text != "":
		return "no check failed; " + r.Coverage.Basis.Text
	}
	return "no check failed"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// tokenRejected reports whether the connector refused the token.
func (r *Report) tokenRejected() bool {
	return slices.ContainsFunc(r.Outcomes, func(o Outcome) bool {
		return (o.Verdict == fail || o.Reason == check.Blocked) && strings.Contains(o.Detail, check.TokenRejected)
	})
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

// Legible returns text that came from elsewhere in a form that is safe for a
// terminal, a page and a log: characters that do not show, or that act on a
// terminal, become escapes. Line breaks stay.
func Legible(text string) string {
	unsafe := func(r rune) bool { return r != '\n' && !check.Shows(string(r)) }
	if !strings.ContainsFunc(text, unsafe) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !unsafe(r):
			b.WriteString(text[:size])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b.String()
}
