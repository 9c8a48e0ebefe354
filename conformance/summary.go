package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// What all forms of a report say alike.

// phaseNames are what the phases are about (protocol, Conformance check).
var phaseNames = [...]string{"Document", "Authentication", "Fixture corpus", "Protocol behaviour", "Live data"}

func phaseName(phase int) string {
	if phase < 0 || phase >= len(phaseNames) {
		return fmt.Sprintf("Phase %d", phase)
	}
	return fmt.Sprintf("Phase %d: %s", phase, phaseNames[phase])
}

// phaseOutcomes are the outcomes of one phase, in order.
type phaseOutcomes struct {
	Phase    int
	Name     string
	Outcomes []Outcome
}

// byPhase are the phases that were planned, in order.
func (r *Report) byPhase() (list []phaseOutcomes) {
	for _, o := range r.Outcomes {
		i := slices.IndexFunc(list, func(p phaseOutcomes) bool { return p.Phase == o.Phase })
		if i < 0 {
			i = len(list)
			list = append(list, phaseOutcomes{Phase: o.Phase, Name: phaseName(o.Phase)})
		}
		list[i].Outcomes = append(list[i].Outcomes, o)
	}
	slices.SortFunc(list, func(a, b phaseOutcomes) int { return a.Phase - b.Phase })
	return list
}

// skipGroup are the checks that were skipped for one reason and one cause.
type skipGroup struct {
	Reason Reason
	Why    string
	IDs    []string
}

// skips groups the skipped checks, those that make the run red first.
func (r *Report) skips() (list []skipGroup) {
	for _, reason := range []Reason{Blocked, NotReached, DataChanged, NoData, NotDeclared} {
		first := len(list)
		for _, o := range r.Outcomes {
			if o.Verdict != Skip || o.Reason != reason {
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

// verdict is the run in one word, for people.
func (r *Report) verdict() string {
	switch r.Exit() {
	case ExitPass:
		return "conformant"
	case ExitFail:
		return "not conformant"
	}
	return "not graded"
}

// why says in a sentence what the exit code stands for.
func (r *Report) why() string {
	s := r.Summary()
	switch {
	case r.tokenRejected():
		return rejected
	case s.Failed > 0 && r.Problem != "":
		return fmt.Sprintf("%s; and %s", failedText(s.Failed), r.Problem)
	case s.Failed > 0:
		return failedText(s.Failed)
	case r.Problem != "":
		return r.Problem
	case s.Blocked > 0:
		return fmt.Sprintf("no planned check failed, but %s blocked by one that was not planned", plural(s.Blocked, "was", "were"))
	case r.Exit() == ExitPass:
		return "no check failed"
	}
	return "nothing was checked"
}

func failedText(n int) string {
	if n == 1 {
		return "1 check failed"
	}
	return fmt.Sprintf("%d checks failed", n)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// tokenRejected tells whether the run came to nothing because of the token.
func (r *Report) tokenRejected() bool {
	return slices.ContainsFunc(r.Outcomes, func(o Outcome) bool {
		return (o.Verdict == Fail || o.Reason == Blocked) && strings.Contains(o.Detail, rejected)
	})
}

// ran tells whether an outcome took a time worth showing.
func ran(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// legible is text that came from elsewhere, fit for a terminal, a page and a
// log: whatever would not show, or would act on a terminal, stands as an
// escape. Line breaks stay.
func legible(text string) string {
	if !strings.ContainsFunc(text, unfit) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !unfit(r):
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

func unfit(r rune) bool { return r != '\n' && !shows(string(r)) }
