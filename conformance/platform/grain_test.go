package platform_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPeriods checks the keys of groups by period: each is a day that exists, and the first
// of its period. Any other key is a group that is wrong, or two that are one.
func TestPeriods(t *testing.T) {
	for _, c := range []struct {
		grain wire.Grain
		key   string
		ok    bool
	}{
		{wire.GrainMonth, `"2024-02-01"`, true},
		{wire.GrainMonth, `"2024-02-15"`, false},
		{wire.GrainMonth, `"2024-02-31"`, false},
		{wire.GrainMonth, `"2024-99-99"`, false},
		{wire.GrainMonth, `"2024-00-01"`, false},
		{wire.GrainMonth, `"2024-02"`, false},
		{wire.GrainMonth, `"2024-2-1"`, false},
		{wire.GrainMonth, `"2024-02-01T00:00:00Z"`, false},
		{wire.GrainMonth, `20240201`, false},
		{wire.GrainMonth, `null`, true},
		{wire.GrainDay, `"2024-02-29"`, true},
		{wire.GrainDay, `"2023-02-29"`, false},
		{wire.GrainDay, `"0000-02-29"`, true},
		{wire.GrainQuarter, `"2024-10-01"`, true},
		{wire.GrainQuarter, `"2024-11-01"`, false},
		{wire.GrainQuarter, `"2024-10-02"`, false},
		{wire.GrainYear, `"2024-01-01"`, true},
		{wire.GrainYear, `"2024-04-01"`, false},
		{wire.GrainYear, `"2024-12-31"`, false},
	} {
		body := fmt.Sprintf(`{"rows":[{"p":%s,"n":1}]}`, c.key)
		client := answering(t, canned{media: terms.MediaJSON, body: func() io.Reader { return strings.NewReader(body) }})
		_, _, err := client.Aggregate(t.Context(), wire.Credentials{}, &wire.AggregateRequest{
			Table: "t", Limit: wire.AggregateLimit,
			GroupBy:  []wire.GroupKey{{Field: "at", As: "p", Grain: c.grain}},
			Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}},
		}, []wire.Column{{Name: "p", Type: wire.TypeDate}, {Name: "n", Type: wire.TypeNumber}})
		if c.ok {
			require.NoError(t, err, "%s %s", c.grain, c.key)
			continue
		}
		var fault *platform.AnswerError
		require.ErrorAs(t, err, &fault, "%s %s", c.grain, c.key)
		require.Equal(t, "aggregate-4", fault.Rule)
		require.Equal(t, "rows[0].p", fault.Place)
	}
}
