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
// and no script, except for the buttons that copy a request.
func (r *Report) HTML() ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{
		"legible": check.Legible, "anchor": anchor, "percent": percent, "prose": prose,
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
	Phases   []htmlPhase
	Failures []htmlFinding
	Advice   []htmlFinding
	Reads    string // the variables that the curl lines read
	Skips    []htmlSkips
	Coverage *session.Coverage
	Figures  []htmlFigure
	Tables   []htmlTable
	Unlisted int // tables that the page has no room for
}

type htmlCount struct {
	Class, Mark, Name string
	N                 int
}

type htmlPhase struct {
	Name   string
	Passed int
	Tiles  []htmlTile
}

type htmlTile struct {
	ID, Title, Class, Mark, Word, Anchor string
	Cases                                int
	Took                                 string
	Detail                               string
}

type htmlFinding struct {
	Outcome
	Rule, Quote string
	Class, Mark string
	Curl        string
	Again       string
	Blocks      []string
}

type htmlSkips struct {
	Reason Reason
	Class  string
	Groups []htmlSkip
}

type htmlSkip struct {
	Why string
	IDs []string
}

type htmlFigure struct{ Name, Value string }

type htmlTable struct {
	*session.TableCoverage
	Line string
	Rows []htmlRow
}

// htmlRow is a field and, for each declared operator, its judged answers.
type htmlRow struct {
	*session.FieldCoverage
	Cells []int
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
	for _, p := range r.byPhase() {
		phase := htmlPhase{Name: p.Name}
		for i := range p.Outcomes {
			tile := newTile(&p.Outcomes[i])
			if tile.Class == "pass" || tile.Class == "advice" {
				phase.Passed++
			}
			phase.Tiles = append(phase.Tiles, tile)
		}
		h.Phases = append(h.Phases, phase)
	}
	h.Failures, h.Advice = r.findings(r.Failures()), r.findings(r.Advice())
	h.Reads = list(needed(slices.Concat(r.Failures(), r.Advice())))
	for _, g := range r.skips(true) {
		if n := len(h.Skips); n == 0 || h.Skips[n-1].Reason != g.Reason {
			class := "skip"
			if g.Reason == Blocked {
				class = "blocked"
			}
			h.Skips = append(h.Skips, htmlSkips{Reason: g.Reason, Class: class})
		}
		last := &h.Skips[len(h.Skips)-1]
		last.Groups = append(last.Groups, htmlSkip{g.Why, g.IDs})
	}
	h.cover()
	return h
}

// newTile returns the tile of a check.
func newTile(o *Outcome) htmlTile {
	t := htmlTile{ID: o.ID, Title: o.Title, Class: string(o.Verdict), Word: string(o.Verdict), Cases: o.Cases, Took: took(o.Duration)}
	switch o.Verdict {
	case Fail, Advise:
		t.Anchor, t.Detail = anchor(o.ID), o.Detail
	case Skip:
		t.Anchor, t.Detail, t.Word = "skips", o.Detail, string(o.Reason)
		if o.Reason == Blocked {
			t.Class = "blocked"
		}
	}
	t.Mark = marks[t.Class]
	return t
}

// findings returns outcomes as the page shows them.
func (r *Report) findings(outcomes []Outcome) (list []htmlFinding) {
	for _, o := range outcomes {
		f := htmlFinding{
			Outcome: o, Rule: strings.Join(o.Rules, ", "), Quote: o.quote(),
			Class: string(o.Verdict), Mark: marks[string(o.Verdict)], Again: r.again(r.seed(&o), o.ID), Blocks: compact(r.blocked(o.ID)),
		}
		if o.Request != nil {
			f.Curl = o.Request.Curl()
		}
		list = append(list, f)
	}
	return list
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
		table := htmlTable{TableCoverage: t, Line: tableLine(t, c.Operators)}
		for j := range t.Fields {
			row := htmlRow{FieldCoverage: &t.Fields[j]}
			for _, op := range c.Operators {
				row.Cells = append(row.Cells, t.Fields[j].Judged[op])
			}
			table.Rows = append(table.Rows, row)
		}
		h.Tables = append(h.Tables, table)
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
