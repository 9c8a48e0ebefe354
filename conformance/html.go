package conformance

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
)

//go:embed report.html
var page string

// HTML returns the report as one page that needs nothing else: no server, no network
// and no script, except for the buttons that copy a request. Links lead to the documents
// of the checks and the rules.
func (r *Report) HTML() ([]byte, error) {
	t, err := template.New("report").Funcs(r.functions()).Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, r.written())
	return b.Bytes(), err
}

// written is a report as the templates of the page and of JUnit's XML read it.
type written struct {
	*Report
	Result   verdict
	Phases   []*phase
	Advice   []Outcome
	Skips    [][]skipGroup
	Coverage *coverage.Report
}

func (r *Report) written() *written {
	return &written{r, r.verdict(), r.byPhase(), r.with(Advise), r.skips(true), &r.coverage}
}

// functions returns what the templates call.
func (r *Report) functions() template.FuncMap {
	return template.FuncMap{
		"legible": check.Legible, "prose": prose, "ruleURL": ruleURL, "took": took, "join": strings.Join,
		"class": class, "mark": func(class string) string { return marks[class] },
		"checkURL": func(o Outcome) string { return o.url() }, "quote": func(o Outcome) string { return o.quote() },
		"grouped": func(n any) string { return phrase.Grouped(n, "\u202f") },
		"again":   func(o Outcome) string { return r.again(o.ID) },
		"blocks":  func(o Outcome) []string { return compact(r.blocked(o.ID)) },
		"finding": func(o Outcome) string { return r.Finding(&o) },
		"reads":   func(some ...[]Outcome) string { return list(needed(slices.Concat(some...))) },
		"line":    func(t coverage.Table) string { return tableLine(&t, r.coverage.Operators) },
		"unasked": func() []string { return unaskedLines(&r.coverage, false) },
		"covered": r.coverageText, "xml": xmlText, "seconds": seconds,
		"stamp": func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") },
		"sum":   func(a, b int) int { return a + b },
	}
}

// pageCount is a number of outcomes that have a class in common.
type pageCount struct {
	Class, Name string
	N           int
}

// Counts returns the numbers of outcomes, in the order of the page.
func (w *written) Counts() []pageCount {
	s := w.Summary()
	return []pageCount{
		{"pass", "passed", s.Passed}, {"fail", "failed", s.Failed}, {"blocked", "blocked", s.Blocked},
		{"advice", "advice", s.Advised}, {"skip", "skipped", s.Skipped - s.Blocked},
	}
}

// Tables returns the coverage of the tables for which the page has room.
func (w *written) Tables() []coverage.Table {
	room := 3000 // fields
	for i, t := range w.Coverage.Tables {
		if room -= len(t.Fields); room < 0 {
			return w.Coverage.Tables[:i]
		}
	}
	return w.Coverage.Tables
}

// Unlisted returns how many tables the page has no room for.
func (w *written) Unlisted() int { return len(w.Coverage.Tables) - len(w.Tables()) }

// marks tell the verdicts apart without their colours.
var marks = map[string]string{"pass": "✓", "fail": "✕", "advice": "!", "blocked": "⊘", "skip": "–"}

// class returns the class of an outcome, which has a colour and a mark.
func class(o Outcome) string {
	if o.Reason == Blocked {
		return "blocked"
	}
	return string(o.Verdict)
}

// again returns the command that runs some checks once more, with the same
// generated queries.
func (r *Report) again(ids ...string) string {
	pattern := strings.ReplaceAll(strings.Join(ids, "|"), ".", `\.`)
	if len(ids) > 1 {
		pattern = "(" + pattern + ")"
	}
	tables := ""
	if len(r.Tables) > 0 {
		tables = " -tables " + check.Shell(strings.Join(r.Tables, ","))
	}
	return fmt.Sprintf("conform -mode %s -seed %d -run '^%s$'%s %s", r.Mode, r.Seed, pattern, tables, check.Shell(r.Endpoint))
}

// prose returns a sentence with its parts between backticks as code.
func prose(text string) template.HTML {
	parts := strings.Split(check.Legible(text), "`")
	var b strings.Builder
	for i, part := range parts {
		switch part = template.HTMLEscapeString(part); {
		case i%2 == 0:
			b.WriteString(part)
		case i == len(parts)-1: // not closed
			b.WriteString("`" + part)
		default:
			b.WriteString("<code>" + part + "</code>")
		}
	}
	return template.HTML(b.String()) // every part was escaped
}
