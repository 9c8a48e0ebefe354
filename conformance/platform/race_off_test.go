//go:build !race

package platform_test

// race reports whether the race detector slows this run down.
const race = false
