package session

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
)

// budgeted returns a session of live checks of some weights, the last of which is about two tenants.
func budgeted(t *testing.T, requests, tenants int, adapt bool, time time.Duration, weights ...int) *Session {
	t.Helper()
	s, err := New(Config{Token: "0123456789abcdef", Requests: requests, Adapt: adapt, Time: time})
	require.NoError(t, err)
	for len(s.Tenants) < tenants {
		s.Tenants = append(s.Tenants, s.Tenants[0])
	}
	for i, w := range weights {
		s.Checks = append(s.Checks, Check{ID: string(rune('a' + i)), Phase: 4, Weight: w, Two: i == len(weights)-1})
	}
	s.budget.fixed = !adapt
	s.divide(requests, func(*Check) bool { return true })
	return s
}

// spendAll sends what a check may send, each request taking so long, and returns how many there were.
func spendAll(t *testing.T, s *Session, at int, each time.Duration) (sent int) {
	t.Helper()
	run := &Run{Session: s, Check: &s.Checks[at], Cases: 1, share: s.share(&s.Checks[at])}
	for !run.Spent(1) && sent < 5000 {
		require.NoError(t, s.spend())
		time.Sleep(each)
		sent++
	}
	run.end()
	return sent
}

// TestSecondAccount requires that a second account takes nothing from the first, and adds at most a third.
func TestSecondAccount(t *testing.T) {
	weights := []int{100, 900, 140, 400}
	var first [2][]int
	for tenants := 1; tenants <= 2; tenants++ {
		s := budgeted(t, defaults.Requests, tenants, true, 0, weights...)
		for at := range weights {
			if at < len(weights)-1 || tenants > 1 {
				first[tenants-1] = append(first[tenants-1], spendAll(t, s, at, 0))
			}
		}
	}
	require.Equal(t, first[0], first[1][:len(first[0])])
	require.Positive(t, first[1][3])
	require.LessOrEqual(t, first[1][3], 500)

	s := budgeted(t, 400, 2, false, 0, weights...)
	all := 0
	for at := range weights {
		all += spendAll(t, s, at, 0)
	}
	require.LessOrEqual(t, all, 400, "a limit that the caller gave is for both accounts")
	require.Positive(t, s.budget.second.sent)
}

// TestTimeOfSlowChecks requires that one check whose requests take long has its part of the time, and that the
// fast ones behind it are asked all that they want: the pace of a whole read says nothing of a count.
func TestTimeOfSlowChecks(t *testing.T) {
	for _, c := range []struct {
		why          string
		time         time.Duration
		slow, fast   time.Duration // a request of the first check and of the others
		second, late bool          // the second check is asked in full; something was cut short
	}{
		{"all of it is fast", defaults.Timeout, time.Millisecond, time.Millisecond, true, false},
		{"whole reads take ten seconds", defaults.Timeout, 10 * time.Second, 50 * time.Millisecond, true, true},
		{"everything takes two seconds", defaults.Timeout, 2 * time.Second, 2 * time.Second, false, true},
		{"and there is an hour", time.Hour, 2 * time.Second, 2 * time.Second, true, false},
		{"whoever gives no time has all of it", 0, 10 * time.Second, 10 * time.Second, true, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := budgeted(t, defaults.Requests, 1, true, c.time, 100, 900, 140, 1)
				began := time.Now()
				slow, second, third := spendAll(t, s, 0, c.slow), spendAll(t, s, 1, c.fast), spendAll(t, s, 2, c.fast)
				require.GreaterOrEqual(t, slow, 5)
				require.Equal(t, c.second, second >= 900, "%d", second)
				require.Positive(t, third)
				require.Equal(t, c.late, s.Late() > 0)
				if c.time > 0 {
					require.LessOrEqual(t, time.Since(began), max(c.time*11/10, time.Duration(defaults.FewRequests)*c.fast*11/10))
					require.True(t, !c.late || s.Late() > time.Since(began))
				}
			})
		})
	}
}

// TestFewRequestsAreSent requires that a very slow connector is asked a little by every check.
func TestFewRequestsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := budgeted(t, defaults.Requests, 1, true, defaults.Timeout, 100, 900, 140, 1)
		all := 0
		for at := range 3 {
			sent := spendAll(t, s, at, time.Minute)
			require.Greater(t, sent, 5)
			all += sent
		}
		require.InDelta(t, defaults.FewRequests, all, 50)
	})
}

// TestFacetsShare requires that no facet of a check takes the requests of those behind it, and that what one leaves, or
// cannot ask, goes to them.
func TestFacetsShare(t *testing.T) {
	s := budgeted(t, 100, 1, false, 0, 20, 20)
	var sent []int
	facet := func(weight, most int, needs func(*declared.Document) string) Check {
		return Check{Weight: weight, Needs: needs, Judge: func(run *Run) *check.Finding {
			sent = append(sent, 0)
			for last := len(sent) - 1; sent[last] < most && !run.Spent(1); sent[last]++ {
				require.NoError(t, run.spend())
				run.Cases++
			}
			return nil
		}}
	}
	excluded := func(*declared.Document) string { return "it is not declared" }
	all := math.MaxInt
	merged := Merge(Check{ID: "a", Phase: 4},
		[]Check{facet(10, all, nil), facet(30, all, nil), facet(10, 2, nil), facet(50, all, excluded), facet(10, all, nil)})
	merged.Weight = s.Checks[0].Weight
	s.Checks[0] = merged
	run := &Run{Session: s, Ctx: t.Context(), Check: &s.Checks[0], share: s.share(&s.Checks[0])}
	require.Equal(t, 100, run.Allowance())
	require.Nil(t, merged.Judge(run))
	require.Equal(t, []int{17, 50, 2, 31}, sent)
}

// TestCutShort requires that a check that was cut short before it could say anything is not judged.
func TestCutShort(t *testing.T) {
	for _, c := range []struct {
		why    string
		short  bool
		sent   int
		judged bool
	}{
		{"it has asked all that it had", false, 2, true},
		{"it was cut short at once", true, 2, false},
		{"it has asked enough", true, 24, true},
	} {
		s := budgeted(t, 300, 1, false, 0, 900, 1)
		run := &Run{Session: s, Check: &s.Checks[0], share: s.share(&s.Checks[0]), short: c.short}
		for range c.sent {
			require.NoError(t, s.spend())
		}
		require.Equal(t, c.judged, run.overspent(nil) == nil, c.why)
	}
	s := budgeted(t, 0, 1, false, 0, 900, 1)
	run := &Run{Session: s, Check: &s.Checks[0], share: s.share(&s.Checks[0])}
	require.Equal(t, math.MaxInt32, run.Allowance(), "without a limit")
}
