package discover

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBeforeDeadline keeps the more time for the answer the more tables it lists: of four
// thousand, five seconds leave three to read rows, or the answer would be a timeout.
func TestBeforeDeadline(t *testing.T) {
	for _, c := range []struct {
		tables     int
		left, soon time.Duration
	}{
		{1, time.Minute, 54 * time.Second},
		{1, 5 * time.Second, 4500 * time.Millisecond},
		{4000, 5 * time.Second, 3 * time.Second},
		{4000, time.Minute, 54 * time.Second},
		{100_000, 10 * time.Second, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.left)
			defer cancel()
			soon, cancel := beforeDeadline(ctx, time.Now(), c.tables)
			defer cancel()
			deadline, _ := soon.Deadline()
			require.Equal(t, c.soon, time.Until(deadline), "%d tables, %v", c.tables, c.left)
		})
	}
}
