package conformance_test

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// planets returns a connector over data of its own, for the mode live.
func planets(wrap func(http.Handler) http.Handler) http.Handler {
	token, err := wire.NewToken(testToken)
	if err != nil {
		panic(err)
	}
	h, err := connector.New(connector.Definition{Slug: "planets"}, planetSource{}, token, &connector.Options{Logger: quiet()})
	if err != nil {
		panic(err)
	}
	if wrap == nil {
		return h
	}
	return wrap(h)
}

type planetSource struct{}

var planetTable = wire.Table{Name: "planets", SourceDescription: "The rocky planets and their moons.", PrimaryKey: []string{"name"},
	StoresRows: true,
	Fields:     []wire.Field{{Name: "name", Type: wire.TypeString, Unique: true}, {Name: "moons", Type: wire.TypeNumber}}}

func (planetSource) Check(context.Context, *wire.CheckRequest) error { return nil }

func (planetSource) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: []wire.Table{planetTable}}, nil
}

func (planetSource) Describe(_ context.Context, _ wire.Credentials, table string) (*wire.Table, error) {
	if table != planetTable.Name {
		return nil, connector.UnknownEntity("no table %q", table)
	}
	return &planetTable, nil
}

func (planetSource) Query(_ context.Context, _ *connector.QueryRequest, out *connector.Rows) error {
	w := out.Begin(planetTable.Columns())
	for i, name := range []string{"Mercury", "Venus", "Earth", "Mars"} {
		if err := w.Row(wire.Text(name), wire.Int([]int64{0, 0, 1, 2}[i])); err != nil {
			return err
		}
	}
	return nil
}

// cached breaks nothing that fails: A.13 advises.
func cached(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(headerWriter{w}, r)
	})
}

type headerWriter struct{ http.ResponseWriter }

func (w headerWriter) WriteHeader(code int) {
	w.Header().Set("Cache-Control", "max-age=60")
	w.ResponseWriter.WriteHeader(code)
}

func (w headerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unguarded lets every token in.
func unguarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+testToken)
		h.ServeHTTP(w, r)
	})
}

// TestOfAConnector shows what a connector's author writes.
func TestOfAConnector(t *testing.T) {
	target, stop := conformance.InProcess(planets(nil), testToken)
	defer stop()
	conformance.Test(t, target, &conformance.Options{Mode: conformance.ModeLive})
}

// TestSubject is graded by TestTestReportsEachCheck in a process of its own;
// alone it does nothing.
func TestSubject(t *testing.T) {
	wraps := map[string]func(http.Handler) http.Handler{"good": nil, "advised": cached, "broken": unguarded}
	name := os.Getenv("CONFORMANCE_SUBJECT")
	if name == "" {
		return
	}
	target, stop := conformance.InProcess(planets(wraps[name]), testToken)
	defer stop()
	options := &conformance.Options{Mode: conformance.ModeLive, Seed: 42, Timeout: time.Minute}
	conformance.Test(t, target, options)
}

// TestTestReportsEachCheck runs this package's test binary as `go test -run`
// would.
func TestTestReportsEachCheck(t *testing.T) {
	if os.Getenv("CONFORMANCE_SUBJECT") != "" {
		return
	}
	for _, c := range []struct {
		subject, run string
		why          string
		fails        bool
		has          []string
		hasNot       []string
	}{
		{"good", "TestSubject", "every check is a subtest", false,
			[]string{"--- PASS: TestSubject/Conformance/P0.1", "--- SKIP: TestSubject/Conformance/P0.6d",
				"not declared: endpoints does not list count", "name string  eq "}, []string{"--- FAIL"}},
		{"advised", "TestSubject", "advice fails nothing, and is told", false,
			[]string{"--- PASS: TestSubject/Conformance/A.13", "advice: ", "Cache-Control: max-age=60"}, []string{"--- FAIL"}},
		{"broken", "TestSubject", "a failure tells all that a report does", true,
			[]string{"--- FAIL: TestSubject/Conformance/P1.1", "expected:", "received:", "rule:", "curl:",
				"curl -sSi", "seed:     42"}, []string{testToken}},
		{"broken", "TestSubject/Conformance/P1.1$", "one check is run alone", true,
			[]string{"--- FAIL: TestSubject/Conformance/P1.1"}, []string{"TestSubject/Conformance/P0", "TestSubject/Conformance/P1.2a"}},
		{"good", "TestSubject/Conformance/(P0.1|P0.2)$", "a pattern that is not understood selects all the same", false,
			[]string{"--- PASS: TestSubject/Conformance/P0.1", "--- PASS: TestSubject/Conformance/P0.2"}, []string{"TestSubject/Conformance/P0.3"}},
		{"good", "TestSubject/Other", "nothing is run", false, nil, []string{"TestSubject/Conformance"}},
	} {
		t.Run(c.subject+" "+c.run, func(t *testing.T) {
			t.Parallel()
			exe, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.CommandContext(t.Context(), exe, "-test.v", "-test.run", c.run)
			cmd.Env = append(os.Environ(), "CONFORMANCE_SUBJECT="+c.subject)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err = cmd.Run()
			require.Equal(t, c.fails, err != nil, "%s", out.String())
			for _, text := range c.has {
				require.Contains(t, out.String(), text)
			}
			for _, text := range c.hasNot {
				require.NotContains(t, out.String(), text)
			}
		})
	}
}

func TestOptionsChecks(t *testing.T) {
	all, err := (&conformance.Options{Mode: conformance.ModeBoth}).Checks()
	require.NoError(t, err)
	require.Len(t, all, len(conformance.Checks()))
	some, err := (&conformance.Options{Phases: []int{0}, Run: "^P0[.]1$"}).Checks()
	require.NoError(t, err)
	require.Len(t, some, 1)
	for _, o := range []conformance.Options{{Mode: "all"}, {Phases: []int{5}}, {Phases: []int{4}}, {Run: "("},
		{Run: "nothing"}, {RowBudget: -1}, {Timeout: -1}} {
		_, err := o.Checks()
		require.Error(t, err)
		_, err = conformance.Run(t.Context(), conformance.Target{URL: "https://x.test", Token: wire.NewBearer(testToken)}, &o)
		require.Error(t, err, "before anything is asked")
	}
	for mode, phases := range map[conformance.Mode][]int{"": {0, 1, 2, 3}, conformance.ModeFixture: {0, 1, 2, 3},
		conformance.ModeLive: {0, 1, 3, 4}, conformance.ModeBoth: {0, 1, 2, 3, 4}} {
		of := map[int]bool{}
		checks, err := (&conformance.Options{Mode: mode}).Checks()
		require.NoError(t, err)
		for _, c := range checks {
			of[c.Phase] = true
		}
		require.ElementsMatch(t, phases, slices.Collect(maps.Keys(of)), "mode %q, as the protocol says", mode)
	}
	require.Equal(t, 200_000, conformance.DefaultRowBudget, "[rule verdict-10]")
	require.Nil(t, conformance.Find("P9.9"))
	c := conformance.Find("p0.1")
	require.Equal(t, "P0.1", c.ID)
	require.Equal(t, []conformance.Mode{conformance.ModeFixture, conformance.ModeLive, conformance.ModeBoth}, c.Modes())
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
