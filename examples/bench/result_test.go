package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuartiles(t *testing.T) {
	for _, c := range []struct {
		why               string
		values            []int64
		lower, mid, upper int64
	}{
		{"one value is all of them", []int64{7}, 7, 7, 7},
		{"of an even number the upper of two", []int64{4, 1, 3, 2}, 2, 3, 4},
		{"an outlier moves none of them", []int64{900, 5, 1, 4, 2, 3, 6, 7}, 3, 5, 7},
	} {
		t.Run(c.why, func(t *testing.T) {
			lower, mid, upper := quartiles(c.values)
			require.Equal(t, []int64{c.lower, c.mid, c.upper}, []int64{lower, mid, upper})
		})
	}
}

// A ratio is taken turn by turn: a machine that slows down slows both sides.
func TestFirstRowsHaveQuartiles(t *testing.T) {
	ours, theirs := []time.Duration{}, []time.Duration{}
	for i := range 8 {
		ours = append(ours, time.Millisecond<<i)
		theirs = append(theirs, time.Millisecond<<i*time.Duration(10+i))
	}
	r := sooner(timings{serverSDK: ours, serverNode: theirs})
	require.True(t, r.met)
	require.Equal(t, "14.0x (12.0 to 16.0), quartiles of 8: 16ms (4ms to 64ms) against 224ms (48ms to 1.02s)", r.figure)
	require.Equal(t, errNoNode.Error(), (sooner(timings{serverSDK: ours})).why)
}
