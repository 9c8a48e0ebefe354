package clocks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
)

// TestEveryTime requires that a clock fails only if it does so four times, and that the finding says
// what each of them came to.
func TestEveryTime(t *testing.T) {
	for _, test := range []struct {
		why      string
		received []string // by each attempt; empty: the clock is kept
		measured int
		want     string
	}{
		{"kept", []string{""}, 1, ""},
		{"kept once, after three attempts on a busy machine", []string{"3s", "4s", "5s", ""}, 4, ""},
		{"never kept", []string{"3s", "4s", "5s", "6s", "7s"}, 4, "measured 4 times: 3s; 4s; 5s; 6s"},
	} {
		measured := 0
		f := everyTime(func() *check.Finding {
			measured++
			if got := test.received[measured-1]; got != "" {
				return check.Differs("408 timeout after 1s", got, "the deadline is not enforced")
			}
			return nil
		})
		require.Equal(t, test.measured, measured, test.why)
		require.Equal(t, test.want != "", f.Failure(), test.why)
		if f.Failure() {
			require.Equal(t, test.want, f.Received, test.why)
		}
	}
}
