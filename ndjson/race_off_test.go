//go:build !race

package ndjson_test

// raceEnabled tells tests that the race detector slows them down tenfold.
const raceEnabled = false
