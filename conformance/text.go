package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
)

// textWidth is the width of prose. Lines to paste are never broken.
const textWidth = 100

// maxLine is how long a line to paste may be: it fits a screen.
const maxLine = 2000

// Limits of the short form of a report, which fits one fault on one screen: the first
// finding is written in full, and what comes after it is often its consequence.
const (
	maxWhole   = 1
	maxBrief   = 8   // findings in two lines
	maxProse   = 5   // lines of one text
	maxBlocked = 40  // ids of checks that one finding blocks
	maxCovered = 140 // characters of a line about a table or a field
)

// Text returns the report for a person at a terminal: what failed, the first findings
// with what was expected and received, the request as a line to paste, what to do, the
// rules, and the checks that could not be judged because of it; then advice, what was
// skipped and why, what was judged if nothing failed, and a summary. With colour it
// holds the escapes of a terminal; nothing that came from the connector does.
//
// With full, it leaves nothing out: every finding in full, the ids of all skipped checks,
// and the judged answers of every field by operator.
func (r *Report) Text(colour, full bool) string {
	t := &text{paint: colour, whole: full}
	failures := r.Failures()
	if len(failures) > 0 {
		t.failures(r, failures)
	}
	if advice := r.with(Advise); len(advice) > 0 {
		t.heading("Advice (changes no verdict)")
		for i := range advice {
			t.finding(r, &advice[i], full)
		}
		if !full {
			t.line("")
		}
	}
	t.skips(r, len(failures) > 0)
	lines := append(coverageLines(&r.coverage, full), unaskedLines(&r.coverage, full)...)
	if len(lines) > 0 && (full || len(failures) == 0) {
		t.heading("Judged (fields x operators, values)")
		for _, l := range lines {
			if l = check.Legible(l); !full {
				l = clip(l, maxCovered)
			}
			t.line("  " + l)
		}
		t.line("")
	}
	t.summary(r)
	return t.b.String()
}

// failures writes what failed.
func (t *text) failures(r *Report, failures []Outcome) {
	t.heading("Failures")
	shown := failures
	if !t.whole {
		shown = failures[:min(len(failures), maxWhole)]
	}
	if variables := needed(shown); len(variables) > 0 {
		t.prose("", "The curl lines below read "+list(variables)+" from the environment: export them first.")
		t.line("")
	}
	var ids []string
	for i := range failures {
		ids = append(ids, failures[i].ID)
		if t.whole || i < maxWhole+maxBrief {
			t.finding(r, &failures[i], i < len(shown))
		}
	}
	if n := maxWhole + maxBrief; !t.whole && len(ids) > n {
		t.prose("and   ", strings.Join(compact(ids[n:]), " "))
	}
	if len(shown) < len(failures) {
		t.line("")
	}
	t.line("To check these again:  " + r.again(ids[:min(len(ids), maxWhole+maxBrief)]...))
	t.line("")
}

const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// text is a text that is being written.
type text struct {
	b     strings.Builder
	paint bool
	whole bool // nothing is left out
}

func (t *text) in(colour, s string) string {
	if !t.paint {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

func (t *text) line(s string) { t.b.WriteString(s + "\n") }

func (t *text) heading(s string) { t.line(t.in(bold, s) + "\n") }

// prose writes words behind a label, in lines of limited width.
func (t *text) prose(label, words string) {
	indent := strings.Repeat(" ", len(label))
	lines := wrap(check.Legible(words), textWidth-len(label))
	if len(lines) > maxProse && !t.whole {
		lines = append(lines[:maxProse], fmt.Sprintf("... (%d lines more; -v shows them)", len(lines)-maxProse))
	}
	for i, l := range lines {
		if i > 0 {
			label = indent
		}
		t.line(label + l)
	}
}

// field writes words behind the name of what they are, if there are any.
func (t *text) field(name, words string) {
	if words != "" {
		t.prose(fmt.Sprintf("  %-10s", name), words)
	}
}

// finding writes one failure or advice, in full or in two lines.
func (t *text) finding(r *Report, o *Outcome, full bool) {
	mark, colour := "FAIL", red
	if o.Verdict == Advise {
		mark, colour = "NOTE", yellow
	}
	t.line(t.in(colour, mark) + "  " + t.in(bold, o.Title) + "  " + t.in(colour, "["+o.ID+"]"))
	if !full {
		first, _, _ := strings.Cut(o.Detail, "\n")
		t.line("  found     " + clip(check.Legible(first), textWidth-12))
		return
	}
	if t.whole || o.Detail != r.Problem { // the last line says what the problem is
		t.field("found", o.Detail)
	}
	if o.Failed > 1 {
		t.field("", fmt.Sprintf("(%d of %d cases; this is the first)", o.Failed, o.Cases))
	}
	t.field("expected", o.Expected)
	t.field("received", o.Received)
	if o.Request != nil {
		curl := check.Legible(o.Request.Curl())
		if len(curl) > maxLine {
			curl = fmt.Sprintf("%s %s with a body of %d bytes; a report in a file (-report) holds it as a line to paste",
				o.Request.Method, check.Legible(o.Request.URL), len(o.Request.Body))
		}
		t.line("  request   " + curl)
	}
	t.field("fix", o.Fix)
	if t.whole || o.refused == "" { // it is not the connector that has to change
		t.rules(o.Rules)
	}
	t.line("  more      " + o.url())
	if ids := r.blocked(o.ID); len(ids) > 0 {
		blocks := plural(len(ids), "check", "checks") + ", which cannot be judged because of it"
		if t.whole || len(ids) <= maxBlocked {
			blocks += ": " + strings.Join(compact(ids), " ")
		}
		t.field("blocks", blocks)
	}
	t.line("")
}

// clip returns a line that is at most so long, cut between two words if it has any.
func clip(line string, most int) string {
	chars := []rune(line)
	if len(chars) <= most {
		return line
	}
	cut := string(chars[:most-3])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i+1]
	}
	return cut + "..."
}

// skips writes which checks were skipped and why: in short two lines for each reason, or
// their number alone if something failed.
func (t *text) skips(r *Report, failed bool) {
	reasons, brief := r.skips(t.whole), !t.whole && failed
	if len(reasons) == 0 {
		return
	}
	if !brief {
		t.heading("Skipped")
	}
	var counts []string
	for _, groups := range reasons {
		checks := 0
		for _, g := range groups {
			checks += len(g.IDs)
		}
		if !brief {
			t.skipped(groups, checks)
		}
		counts = append(counts, fmt.Sprintf("%s (%d)", groups[0].Reason, checks))
	}
	if brief {
		t.prose("", "Skipped: "+strings.Join(counts, ", ")+"; -v lists them")
	}
	t.line("")
}

// skipped writes the checks that were skipped for one reason.
func (t *text) skipped(groups []skipGroup, checks int) {
	reason, colour := groups[0].Reason, dim
	if reason == Blocked || reason == NotReached {
		colour = yellow
	}
	if t.whole {
		t.line(t.in(colour, string(reason)))
		for _, g := range groups {
			t.prose("  ", g.Why)
			t.prose("    ", strings.Join(compact(g.IDs), " "))
		}
		return
	}
	var whys []string
	for _, g := range groups {
		whys = append(whys, fmt.Sprintf("%s (%s)", g.Why, strings.Join(compact(g.IDs), " ")))
	}
	t.line(t.in(colour, fmt.Sprintf("%s: %s", reason, plural(checks, "check", "checks"))))
	t.prose("  ", clip(strings.Join(whys, "; "), 2*textWidth-10))
}

func (t *text) summary(r *Report) {
	s, v := r.Summary(), r.verdict()
	slug := ""
	if r.Slug != "" {
		slug = " (" + r.Slug + ")"
	}
	t.line(t.in(bold, check.Legible(r.Endpoint+slug)) + ", mode " + string(r.Mode))
	counts := fmt.Sprintf("%d passed, %d failed, %d skipped", s.Passed, s.Failed, s.Skipped)
	if s.Blocked > 0 {
		counts += fmt.Sprintf(" (%d blocked)", s.Blocked)
	}
	if s.Advised > 0 {
		counts += fmt.Sprintf(", %d with advice", s.Advised)
	}
	t.line(fmt.Sprintf("%d checks: %s; %d requests, %d rows in %s, seed %s", s.Planned, counts,
		r.coverage.Requests, r.coverage.Rows, r.Duration.Round(10*time.Millisecond), strconv.FormatUint(r.Seed, 10)))
	colour := map[string]string{"pass": green, "fail": red, "skip": yellow}[v.Class]
	for i, l := range wrap(check.Legible(fmt.Sprintf("%s (exit %d)", r.Verdict(), v.Exit)), textWidth) {
		if i == 0 {
			l = t.in(colour, l)
		}
		t.line(l)
	}
}

// rules writes the rules that a check defends.
func (t *text) rules(ids []string) {
	name := "rule"
	for _, id := range ids {
		words := "[" + id + "]"
		if rule, _ := rules.Lookup(id); rule.Text != "" {
			words = "“" + rule.Text + "” " + words
		}
		t.field(name, words)
		name = ""
	}
}

// Explain returns what there is to say about a check, for a terminal.
func (c *Check) Explain() string {
	var modes []string
	for _, m := range c.modes() {
		modes = append(modes, string(m))
	}
	t := &text{whole: true}
	t.line(c.ID + "  " + c.Title)
	t.line("")
	t.field("phase", phaseName(c.Phase)+" (mode "+strings.Join(modes, ", ")+")")
	t.rules(c.Rules)
	t.field("fix", c.Fix)
	for _, f := range c.Facets {
		from := strings.Join(f.Rules, ", ")
		if f.Was != "" {
			from += ", once " + f.Was
		}
		t.field("facet", fmt.Sprintf("%s: %s (%s)", f.Name, f.Title, from))
	}
	if c.Advice {
		t.field("verdict", "advice: the rule is not binding, so breaking it changes no exit code")
	} else {
		t.field("verdict", "a connector that breaks it is not conformant")
	}
	t.line("  more      " + c.url())
	return t.b.String()
}

// needed returns the variables that the requests of some outcomes read.
func needed(outcomes []Outcome) (names []string) {
	for _, name := range []string{check.EnvToken, check.EnvCredentials, check.EnvCredentials2} {
		if slices.ContainsFunc(outcomes, func(o Outcome) bool {
			return o.Request != nil && (*check.Request)(o.Request).Reads(name)
		}) {
			names = append(names, name)
		}
	}
	return names
}

// list returns names as a sentence lists them.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// compact writes ids that differ in their last letter as a range: P3.6a-d.
func compact(ids []string) (short []string) {
	for i := 0; i < len(ids); {
		j := i + 1
		for j < len(ids) && follows(ids[j-1], ids[j]) {
			j++
		}
		if j-i > 2 {
			short = append(short, ids[i]+"-"+ids[j-1][len(ids[j-1])-1:])
		} else {
			short = append(short, ids[i:j]...)
		}
		i = j
	}
	return short
}

// follows reports whether two ids differ in their last letter, by one.
func follows(a, b string) bool {
	n := len(a) - 1
	return n > 0 && len(b) == n+1 && a[:n] == b[:n] && a[n] >= 'a' && b[n] <= 'z' && b[n] == a[n]+1
}

// wrap breaks prose between words into lines of at most width characters. A longer
// word gets a line of its own, and a line break of the text stays one.
func wrap(text string, width int) (lines []string) {
	for paragraph := range strings.SplitSeq(text, "\n") {
		var b strings.Builder
		length := 0
		for word := range strings.SplitSeq(paragraph, " ") {
			n := len([]rune(word))
			if length > 0 && length+1+n > width {
				lines = append(lines, b.String())
				b.Reset()
				length = 0
			} else if b.Len() > 0 {
				b.WriteByte(' ')
				length++
			}
			b.WriteString(word)
			length += n
		}
		lines = append(lines, b.String())
	}
	return lines
}
