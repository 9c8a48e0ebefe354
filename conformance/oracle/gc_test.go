package oracle_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often, because these tests allocate much and
// hold little. An environment variable GOGC has precedence.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	os.Exit(m.Run())
}
