// Package testrun says how much of the tests runs: a sample by default, everything
// in CI, and less where the race detector makes them slow.
package testrun

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// Main runs the tests of a package that allocate much and hold little, and that wait for
// clocks and other processes: it collects garbage less often, and runs more tests at once
// than there are processors. The environment variable GOGC and the flag -parallel have
// precedence. Call it in TestMain.
func Main(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// InFull reports whether all tests run with all their requests: with the environment
// variable CONFORMANCE_MATRIX=whole or part, as CI sets it.
func InFull() bool { return !Race && os.Getenv("CONFORMANCE_MATRIX") != "" }

// Long skips a test that takes seconds, except in full: one that asks the same as others of
// its package of more connectors or of more data. Call it first in the test.
func Long(t testing.TB) {
	t.Helper()
	if !InFull() {
		t.Skip("takes long: CI runs it, and so does CONFORMANCE_MATRIX=part")
	}
}

// Whole reports whether the matrices are made anew, which takes from minutes to an hour:
// with CONFORMANCE_MATRIX=whole.
func Whole() bool { return os.Getenv("CONFORMANCE_MATRIX") == "whole" }

// Runs reports whether the ith of many alike tests runs: all of them in full, else one
// of n, and one of eight times n under the race detector, which makes them ten times as slow.
func Runs(i, n int) bool {
	switch {
	case InFull():
		return true
	case Race:
		return i%(8*n) == 0
	}
	return i%n == 0
}

// Budget returns a number of requests for a grading that comes to the same with few as
// with many: n, or in full 0, which stands for the default of the grading.
func Budget(n int) int {
	if InFull() {
		return 0
	}
	return n
}

// Rounds returns how many of n random or generated cases a test tries: all of them in
// full, else a tenth.
func Rounds(n int) int {
	if InFull() {
		return n
	}
	return max(n/10, 1)
}
