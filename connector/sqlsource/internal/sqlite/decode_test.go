package sqlite

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCivil compares what is read of days and times with what the standard library reads.
func TestCivil(t *testing.T) {
	days := []string{"2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "0000-02-29", "9999-12-31",
		"2024-00-10", "2024-13-10", "2024-04-31", "2024-01-00", "2024-01-32",
		"2024-1-011", "2024/01/01", "20x4-01-01", "-024-01-01", "2024-01-0 ", "2024-+1-01"}
	clocks := []string{"00:00:00", "23:59:59", "24:00:00", "12:60:00", "12:00:60", "1:00:000", "12-00-00", "12:00:0x", "12:00:0.", "-1:00:00"}
	for _, day := range days {
		for _, clock := range clocks {
			want, err := time.Parse(time.DateTime, day+" "+clock)
			at, ok := civil(day, clock)
			require.Equal(t, err == nil, ok, "%s %s", day, clock)
			if ok {
				require.True(t, want.Equal(at), "%s %s: %v", day, clock, at)
			}
			at, ok = instant(day + "T" + clock + "Z")
			require.Equal(t, err == nil, ok, "%sT%sZ", day, clock)
			if ok {
				require.True(t, want.Equal(at))
			}
		}
		_, err := time.Parse(time.DateOnly, day)
		_, ok := instant(day)
		require.Equal(t, err == nil, ok, day)
	}
	for _, s := range []string{"", "2024", "2024-02-29 ", "2024-02-29 10:00", "2024-02-29x10:00:00"} {
		_, ok := instant(s)
		require.False(t, ok, s)
	}
}

// TestSumOfParts adds what SQLite adds in two parts.
func TestSumOfParts(t *testing.T) {
	for _, c := range []struct {
		high, low int64
		want      string
	}{
		{0, 0, "0"}, {9223372036, 854775807, "9223372036854775807"}, {-9223372036, -854775808, "-9223372036854775808"},
		{18446744073, 1709551614, "18446744074709551614"}, {1, -1, "999999999"},
		{math.MaxInt64, 0, strconv.FormatInt(math.MaxInt64, 10) + "000000000"},
	} {
		sum, ok := sumOfParts([]any{c.high, c.low})
		require.True(t, ok)
		require.Equal(t, c.want, sum.String())
	}
}
