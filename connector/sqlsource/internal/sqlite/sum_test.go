package sqlite

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

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
