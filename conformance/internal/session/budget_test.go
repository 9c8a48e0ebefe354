package session

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
)

// TestBudgetFollowsThePace requires that a limit that nobody gave falls while the connector is
// slow, never below what every check needs, and rises again when it is fast.
func TestBudgetFollowsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{}
		s.Requests = defaults.Requests
		s.divide(s.Requests, nil)
		send := func(each time.Duration) {
			for range recentRequests + 1 {
				require.NoError(t, s.spend())
				time.Sleep(each)
			}
			s.adapt(s.sentRequests())
		}
		send(time.Millisecond)
		require.Equal(t, defaults.Requests, s.Budget())
		send(2 * time.Second)
		slow := s.Budget()
		require.Less(t, slow, defaults.Requests)
		require.GreaterOrEqual(t, slow, defaults.FewRequests)
		send(time.Millisecond)
		require.Equal(t, defaults.Requests, s.Budget(), "it was slow for a while")

		s.budget.fixed = true
		send(time.Minute)
		require.Equal(t, defaults.Requests, s.Budget(), "a limit that the caller gave is kept")
	})
}
