//go:build !race

package main

// raceEnabled reports that the race detector slows them down tenfold.
const raceEnabled = false
