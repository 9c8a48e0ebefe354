package conformance_test

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew, to be reviewed")

// golden compares text with a committed file. A missing file fails.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := testkit.Must(os.ReadFile(path))(t, "no golden file: run this test with -update and review it")
	require.Equal(t, string(want), got, "the report has changed: run this test with -update and review it")
}

func TestReportJSON(t *testing.T) {
	body := testkit.Must(sample().JSON())(t)
	golden(t, "report.json", string(body))

	var got struct {
		Mode    string
		Summary map[string]int
		// The shape of a status chip: what the protocol says of a failure.
		Failures []struct{ ID, Title, Detail string }
		Checks   []struct{ ID, Verdict string }
		Exit     int
	}
	require.NoError(t, json.Unmarshal(body, &got))
	require.Equal(t, "fixture", got.Mode)
	s := got.Summary
	require.Equal(t, s["planned"], s["pass"]+s["fail"]+s["skip"]+s["advice"])
	require.Equal(t, s["planned"], len(got.Checks))
	require.Equal(t, s["fail"], len(got.Failures))
	require.Equal(t, "P1.4", got.Failures[0].ID)
	require.Equal(t, "a 401 leaks nothing", got.Failures[0].Title)
	require.Equal(t, "the body of a 401 names a table", got.Failures[0].Detail)
	require.Equal(t, conformance.ExitFail, got.Exit)

	empty := testkit.Must((&conformance.Report{Mode: conformance.ModeLive, Problem: "no answer"}).JSON())(t)
	require.NotContains(t, string(empty), "null", "an empty list is a list")
	require.Contains(t, string(empty), `"problem": "no answer"`)
}

// The subset of JUnit's XML that CI servers read.
type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Suite    []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
		Case     []struct {
			Name    string    `xml:"name,attr"`
			Class   string    `xml:"classname,attr"`
			Time    string    `xml:"time,attr"`
			Failure []problem `xml:"failure"`
			Error   []problem `xml:"error"`
			Skipped []problem `xml:"skipped"`
			Out     string    `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func TestReportJUnit(t *testing.T) {
	for _, c := range []struct {
		name   string
		why    string
		report *conformance.Report
		errors int
	}{
		{"some of everything", "failures, skips and hostile text", sample(), 0},
		{"green", "no error and no failure", green(), 0},
		{"not run", "a server must not show it green", &conformance.Report{Problem: "no answer for the document"}, 1},
		{"blocked only", "the run is red although no planned check failed", &conformance.Report{Outcomes: []conformance.Outcome{
			{Check: conformance.Check{ID: "P2.1", Phase: 2}, Verdict: conformance.Skip, Reason: conformance.Blocked,
				Detail: "by P0.5: it does not parse"}}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := testkit.Must(c.report.JUnit())(t)
			require.NotRegexp(t, "[\x00-\x08\x0b-\x1f]", string(body), "no character that XML cannot hold")
			var root suites
			require.NoError(t, xml.Unmarshal(body, &root))
			s := c.report.Summary()
			require.Equal(t, s.Planned+c.errors, root.Tests)
			require.Equal(t, s.Failed, root.Failures)
			require.Equal(t, s.Skipped, root.Skipped)
			require.Equal(t, c.errors, root.Errors)
			var tests, failures, errors, skipped int
			for _, suite := range root.Suite {
				require.Len(t, suite.Case, suite.Tests)
				tests, failures, errors, skipped = tests+suite.Tests, failures+suite.Failures, errors+suite.Errors, skipped+suite.Skipped
				for _, test := range suite.Case {
					testkit.Must(strconv.ParseFloat(test.Time, 64))(t)
					require.NotEmpty(t, test.Name)
					require.NotEmpty(t, test.Class)
					for _, f := range test.Failure {
						require.NotEmpty(t, f.Message)
						require.Regexp(t, "rule: +`in` .* \\[filter-3\\]\n", f.Text)
						require.Contains(t, f.Text, "seed")
					}
					for _, f := range test.Skipped {
						require.NotEmpty(t, f.Message)
					}
				}
			}
			require.Equal(t, []int{root.Tests, root.Failures, root.Errors, root.Skipped}, []int{tests, failures, errors, skipped})
			if c.report.Exit() != conformance.ExitPass {
				require.Positive(t, root.Failures+root.Errors)
			}
		})
	}
	body := testkit.Must(sample().JUnit())(t)
	var root suites
	require.NoError(t, xml.Unmarshal(body, &root))
	require.Equal(t, "Phase 2: Fixture corpus", root.Suite[2].Name)
	for _, test := range root.Suite[2].Case {
		if len(test.Failure) > 0 {
			require.Contains(t, test.Out, "curl -sSi -N", "the line to paste")
			require.Contains(t, test.Out, `]]>`, "as it stands")
		}
	}
}

func TestReportHTML(t *testing.T) {
	page := string(testkit.Must(sample().HTML())(t))
	linked := regexp.MustCompile(`<a (class="[a-z ]+" )?` +
		`href="https://github.com/connectorsdk/connector-sdk-go/blob/main/docs/(checks|protocol)\.md#[a-z0-9-]+"`)
	require.NotRegexp(t, `(?i)(src|href)="?(https?:)?//`, linked.ReplaceAllString(page, ""), "nothing is fetched, and no link leads elsewhere")
	require.GreaterOrEqual(t, len(linked.FindAllString(page, -1)), len(sample().Outcomes), "each check's page, and the rules that failed")
	require.NotRegexp(t, `(?i)url\(|@import|<link|<iframe|<img`, page, "nothing is fetched")
	require.NotContains(t, page, "\x1b")
	require.NotContains(t, page, "\u202e", "no text that turns the page around")
	require.Contains(t, page, `\u001b[31mno access to customers`)
	require.Contains(t, page, "It&#39;\\&#39;&#39;s &lt;b&gt;", "the request, as text")
	for _, o := range sample().Outcomes {
		require.Contains(t, page, ">"+o.ID+"</", "a tile for each check")
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`\bid="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		require.False(t, ids[m[1]], "id %s stands twice", m[1])
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		require.True(t, ids[m[1]], "%s leads nowhere", m[1])
	}
	for name, r := range map[string]*conformance.Report{"green": green(), "empty": {Problem: "no answer"}} {
		body := testkit.Must(r.HTML())(t, name)
		require.Contains(t, string(body), "</html>", name)
		require.NotContains(t, string(body), `id="failures"`, name)
	}
}

func TestReportText(t *testing.T) {
	golden(t, "report.txt", sample().Text(false, false))
	require.NotContains(t, sample().Text(false, false), "\x1b")
	coloured := sample().Text(true, false)
	require.Contains(t, coloured, "\x1b[31mFAIL\x1b[0m")
	plain := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured, "")
	require.Equal(t, sample().Text(false, false), plain, "no escape is the connector's")
	golden(t, "green.txt", green().Text(false, false))
	golden(t, "full.txt", sample().Text(false, true))
	require.Contains(t, strings.Join(strings.Fields(green().Text(false, false)), " "),
		"CONFORMANT: no check failed; judged 41 rows of 1 table, 3 of 6 fields x operators (2 without data), 5 of 6 values of columns with few (exit 0)")
}

func TestReportSaysWhy(t *testing.T) {
	one := func(v conformance.Verdict, reason conformance.Reason, detail string) conformance.Outcome {
		return conformance.Outcome{Check: conformance.Check{ID: "P1.6", Title: "the token is accepted"}, Verdict: v,
			Reason: reason, Detail: detail}
	}
	const token = "The connector rejected the token"
	refused := func(v conformance.Verdict) conformance.Outcome { return conformance.Refusing(one(v, "", token), token) }
	// tables returns a report of a run that judged one table of fourteen.
	tables := func(mode conformance.Mode, more ...conformance.Outcome) conformance.Report {
		r := conformance.Report{Mode: mode, Outcomes: append(more, one(conformance.Pass, "", ""))}
		r.Coverage().Basis = conformance.Basis{Rows: 1, Unjudged: 13, Text: "judged 1 row"}
		for i := range 14 {
			table := conformance.TableCoverage{Name: fmt.Sprint("t", i)}
			if i > 0 {
				table.Unjudged = "none of its rows were read"
			}
			r.Coverage().Tables = append(r.Coverage().Tables, table)
		}
		return r
	}
	for _, c := range []struct {
		why    string
		report conformance.Report
		exit   int
		says   string
	}{
		{"all is well", conformance.Report{Outcomes: []conformance.Outcome{one(conformance.Pass, "", "")}}, 0,
			"CONFORMANT: no check failed (exit 0)"},
		{"advice changes nothing", conformance.Report{Outcomes: []conformance.Outcome{one(conformance.Advise, "",
			"x")}}, 0, "CONFORMANT: no check failed (exit 0)"},
		{"a failure", conformance.Report{Outcomes: []conformance.Outcome{one(conformance.Fail, "", "x")}}, 1,
			"NOT CONFORMANT: 1 check failed (exit 1)"},
		{"a failure beats a problem, which is told",
			conformance.Report{Problem: "the run was interrupted", Outcomes: []conformance.Outcome{one(conformance.Fail, "", "x")}}, 1,
			"NOT CONFORMANT: 1 check failed; and the run was interrupted (exit 1)"},
		{"a problem", conformance.Report{Problem: "the run was interrupted",
			Outcomes: []conformance.Outcome{one(conformance.Pass, "", "")}}, 2, "NOT GRADED: the run was interrupted (exit 2)"},
		{"the token", conformance.Report{Problem: token, Outcomes: []conformance.Outcome{refused(conformance.Fail)}}, 1,
			"NOT GRADED: " + token + " (exit 1)"},
		{"the token, and a fault that shows without one",
			conformance.Report{Problem: token, Outcomes: []conformance.Outcome{refused(conformance.Fail), one(conformance.Fail, "", "x")}}, 1,
			"NOT CONFORMANT: 2 checks failed; and " + token + " (exit 1)"},
		{"the token, where its own check is not planned",
			conformance.Report{Problem: token, Outcomes: []conformance.Outcome{refused(conformance.Skip)}}, 2,
			"NOT GRADED: " + token + " (exit 2)"},
		{"checks that were left out", conformance.Report{Outcomes: []conformance.Outcome{one(conformance.Pass, "", ""),
			one(conformance.Skip, conformance.NotReached, "x")}}, 0, "NOT WHOLE: no check failed, but 1 check was left out: P1.6 (exit 0)"},
		{"a failure is worse than what was left out", conformance.Report{Outcomes: []conformance.Outcome{one(conformance.Fail, "", ""),
			one(conformance.Skip, conformance.NotReached, "x")}}, 1, "NOT CONFORMANT: 1 check failed (exit 1)"},
		{"tables that were not judged", tables(conformance.ModeLive), 0,
			"NOT WHOLE: no check failed, but 13 tables were not judged: " +
				"\"t1\", \"t2\", \"t3\", \"t4\", \"t5\", \"t6\", \"t7\", \"t8\", \"t9\", \"t10\" and 3 more; judged 1 row (exit 0)"},
		{"checks and tables of mode both", tables(conformance.ModeBoth, one(conformance.Skip, conformance.NotReached, "x")), 0,
			"NOT WHOLE: no check failed, but 1 check was left out: P1.6; and 13 tables were not judged: \"t1\", "},
		{"which tables the corpus is judged by is settled", tables(conformance.ModeFixture), 0,
			"CONFORMANT: no check failed; judged 1 row (exit 0)"},
		{"a selection", conformance.Report{Available: 9, Outcomes: []conformance.Outcome{one(conformance.Pass, "", "")}}, 0,
			"NO SELECTED CHECK FAILED: 1 of the 9 checks of the mode ran (exit 0)"},
		{"a selection that fails", conformance.Report{Available: 9, Outcomes: []conformance.Outcome{one(conformance.Fail, "", "x")}}, 1,
			"NOT CONFORMANT: 1 check failed (exit 1)"},
		{"queries in SQL alone",
			conformance.Report{DialectOnly: "tsql", Outcomes: []conformance.Outcome{one(conformance.Pass, "", "")}}, 0,
			"CONFORMANT AS FAR AS IT CAN BE JUDGED: no check failed; queries are taken in the dialect \"tsql\" alone"},
		{"nothing", conformance.Report{Outcomes: []conformance.Outcome{one(conformance.Skip, conformance.NotDeclared,
			"x")}}, 2, "NOT GRADED: nothing was checked (exit 2)"},
	} {
		t.Run(c.why, func(t *testing.T) {
			require.Equal(t, c.exit, c.report.Exit())
			require.Contains(t, strings.Join(strings.Fields(c.report.Text(false, false)), " "), c.says)
			require.Equal(t, c.exit == 0, c.report.Err() == nil)
			body := testkit.Must(c.report.JUnit())(t)
			graded := !strings.HasPrefix(c.says, "NOT GRADED")
			require.Equal(t, !graded || c.report.Problem != "", strings.Contains(string(body), "<error "), "an error of the run")
			body = testkit.Must(c.report.JSON())(t)
			require.Equal(t, !graded, strings.Contains(string(body), `"verdict": "not run"`))
			require.Equal(t, strings.HasPrefix(c.says, "NOT WHOLE"), strings.Contains(string(body), `"leftOut": "`))
		})
	}
}

// TestRulesAreEscaped renders a rule with code and signs in every form.
func TestRulesAreEscaped(t *testing.T) {
	r := &conformance.Report{Mode: conformance.ModeLive, Outcomes: []conformance.Outcome{{
		Check:   conformance.Check{ID: "P0.1", Title: "a title with `code` & <signs>", Rules: []string{"filter-3", "rule-2"}},
		Verdict: conformance.Fail, Detail: "wrong",
	}}}
	require.Contains(t, r.Text(false, false), "  rule      “`in` finds the cells")
	require.Contains(t, r.Text(false, false), "\n            [rule-2]\n", "a rule that the rulebook lacks")
	body := testkit.Must(r.HTML())(t)
	require.Contains(t, string(body), "a title with <code>code</code> &amp; &lt;signs&gt;")
	require.Contains(t, string(body), "<code>in</code> finds the cells")
	require.Regexp(t, `#filter-3">filter-3</a>, <a href="[^"]*#rule-2">rule-2</a>`, string(body))
	body = testkit.Must(r.JSON())(t)
	require.Contains(t, string(body), "\"quote\": \"`in` finds the cells")
	require.Contains(t, string(body), "\"title\": \"a title with `code` & <signs>\"")
	body = testkit.Must(r.JUnit())(t)
	var root struct {
		Failure []string `xml:"testsuite>testcase>failure"`
	}
	require.NoError(t, xml.Unmarshal(body, &root))
	require.Len(t, root.Failure, 1)
	require.Contains(t, root.Failure[0], "rule:     `in` finds the cells")
	require.Contains(t, root.Failure[0], "rule:     [rule-2]\n")
}
