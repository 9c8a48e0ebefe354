package conformance

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
)

// JUnit returns the report in the XML that CI servers show as test results: a suite
// for each phase, a case for each check. A skipped check is skipped and says why;
// advice is a passed case that has something to say. A run that is not green for
// another reason than a failed check, such as a problem or a check that was blocked,
// has one more suite, whose only case is an error: so no server shows a run green
// that is not.
func (r *Report) JUnit() ([]byte, error) {
	s, v := r.Summary(), r.verdict()
	root := junitSuites{
		Name: "conformance", Tests: s.Planned, Failures: s.Failed, Skipped: s.Skipped,
		Time: seconds(r.Duration), Timestamp: stamp(r.Began),
	}
	properties := []junitProperty{
		{"endpoint", check.Legible(r.Endpoint)}, {"slug", check.Legible(r.Slug)},
		{"mode", string(r.Mode)}, {"seed", strconv.FormatUint(r.Seed, 10)},
		{"verdict", v.words}, {"judged", r.coverage.Basis.Text},
	}
	for _, p := range r.byPhase() {
		suite := junitSuite{Name: p.Name, Timestamp: root.Timestamp, Properties: properties}
		total := time.Duration(0)
		for _, o := range p.Outcomes {
			total += o.Duration
			suite.add(o, r.Finding(&o))
		}
		suite.Time = seconds(total)
		root.Suites = append(root.Suites, suite)
	}
	if n := len(root.Suites); n > 0 && len(r.coverage.Tables) > 0 {
		root.Suites[n-1].Out = &junitText{r.coverageText()}
	}
	if v.problem != "" {
		root.Tests++
		root.Errors++
		root.Suites = append(root.Suites, junitSuite{
			Name: "Run", Tests: 1, Errors: 1, Time: seconds(0), Timestamp: root.Timestamp,
			Properties: properties, Cases: []junitCase{{
				ClassName: "conformance.run", Name: "the run comes to its end", Time: seconds(0),
				Error: &junitProblem{Message: check.Legible(v.problem), Type: v.words, Text: check.Legible(v.problem)},
			}},
		})
	}
	body, err := xml.MarshalIndent(&root, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(body, '\n')...), nil
}

// add adds the case of a check, with all that a report says of it.
func (s *junitSuite) add(o Outcome, all string) {
	c := junitCase{ClassName: fmt.Sprintf("conformance.phase%d", o.Phase), Name: o.ID + " " + o.Title, Time: seconds(o.Duration)}
	s.Tests++
	switch o.Verdict {
	case Fail:
		s.Failures++
		c.Failure = &junitProblem{Message: check.Legible(o.Detail), Type: o.ID, Text: all}
		if o.Request != nil {
			c.Out = &junitText{check.Legible(o.Request.Curl())}
		}
	case Advise:
		c.Out = &junitText{"advice: " + check.Legible(o.Detail) + "\n" + all}
	case Skip:
		s.Skipped++
		c.Skipped = &junitProblem{Message: check.Legible(fmt.Sprintf("%s: %s", o.Reason, o.Detail))}
	}
	s.Cases = append(s.Cases, c)
}

// Finding returns all that a report says of how a check ended: what was expected and
// received, the rules, what to do, and the request as a line to paste, one line each.
func (r *Report) Finding(o *Outcome) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-10s%s\n", name+":", check.Legible(text))
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
	for _, id := range o.Rules {
		rule, _ := rules.Lookup(id)
		line("rule", strings.TrimSpace(rule.Text+" ["+id+"]"))
	}
	line("seed", strconv.FormatUint(r.seed(o), 10))
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
