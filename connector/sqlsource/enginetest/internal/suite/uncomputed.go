package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Uncomputed is a view of a column n over ten thousand rows or more, of which a late
// one cannot be computed, or sent.
type Uncomputed struct {
	View, Why string
	Says      string // of the error, besides the view
	Code      wire.Code
	// Sent reports that the engine computes the value, which then cannot be sent.
	Sent bool
}

// TestUncomputed reads the views: the stream ends in an error line, and a count of
// the values is refused, and both say which view, and why, and nothing of a cell.
func TestUncomputed(t *testing.T, tenant *connectortest.Tenant, views []Uncomputed) {
	for _, v := range views {
		t.Run(v.Why, func(t *testing.T) {
			tenant := tenant.In(t)
			told := func(err error) {
				t.Helper()
				require.Error(t, err)
				assert.Equal(t, v.Code, Code(err), "%v", err)
				assert.ErrorContains(t, err, wire.QuoteName(v.View))
				assert.ErrorContains(t, err, v.Says)
				assert.NotContains(t, strings.ToLower(err.Error()), "secret")
			}
			answer, err := tenant.Query(wire.QueryRequest{Table: v.View, Sort: []wire.SortKey{}, Fields: []string{"n"}})
			told(err)
			require.NotNil(t, answer, "the stream has begun")
			assert.NotEmpty(t, answer.Rows)
			if v.Sent {
				return
			}
			_, err = tenant.Aggregate(wire.AggregateRequest{Table: v.View, Measures: []wire.Measure{
				{Fn: wire.AggCountDistinct, Field: "n", As: "n"},
			}})
			told(err)
			_, err = tenant.Count(wire.CountRequest{Table: v.View, Where: wire.Where{And: []wire.Filter{
				{Field: "n", Op: wire.OpIn, Values: []wire.Value{wire.Int(-7)}},
			}}})
			told(err)
			assert.NotErrorIs(t, err, connector.ErrDecline)
		})
	}
}
