//go:build race

package conformance_test

// race tells whether the race detector slows this run down.
const race = true
