package render

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// JUnit returns the report as JUnit's XML.
func (r *Report) JUnit() ([]byte, error) {
	s := r.Summary
	root := junitSuites{
		Name: "conformance", Tests: s.Planned, Failures: s.Failed, Skipped: s.Skipped,
		Time: seconds(r.Duration), Timestamp: stamp(r.Began),
	}
	properties := []junitProperty{
		{"endpoint", Legible(r.Endpoint)}, {"slug", Legible(r.Slug)}, {"mode", r.Mode}, {"seed", strconv.FormatUint(r.Seed, 10)},
		{"verdict", r.verdict()}, {"judged", r.Coverage.Basis.Text},
	}
	for _, p := range r.byPhase() {
		suite := junitSuite{Name: p.Name, Timestamp: root.Timestamp, Properties: properties}
		total := time.Duration(0)
		for _, o := range p.Outcomes {
			total += o.Duration
			suite.add(o, r.seed(&o))
		}
		suite.Time = seconds(total)
		root.Suites = append(root.Suites, suite)
	}
	if n := len(root.Suites); n > 0 && len(r.Coverage.Tables) > 0 {
		root.Suites[n-1].Out = &junitText{r.CoverageText()}
	}
	if r.Exit != ExitPass && s.Failed == 0 || r.Problem != "" {
		root.Tests++
		root.Errors++
		root.Suites = append(root.Suites, junitSuite{
			Name: "Run", Tests: 1, Errors: 1, Time: seconds(0), Timestamp: root.Timestamp,
			Properties: properties, Cases: []junitCase{{
				ClassName: "conformance.run", Name: "the run comes to its end", Time: seconds(0),
				Error: &junitProblem{Message: Legible(r.why()), Type: r.verdict(), Text: Legible(r.why())},
			}},
		})
	}
	body, err := xml.MarshalIndent(&root, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(body, '\n')...), nil
}

// add adds the case of a check.
func (s *junitSuite) add(o Outcome, seed uint64) {
	c := junitCase{ClassName: fmt.Sprintf("conformance.phase%d", o.Phase), Name: o.ID + " " + o.Title, Time: seconds(o.Duration)}
	s.Tests++
	switch o.Verdict {
	case fail:
		s.Failures++
		c.Failure = &junitProblem{Message: Legible(o.Detail), Type: o.ID, Text: o.Lines(seed)}
		if o.Request != nil {
			c.Out = &junitText{Legible(o.Request.Curl())}
		}
	case advise:
		c.Out = &junitText{"advice: " + Legible(o.Detail) + "\n" + o.Lines(seed)}
	case skip:
		s.Skipped++
		c.Skipped = &junitProblem{Message: Legible(fmt.Sprintf("%s: %s", o.Reason, o.Detail))}
	}
	s.Cases = append(s.Cases, c)
}

// Lines returns everything about a finding, one line each.
func (o *Outcome) Lines(seed uint64) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-10s%s\n", name+":", Legible(text))
		}
	}
	line("found", o.Detail)
	line("expected", o.Expected)
	line("received", o.Received)
	if o.Failed > 1 {
		line("cases", fmt.Sprintf("%d of %d failed; this is the first", o.Failed, o.Cases))
	}
	if o.Request != nil {
		line("curl", o.Request.Curl())
	}
	line("fix", o.Fix)
	for _, r := range o.Rules {
		line("rule", strings.TrimSpace(r.Text+" ["+r.ID+"]"))
	}
	line("seed", strconv.FormatUint(seed, 10))
	return b.String()
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }

type junitSuites struct {
	XMLName   xml.Name     `xml:"testsuites"`
	Name      string       `xml:"name,attr"`
	Tests     int          `xml:"tests,attr"`
	Failures  int          `xml:"failures,attr"`
	Errors    int          `xml:"errors,attr"`
	Skipped   int          `xml:"skipped,attr"`
	Time      string       `xml:"time,attr"`
	Timestamp string       `xml:"timestamp,attr"`
	Suites    []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        *junitText      `xml:"system-out"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	ClassName string        `xml:"classname,attr"`
	Name      string        `xml:"name,attr"`
	Time      string        `xml:"time,attr"`
	Skipped   *junitProblem `xml:"skipped"`
	Error     *junitProblem `xml:"error"`
	Failure   *junitProblem `xml:"failure"`
	Out       *junitText    `xml:"system-out"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

type junitText struct {
	Text string `xml:",cdata"`
}
