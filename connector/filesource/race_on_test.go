//go:build race

package filesource

// raceEnabled reports that the race detector slows them down tenfold.
const raceEnabled = true
