package render

import (
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRulesAreEscaped renders a rule with code and signs in every form.
func TestRulesAreEscaped(t *testing.T) {
	r := &Report{Mode: "live", Exit: ExitFail, Summary: Summary{Planned: 1, Failed: 1}, Outcomes: []Outcome{{
		ID: "P0.1", Title: "a title with `code`", Verdict: fail, Detail: "wrong",
		Rules: []Rule{{"rule-1", "a sentence with `code` & <signs>"}, {"rule-2", ""}},
	}}}
	require.Contains(t, r.Text(false, false), "  rule      “a sentence with `code` & <signs>” [rule-1]\n            [rule-2]\n")
	body, err := r.HTML()
	require.NoError(t, err)
	require.Contains(t, string(body), "a sentence with <code>code</code> &amp; &lt;signs&gt;")
	require.Contains(t, string(body), "rule-1, rule-2")
	body, err = r.JSON()
	require.NoError(t, err)
	require.Contains(t, string(body), "\"quote\": \"a sentence with `code` & <signs>\"")
	body, err = r.JUnit()
	require.NoError(t, err)
	var root struct {
		Failure []string `xml:"testsuite>testcase>failure"`
	}
	require.NoError(t, xml.Unmarshal(body, &root))
	require.Len(t, root.Failure, 1)
	require.Contains(t, root.Failure[0], "rule:     a sentence with `code` & <signs> [rule-1]\n")
}
