package faulttest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

// TestCorrect grades the connectors without a fault: none may fail a check.
func TestCorrect(t *testing.T) {
	l := newLibrary(t)
	last := uint64(1)
	if testrun.Whole() {
		last = 6
	}
	for i, name := range []string{"bare", "rest", "files", "sql"} {
		for j, g := range Generators {
			for seed := uint64(1); seed <= last; seed++ {
				if !testrun.Whole() && i != j || testrun.Race && i > 0 {
					continue
				}
				set, file := l.open(t, g.Name, seed)
				h, release := connectors[name](set, file, planted{})
				for _, table := range set.Tables {
					effect, detail := effectOf(h, set, table.Name)
					require.Equal(t, none, effect, "%s over %s/%d: %s", name, g.Name, seed, detail)
				}
				release()
				report := grade(t, conformance.Options{}, false, func() (http.Handler, func()) { return connectors[name](set, file, planted{}) })
				require.NoError(t, report.Err(), "%s over %s/%d: %s", name, g.Name, seed, report.Text(false, false))
			}
		}
	}
}
