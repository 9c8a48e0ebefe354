package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAttribute names the failed check that blocks the others.
func TestAttribute(t *testing.T) {
	failed := func(id string) Outcome { return Outcome{Check: Check{ID: id}, Verdict: Fail} }
	passed := func(id string) Outcome { return Outcome{Check: Check{ID: id}, Verdict: Pass} }
	skipped := func(id string) Outcome { return Outcome{Check: Check{ID: id}, Verdict: Skip, Reason: NotDeclared} }
	blocked := func(id, by string) Outcome {
		return Outcome{Check: Check{ID: id}, Verdict: Skip, Reason: Blocked, blockedBy: by, Detail: "x", Received: "y", Request: &Request{}}
	}
	advice := func(o Outcome) Outcome {
		o.Advice = true
		return o
	}
	for _, c := range []struct {
		why  string
		list []Outcome
		want []string // for each outcome: the check that blocks it, "fail" or ""
	}{
		{"a failed check stands in the way", []Outcome{failed("a"), blocked("b", "a"), blocked("c", "a")}, []string{"fail", "a", "a"}},
		{"a chain leads to the failed check", []Outcome{failed("a"), blocked("b", "a"), blocked("c", "b")}, []string{"fail", "a", "a"}},
		{"a check that passed fails with what another has found", []Outcome{passed("a"), blocked("b", "a"), blocked("c", "a")},
			[]string{"fail", "a", "a"}},
		{"a check that was skipped does not", []Outcome{skipped("a"), blocked("b", "a"), blocked("c", "a")}, []string{"", "fail", "b"}},
		{"what advice has found fails nothing", []Outcome{passed("a"), advice(blocked("B", "a"))}, []string{"", "a"}},
		{"so has the first to name a check that was not planned",
			[]Outcome{blocked("b", "x"), blocked("c", "y"), blocked("d", "x"), blocked("e", "d")}, []string{"fail", "fail", "b", "b"}},
		{"a circle ends", []Outcome{blocked("a", "b"), blocked("b", "a")}, []string{"fail", "a"}},
		{"advice does not fail", []Outcome{advice(blocked("A", "x")), blocked("b", "x")}, []string{"x", "fail"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			attribute(c.list)
			for i, o := range c.list {
				got := o.blockedBy
				if o.Verdict == Fail {
					got = "fail"
				}
				require.Equal(t, c.want[i], got, "%s: %+v", o.ID, o)
				if o.Verdict == Fail && o.Detail != "" {
					require.Equal(t, "x y", o.Detail+" "+o.Received)
					require.NotNil(t, o.Request)
				}
				if o.Reason == Blocked {
					require.Equal(t, "by "+got+": x", o.Detail)
					require.Nil(t, o.Request)
				}
			}
		})
	}
}
