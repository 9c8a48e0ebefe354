package conformance_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// testToken is the token of every connector graded here.
const testToken = "conformance-0123456789abcdef-0123456789"

// rocky returns a connector of three methods over data of its own, for the mode live.
func rocky(wrap func(http.Handler) http.Handler) http.Handler {
	h := connectors.Handler(testToken, connectors.ThreeMethods(connectors.Planets()))
	if wrap == nil {
		return h
	}
	return wrap(h)
}

// unguarded lets every token in.
func unguarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+testToken)
		h.ServeHTTP(w, r)
	})
}

func TestOptionsChecks(t *testing.T) {
	all := testkit.Must((&conformance.Options{Mode: conformance.ModeBoth}).Checks())(t)
	require.Len(t, all, len(conformance.Checks()))
	live := testkit.Must((&conformance.Options{Mode: conformance.ModeLive}).Checks())(t)
	for _, o := range []conformance.Options{{Phases: []int{4, 3, 1, 0}}, {Match: "."}} {
		o.Mode = conformance.ModeLive
		require.Equal(t, live, testkit.Must(o.Checks())(t), "no selection")
	}
	some := testkit.Must((&conformance.Options{Phases: []int{0}, Match: "^P0[.]1$"}).Checks())(t)
	require.Len(t, some, 1)
	for _, o := range []conformance.Options{{Mode: "all"}, {Phases: []int{5}}, {Phases: []int{4}}, {Match: "("},
		{Match: "nothing"}, {Match: "^$"}, {RowBudget: -1}, {Timeout: -1}} {
		_, err := o.Checks()
		require.Error(t, err)
		_, err = conformance.Run(t.Context(), conformance.Target{URL: "https://x.test", Token: wire.NewBearer(testToken)}, &o)
		require.Error(t, err, "before anything is asked")
	}
	for mode, phases := range map[conformance.Mode][]int{"": {0, 1, 2, 3}, conformance.ModeFixture: {0, 1, 2, 3},
		conformance.ModeLive: {0, 1, 3, 4}, conformance.ModeBoth: {0, 1, 2, 3, 4}} {
		of := map[int]bool{}
		for _, c := range testkit.Must((&conformance.Options{Mode: mode}).Checks())(t) {
			of[c.Phase] = true
		}
		require.ElementsMatch(t, phases, slices.Collect(maps.Keys(of)), "mode %q, as the protocol says", mode)
	}
	require.Equal(t, 200_000, defaults.RowBudget, "[rule verdict-10]")
	require.Nil(t, conformance.Find("P9.9"))
	c := conformance.Find("p0.1")
	require.Equal(t, "P0.1", c.ID)
	require.Equal(t, []conformance.Mode{conformance.ModeFixture, conformance.ModeLive, conformance.ModeBoth}, c.In())
	for _, check := range all {
		text := check.Explain()
		require.Contains(t, text, check.Title, check.ID)
		for line := range strings.SplitSeq(text, "\n") {
			require.LessOrEqual(t, len([]rune(line)), 160, "%s: %s", check.ID, line)
		}
	}
}

// TestRules requires that every check cites rules of the rulebook, and that a check
// that can fail a connector cites one that binds it.
func TestRules(t *testing.T) {
	ids := map[string]bool{}
	for _, c := range conformance.Checks() {
		require.False(t, ids[c.ID], "two checks have the id %s", c.ID)
		ids[c.ID] = true
		require.NotEmpty(t, c.Title, c.ID)
		require.NotEmpty(t, c.Fix, c.ID)
		require.NotEmpty(t, c.Rules, c.ID)
		binds := false
		for _, id := range c.Rules {
			rule, ok := rules.Lookup(id)
			require.True(t, ok, "%s cites %s, which is no rule of docs/protocol.md", c.ID, id)
			binds = binds || rule.Status != rules.Decision
		}
		require.True(t, binds || c.Advice, "%s can fail a connector, and cites no rule that binds it", c.ID)
	}
}

// TestRetiredIDs requires that no check has the id of a facet, that a pattern which names one plans the check that it
// is part of, and that every facet says what to do.
func TestRetiredIDs(t *testing.T) {
	used, retired := map[string]bool{}, 0
	for _, c := range conformance.Checks() {
		require.False(t, used[c.ID], c.ID)
		used[c.ID] = true
	}
	for _, c := range conformance.Checks() {
		for _, f := range c.Facets {
			if f.Was == "" { // it never was a check of its own
				continue
			}
			require.False(t, used[f.Was], "%s names another check too", f.Was)
			used[f.Was] = true
			retired++
			planned := testkit.Must((&conformance.Options{Match: "^" + regexp.QuoteMeta(f.Was) + "$"}).Checks())(t)
			require.Len(t, planned, 1, f.Was)
			require.Equal(t, c.ID, planned[0].ID, f.Was)
			require.NotEmpty(t, f.Name+f.Title, f.Was)
			require.NotEmpty(t, f.Rules, f.Was)
			require.NotEmpty(t, f.Fix, f.Was)
		}
	}
	for id, once := range conformance.Retired {
		for _, was := range once {
			require.False(t, used[was], "%s names another check too", was)
			used[was] = true
			planned, err := (&conformance.Options{Mode: conformance.ModeBoth, Match: "^" + was + "$"}).Checks()
			require.NoError(t, err)
			require.Len(t, planned, 1, was)
			require.Equal(t, id, planned[0].ID, was)
		}
	}
	require.Equal(t, 133, retired)
}
