package finish

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var number = []wire.Column{{Name: "n", Type: wire.TypeNumber}}

func planFor(req wire.QueryRequest) *Plan {
	req.Table, req.Fields = "t", []string{"n"}
	return &Plan{Request: &req, MaxSortKeys: math.MaxInt, MaxOffset: math.MaxInt64, SortBudget: 100}
}

func above(n int64) wire.Where {
	return wire.Where{And: []wire.Filter{{Field: "n", Op: wire.OpGt, Value: wire.Int(n)}}}
}

// TestCount counts finished rows without a batcher: the filters and the window
// that the source has not applied itself.
func TestCount(t *testing.T) {
	sort := []wire.SortKey{{Field: "n", Dir: wire.Desc}}
	for _, c := range []struct {
		why    string
		req    wire.QueryRequest
		claim  wire.Served
		offer  int64
		count  int64
		enough bool
	}{
		{"everything", wire.QueryRequest{}, wire.Served{}, 10, 10, false},
		{"a filter", wire.QueryRequest{Where: above(3)}, wire.Served{}, 10, 7, false},
		{"a claimed filter", wire.QueryRequest{Where: above(3)}, wire.Served{Filters: true}, 10, 10, false},
		{"an offset", wire.QueryRequest{Offset: 4}, wire.Served{}, 10, 6, false},
		{"a limit", wire.QueryRequest{Offset: 4, Limit: 3}, wire.Served{}, 10, 3, true},
		{"a claimed window", wire.QueryRequest{Offset: 4, Limit: 10}, wire.Served{Window: true}, 10, 10, false},
		{"a sort with a limit", wire.QueryRequest{Sort: sort, Limit: 3}, wire.Served{}, 10, 3, false},
		{"a sort beyond the budget", wire.QueryRequest{Sort: sort, Limit: 101}, wire.Served{}, 10, 10, false},
	} {
		f := New(planFor(c.req), nil)
		_, err := f.Begin(c.claim, number)
		require.NoError(t, err, c.why)
		enough := false
		for n := int64(1); n <= c.offer && !enough; n++ {
			if err := f.Row([]wire.Value{wire.Int(n)}); err != nil {
				require.Equal(t, batch.ErrEnough, err, c.why)
				enough = true
			}
		}
		if err := f.Drain(); err != nil {
			assert.Equal(t, batch.ErrEnough, err, c.why)
		}
		assert.Equal(t, c.count, f.Count, c.why)
		assert.Equal(t, c.enough, enough, c.why)
	}
}

// TestBeyondTheWindow checks that a row beyond a claimed window is an error.
func TestBeyondTheWindow(t *testing.T) {
	f := New(planFor(wire.QueryRequest{Limit: 1}), nil)
	_, err := f.Begin(wire.Served{Window: true}, number)
	require.NoError(t, err)
	assert.NoError(t, f.Row([]wire.Value{wire.Int(1)}))
	assert.ErrorIs(t, f.Row([]wire.Value{wire.Int(2)}), errBeyondLimit)
}

func TestTrivialClaims(t *testing.T) {
	p := planFor(wire.QueryRequest{})
	assert.Equal(t, wire.Served{Filters: true, Sort: true}, p.WithTrivialClaims(wire.Served{}))
	p = planFor(wire.QueryRequest{Where: above(1), Sort: []wire.SortKey{{Field: "n"}}})
	assert.Equal(t, wire.Served{}, p.WithTrivialClaims(wire.Served{}))
	assert.Equal(t, wire.Served{Sort: true}, p.WithTrivialClaims(wire.Served{Sort: true}))
}
