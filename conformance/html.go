package conformance

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

//go:embed report.html
var page string

// HTML is the report as one page that needs nothing else: no server, no network
// and no script, but for the buttons that copy a request.
func (r *Report) HTML() ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{
		"legible": legible, "ran": ran, "anchor": anchor, "percent": percent, "prose": prose,
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
	Class    string // pass, fail or none
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
	Figures  []htmlFigure
	Types    []string
	Rows     []htmlRow
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
	Class, Mark string
	Curl        string
	Again       string
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

type htmlRow struct {
	Op    string
	Cells []int
}

// marks tell the verdicts apart without their colours.
var marks = map[string]string{"pass": "✓", "fail": "✕", "advice": "!", "blocked": "⊘", "skip": "–"}

func (r *Report) page() *htmlReport {
	s := r.Summary()
	h := &htmlReport{Report: r, Verdict: r.verdict(), Why: r.why(), Exit: r.Exit(), Seed: strconv.FormatUint(r.Seed, 10),
		Began: r.Began.UTC().Format("2006-01-02 15:04:05 UTC"), Took: r.Duration.Round(10 * time.Millisecond).String(), Planned: s.Planned}
	h.Class = [...]string{ExitPass: "pass", ExitFail: "fail", ExitNotRun: "skip"}[h.Exit]
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
	for _, g := range r.skips() {
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

func newTile(o *Outcome) htmlTile {
	t := htmlTile{ID: o.ID, Title: o.Title, Class: string(o.Verdict), Word: string(o.Verdict), Cases: o.Cases, Took: ran(o.Duration)}
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

// findings are outcomes as the page shows them.
func (r *Report) findings(outcomes []Outcome) (list []htmlFinding) {
	for _, o := range outcomes {
		f := htmlFinding{Outcome: o, Class: string(o.Verdict), Mark: marks[string(o.Verdict)], Again: r.again(o.ID)}
		if o.Request != nil {
			f.Curl = o.Request.Curl()
		}
		list = append(list, f)
	}
	return list
}

// again is the command that runs some checks once more, on the same generated
// queries.
func (r *Report) again(ids ...string) string {
	pattern := strings.ReplaceAll(strings.Join(ids, "|"), ".", `\.`)
	if len(ids) > 1 {
		pattern = "(" + pattern + ")"
	}
	return fmt.Sprintf("conform -mode %s -seed %d -run '^%s$' %s", r.Mode, r.Seed, pattern, shell(r.Endpoint))
}

// cover lays the coverage out: figures, and a table of operators by types.
func (h *htmlReport) cover() {
	c := &h.Report.Coverage
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"requests", int64(c.Requests)}, {"streams", int64(c.Streams)}, {"rows read", c.Rows}, {"bytes read", c.Bytes},
		{"cases judged", int64(c.Cases)}, {"of them generated", int64(c.Generated)},
	} {
		h.Figures = append(h.Figures, htmlFigure{f.name, grouped(f.n)})
	}
	ops, types := map[string]bool{}, map[string]bool{}
	for pair := range c.Filters {
		op, kind, _ := strings.Cut(pair, " ")
		ops[op], types[kind] = true, true
	}
	for _, kind := range []wire.Type{wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean, wire.TypeDate,
		wire.TypeDatetime, wire.TypeJSON, wire.TypeArray, wire.TypeReference} {
		h.Types = append(h.Types, string(kind))
	}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		if !slices.Contains(h.Types, kind) {
			h.Types = append(h.Types, kind)
		}
	}
	names := []string{}
	for _, op := range operatorsInOrder {
		names = append(names, string(op))
	}
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		if !slices.Contains(names, op) {
			names = append(names, op)
		}
	}
	if len(c.Filters) == 0 {
		return
	}
	for _, op := range names {
		row := htmlRow{Op: op}
		for _, kind := range h.Types {
			row.Cells = append(row.Cells, c.Filters[op+" "+kind])
		}
		h.Rows = append(h.Rows, row)
	}
}

// prose is a sentence whose parts between backticks are code.
func prose(text string) template.HTML {
	parts := strings.Split(legible(text), "`")
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

// anchor is the place of a check on the page.
func anchor(id string) string { return "check-" + id }

// percent is a share of the bar.
func percent(n, of int) string {
	if of == 0 {
		return "0"
	}
	return strconv.FormatFloat(float64(n)*100/float64(of), 'f', 3, 64)
}
