package conformance_test

import (
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
)

// TestRulesAreEscaped renders a rule with code and signs in every form.
func TestRulesAreEscaped(t *testing.T) {
	r := &conformance.Report{Mode: conformance.ModeLive, Outcomes: []conformance.Outcome{{
		Check:   conformance.Check{ID: "P0.1", Title: "a title with `code` & <signs>", Rules: []string{"filter-3", "rule-2"}},
		Verdict: conformance.Fail, Detail: "wrong",
	}}}
	require.Contains(t, r.Text(false, false), "  rule      “`in` finds the cells")
	require.Contains(t, r.Text(false, false), "\n            [rule-2]\n", "a rule that the rulebook lacks")
	body, err := r.HTML()
	require.NoError(t, err)
	require.Contains(t, string(body), "a title with <code>code</code> &amp; &lt;signs&gt;")
	require.Contains(t, string(body), "<code>in</code> finds the cells")
	require.Regexp(t, `#filter-3">filter-3</a>, <a href="[^"]*#rule-2">rule-2</a>`, string(body))
	body, err = r.JSON()
	require.NoError(t, err)
	require.Contains(t, string(body), "\"quote\": \"`in` finds the cells")
	require.Contains(t, string(body), "\"title\": \"a title with `code` & <signs>\"")
	body, err = r.JUnit()
	require.NoError(t, err)
	var root struct {
		Failure []string `xml:"testsuite>testcase>failure"`
	}
	require.NoError(t, xml.Unmarshal(body, &root))
	require.Len(t, root.Failure, 1)
	require.Contains(t, root.Failure[0], "rule:     `in` finds the cells")
	require.Contains(t, root.Failure[0], "rule:     [rule-2]\n")
}
