//go:build !race

package conformance_test

// race reports whether the race detector slows this run down.
const race = false
