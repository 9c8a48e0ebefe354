//go:build race

package faulttest

// race reports whether the race detector slows this run down.
const race = true
