package conformance

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
)

//go:embed report.html
var page string

// HTML returns the report as one page that needs nothing else: no server, no network
// and no script, except for the buttons that copy a request. Links lead to the documents
// of the checks and the rules.
func (r *Report) HTML() ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{
		"legible": check.Legible, "anchor": anchor, "percent": percent, "prose": prose, "ruleURL": ruleURL, "took": took, "join": strings.Join,
		"class": class, "mark": func(class string) string { return marks[class] },
		"checkURL": func(o Outcome) string { return o.url() }, "quote": func(o Outcome) string { return o.quote() },
		"again":  func(o Outcome) string { return r.again(r.seed(&o), o.ID) },
		"blocks": func(o Outcome) []string { return compact(r.blocked(o.ID)) },
	}).Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, r.page()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// htmlReport is what the page shows.
type htmlReport struct {
	*Report
	Verdict  string
	Class    string // of the verdict
	Mark     string
	Why      string
	Exit     int
	Seed     string
	Began    string
	Took     string
	Counts   []htmlCount
	Planned  int
	Phases   []phaseOutcomes
	Failures []Outcome
	Advice   []Outcome
	Reads    string // the variables that the curl lines read
	Skips    []skipGroup
	Coverage *session.Coverage
	Figures  []htmlFigure
	Tables   []htmlTable
	Unlisted int // tables that the page has no room for
}

type htmlCount struct {
	Class, Mark, Name string
	N                 int
}

type htmlFigure struct{ Name, Value string }

type htmlTable struct {
	*session.TableCoverage
	Line string
}

// marks tell the verdicts apart without their colours.
var marks = map[string]string{"pass": "✓", "fail": "✕", "advice": "!", "blocked": "⊘", "skip": "–"}

// page returns what the page shows.
func (r *Report) page() *htmlReport {
	s, v := r.Summary(), r.verdict()
	h := &htmlReport{
		Report: r, Verdict: v.words, Why: v.why, Exit: v.exit, Class: v.class, Seed: strconv.FormatUint(r.Seed, 10), Planned: s.Planned,
		Began: r.Began.UTC().Format("2006-01-02 15:04:05 UTC"),
		Took:  r.Duration.Round(10 * time.Millisecond).String(),
	}
	h.Mark = marks[h.Class]
	for _, c := range []htmlCount{
		{"pass", "", "passed", s.Passed}, {"fail", "", "failed", s.Failed}, {"blocked", "", "blocked", s.Blocked},
		{"advice", "", "advice", s.Advised}, {"skip", "", "skipped", s.Skipped - s.Blocked},
	} {
		c.Mark = marks[c.Class]
		h.Counts = append(h.Counts, c)
	}
	h.Phases, h.Failures, h.Advice, h.Skips = r.byPhase(), r.Failures(), r.with(Advise), r.skips(true)
	h.Reads = list(needed(slices.Concat(h.Failures, h.Advice)))
	h.cover()
	return h
}

// class returns the class of an outcome, which has a colour and a mark.
func class(o Outcome) string {
	if o.Reason == Blocked {
		return "blocked"
	}
	return string(o.Verdict)
}

// again returns the command that runs some checks once more, with the same
// generated queries.
func (r *Report) again(seed uint64, ids ...string) string {
	pattern := strings.ReplaceAll(strings.Join(ids, "|"), ".", `\.`)
	if len(ids) > 1 {
		pattern = "(" + pattern + ")"
	}
	tables := ""
	if len(r.Tables) > 0 {
		tables = " -tables " + check.Shell(strings.Join(r.Tables, ","))
	}
	return fmt.Sprintf("conform -mode %s -seed %d -run '^%s$'%s %s", r.Mode, seed, pattern, tables, check.Shell(r.Endpoint))
}

// maxPageFields limits the rows of the page's coverage.
const maxPageFields = 3000

// cover adds the coverage: figures, and for each table its fields by operators.
func (h *htmlReport) cover() {
	c := &h.Report.coverage
	h.Coverage = c
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"requests", int64(c.Requests)}, {"streams", int64(c.Streams)}, {"rows read", c.Rows}, {"bytes read", c.Bytes},
		{"cases judged", int64(c.Cases)}, {"of them generated", int64(c.Generated)},
	} {
		h.Figures = append(h.Figures, htmlFigure{f.name, grouped(f.n)})
	}
	room := maxPageFields
	for i := range c.Tables {
		t := &c.Tables[i]
		if room -= len(t.Fields); room < 0 {
			h.Unlisted = len(c.Tables) - i
			return
		}
		h.Tables = append(h.Tables, htmlTable{t, tableLine(t, c.Operators)})
	}
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

// grouped writes a number in groups of three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// anchor returns the id of a check's place on the page.
func anchor(id string) string { return "check-" + id }

// percent returns a share of the bar.
func percent(n, of int) string {
	if of == 0 {
		return "0"
	}
	return strconv.FormatFloat(float64(n)*100/float64(of), 'f', 3, 64)
}
