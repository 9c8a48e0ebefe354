package testkit

import (
	"testing"
	"testing/synctest"
)

// Bubble runs a subtest in virtual time: its clocks go on when all of its goroutines wait, and
// it does not end while one runs. Use synctest.Test where the test itself is the bubble.
func Bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}
