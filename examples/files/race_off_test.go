//go:build !race

package main

// raceEnabled tells tests that the race detector slows them down tenfold.
const raceEnabled = false
