//go:build race

package testrun

// Race reports whether the race detector slows the tests down.
const Race = true
