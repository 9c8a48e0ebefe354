package faulttest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
)

// TestCorrect grades the connectors without a fault: none may fail a check.
func TestCorrect(t *testing.T) {
	connectors := []struct {
		name  string
		build func(set *Set, file string) (http.Handler, func())
	}{
		{"bare", func(set *Set, _ string) (http.Handler, func()) { return NewBare(set, Bare{}), func() {} }},
		{"rest", func(set *Set, _ string) (http.Handler, func()) { return NewRest(set, Rest{}), func() {} }},
		{"files", func(set *Set, _ string) (http.Handler, func()) { return NewFiles(set, Files{}), func() {} }},
		{"sql", func(set *Set, file string) (http.Handler, func()) { return NewSQL(set, file, SQL{}) }},
	}
	l := newLibrary(t)
	last := uint64(1)
	if whole() {
		last = 6
	}
	for i, c := range connectors {
		for j, g := range Generators {
			for seed := uint64(1); seed <= last; seed++ {
				if !whole() && i != j || race && i > 0 {
					continue
				}
				set, file := l.open(t, g.Name, seed)
				h, release := c.build(set, file)
				for _, table := range set.Tables {
					effect, detail := EffectOf(h, set, table.Name)
					require.Equal(t, None, effect, "%s over %s/%d: %s", c.name, g.Name, seed, detail)
				}
				release()
				report := grade(t, conformance.Options{}, false, func() (http.Handler, func()) { return c.build(set, file) })
				require.NoError(t, report.Err(), "%s over %s/%d: %s", c.name, g.Name, seed, report.Text(false, false))
			}
		}
	}
}
