package conformance_test

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// TestReportJUnit compares reports with files, and the sums of each with its summary. A server must not show a run
// green that is not.
func TestReportJUnit(t *testing.T) {
	blocked := conformance.Outcome{Check: conformance.Check{ID: "P2.1", Phase: 2},
		Verdict: conformance.Skip, Reason: conformance.Blocked, Detail: "by P0.5: it does not parse"}
	for file, c := range map[string]struct {
		report *conformance.Report
		errors int
	}{
		"junit-some-of-everything.xml": {sample(), 0},
		"junit-green.xml":              {green(), 0},
		"junit-not-run.xml":            {&conformance.Report{Problem: "no answer for the document"}, 1},
		"junit-blocked-only.xml":       {&conformance.Report{Outcomes: []conformance.Outcome{blocked}}, 1},
	} {
		body := testkit.Must(c.report.JUnit())(t)
		golden(t, file, string(body))
		require.NoError(t, xml.Unmarshal(body, new(struct{ XMLName xml.Name })), "no character that XML cannot hold")
		s := c.report.Summary()
		sums := fmt.Sprintf(`tests="%d" failures="%d" errors="%d" skipped="%d" `,
			s.Planned+c.errors, s.Failed, c.errors, s.Skipped)
		require.Contains(t, string(body), `<testsuites name="conformance" `+sums, file)
		require.Equal(t, c.report.Exit() == conformance.ExitPass, s.Failed+c.errors == 0, file)
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
	const token = "The connector rejected the token"
	for _, c := range testkit.Cases[struct {
		Why    string
		Report conformance.Report
		Token  bool // the first check found that the connector rejects it
		Tables bool // one table of fourteen was judged
		Exit   int
		Says   string
	}](t, "testdata/verdicts.json") {
		t.Run(c.Why, func(t *testing.T) {
			for i := range c.Report.Outcomes {
				c.Report.Outcomes[i].Check = conformance.Check{ID: "P1.6", Title: "the token is accepted"}
			}
			if c.Token {
				c.Report.Problem, c.Report.Outcomes[0].Detail = token, token
				c.Report.Outcomes[0] = conformance.Refusing(c.Report.Outcomes[0], token)
			}
			if coverage := c.Report.Coverage(); c.Tables {
				coverage.Basis = conformance.Basis{Rows: 1, Unjudged: 13, Text: "judged 1 row"}
				coverage.Tables = []conformance.TableCoverage{{Name: "t0"}}
				for i := range 13 {
					coverage.Tables = append(coverage.Tables,
						conformance.TableCoverage{Name: fmt.Sprint("t", i+1), Unjudged: "none of its rows were read"})
				}
			}
			require.Equal(t, c.Exit, c.Report.Exit())
			require.Contains(t, strings.Join(strings.Fields(c.Report.Text(false, false)), " "), c.Says)
			require.Equal(t, c.Exit == 0, c.Report.Err() == nil)
			body := testkit.Must(c.Report.JUnit())(t)
			graded := !strings.HasPrefix(c.Says, "NOT GRADED")
			require.Equal(t, !graded || c.Report.Problem != "", strings.Contains(string(body), "<error "), "an error of the run")
			body = testkit.Must(c.Report.JSON())(t)
			require.Equal(t, !graded, strings.Contains(string(body), `"verdict": "not run"`))
			require.Equal(t, strings.HasPrefix(c.Says, "NOT WHOLE"), strings.Contains(string(body), `"leftOut": "`))
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
