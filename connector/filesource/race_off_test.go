//go:build !race

package filesource

// raceEnabled tells tests that the race detector slows them down tenfold.
const raceEnabled = false
