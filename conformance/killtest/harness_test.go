// Package killtest proves what the conformance program finds, by connectors: those that are broken on purpose must fail by
// the checks that they are named for, and the odd, the foreign and the sound ones must pass. KILLMATRIX.md and SHOP.md, in
// the folder above, list what is found.
package killtest

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// chance returns numbers below n, the same ones in each run, for requests that are answered side by side.
func chance(seed uint64) (below func(n int) int) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, seed))
	return func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
}

// seed returns the seed of gradings that choose none. It is 1, so that every run asks the same, or what CONFORMANCE_SEED
// says, to see whether what is found was found by chance.
func seed() uint64 {
	return must(strconv.ParseUint(cmp.Or(os.Getenv("CONFORMANCE_SEED"), "1"), 10, 64))
}

// testToken is the token of every connector graded here.
const testToken = "conformance-0123456789abcdef-0123456789"

// grading is how a connector is graded.
type grading struct {
	conformance.Options
	credentials []map[string]string
	token       string // another than testToken
	url         string // another than that of the in-process target
}

// A result is the report of a run, and what tests ask of it.
type result struct{ *conformance.Report }

// gradeAt runs the program against a target.
func gradeAt(ctx context.Context, target conformance.Target, options *conformance.Options) (*result, error) {
	r, err := conformance.Run(ctx, target, options)
	return &result{r}, err
}

// grade runs the program against a handler, in a bubble whose time costs nothing.
func grade(t *testing.T, h http.Handler, g grading) (r *result) {
	t.Helper()
	if g.Seed == 0 {
		g.Seed = seed()
	}
	synctest.Test(t, func(t *testing.T) {
		target, stop := conformance.InProcess(h, cmp.Or(g.token, testToken))
		defer stop()
		target.Credentials = credentialsOf(g.credentials)
		if g.url != "" {
			target.URL = g.url
		}
		var err error
		r, err = gradeAt(context.Background(), target, &g.Options)
		require.NoError(t, err)
	})
	require.NotContains(t, r.Problem, "this program failed")
	// A red run has a failure, and whatever could not be judged because of a fault names a failed check.
	require.Equal(t, len(r.Failures()) > 0, r.Exit() == check.ExitFail, "exit %d", r.Exit())
	if r.Summary().Blocked == 0 {
		return r
	}
	by := r.blockedBy()
	for _, o := range r.Outcomes {
		if o.Reason == conformance.Blocked && !o.Advice {
			require.NotNil(t, r.Outcome(by[o.ID]), "%s is blocked %s", o.ID, o.Detail)
			require.Equal(t, conformance.Fail, r.Outcome(by[o.ID]).Verdict, "%s is blocked %s", o.ID, o.Detail)
		}
	}
	return r
}

// gradeOverTCP runs the program against a handler at a port of this machine, where time and the network are what they are for
// users.
func gradeOverTCP(t *testing.T, h http.Handler, g grading) *result {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	target := conformance.Target{URL: server.URL, Token: wire.NewBearer(testToken), Credentials: credentialsOf(g.credentials)}
	r, err := gradeAt(t.Context(), target, &g.Options)
	require.NoError(t, err)
	return r
}

// with returns a grading with options, of which each may be nil.
func with(options ...func(*grading)) (g grading) {
	for _, option := range options {
		if option != nil {
			option(&g)
		}
	}
	return g
}

// matching runs only the checks that match, and atMost sends no more requests than that.
func matching(ids string) func(*grading) { return func(g *grading) { g.Match = ids } }

func atMost(requests int) func(*grading) { return func(g *grading) { g.Requests = requests } }

// ofLive returns how the checks that match are graded over live data.
func ofLive(match string) grading { return with(live, matching(match)) }

// has requires a verdict on each of some checks.
func (r *result) has(t *testing.T, want conformance.Verdict, ids ...string) {
	t.Helper()
	for _, id := range ids {
		o := r.Outcome(id)
		require.NotNil(t, o, "%s is not planned", id)
		require.Equal(t, want, o.Verdict, "%s: %s %s\nexpected %s\nreceived %s", id, o.Reason, o.Detail, o.Expected, o.Received)
	}
}

// Outcome returns the outcome of a check, or nil if it was not planned.
func (r *result) Outcome(id string) *conformance.Outcome {
	for i := range r.Outcomes {
		if r.Outcomes[i].ID == id {
			return &r.Outcomes[i]
		}
	}
	return nil
}

// written returns members that a report has in JSON alone.
func (r *result) written() (w struct {
	Checks   []struct{ ID, BlockedBy string }
	Coverage coverage.Report
},
) {
	if err := json.Unmarshal(must(r.JSON()), &w); err != nil {
		panic(err)
	}
	return w
}

// Coverage returns what the run has asked for.
func (r *result) Coverage() coverage.Report { return r.written().Coverage }

// blockedBy returns the ids of the checks that could not be judged, with those of the failed checks that prevented it.
func (r *result) blockedBy() map[string]string {
	by := map[string]string{}
	for _, c := range r.written().Checks {
		if c.BlockedBy != "" {
			by[c.ID] = c.BlockedBy
		}
	}
	return by
}

// nothingFound requires that no check fails, and that none has one of some other verdicts or reasons.
func (r *result) nothingFound(t *testing.T, why string, nor ...any) {
	t.Helper()
	for _, o := range r.Outcomes {
		t.Log(o.ID, o.Verdict, o.Reason, o.Cases, o.Detail, o.Duration)
		if o.Verdict == conformance.Fail || slices.Contains(nor, any(o.Verdict)) || slices.Contains(nor, any(o.Reason)) {
			t.Errorf("%s: but %s %s: %s %s\nexpected %s\nreceived %s\n%+v",
				why, o.ID, o.Title, o.Reason, o.Detail, o.Expected, o.Received, o.Request)
		}
	}
}

// allChecks returns the checks of all modes.
func allChecks() []conformance.Check {
	return must((&conformance.Options{Mode: conformance.ModeBoth}).Checks())
}

// credentialsOf returns sets of credentials as a target holds them.
func credentialsOf(sets []map[string]string) (list []wire.Credentials) {
	for _, set := range sets {
		list = append(list, wire.NewCredentials(set))
	}
	return list
}

// serve returns the connector of a source. It panics, for use in tables of faults.
func serve(def connector.Definition, src connector.Source, opts *connector.Options) http.Handler {
	if opts == nil {
		opts = &connector.Options{}
	}
	def.Slug, opts.Logger = cmp.Or(def.Slug, "fixture"), cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.Intercept == nil {
		opts.Intercept = stall
	}
	return must(connector.New(def, src, must(wire.NewToken(testToken)), opts))
}

// plain serves tables as they are.
func plain(tables ...memsource.Table) http.Handler {
	return serve(connector.Definition{}, source(tables...), nil)
}

// ofCorpus returns the corpus behind a definition, without what is omitted.
func ofCorpus(def connector.Definition, omit connector.Omit) func() http.Handler {
	return func() http.Handler { return serve(def, corpusSource(), &connector.Options{Omit: omit}) }
}

// undeclared is what a connector leaves out that declares nothing.
var undeclared = connector.Omit{
	Endpoints: []wire.Endpoint{wire.EndpointSize, wire.EndpointCount, wire.EndpointAggregate, wire.EndpointCardinality,
		wire.EndpointLinkHitRate},
	Operators: filter.Operators(), Sort: wire.SortNone, Offset: true, Join: true, DateBucket: true,
}

// limited returns the corpus behind declared limits.
func limited(limits wire.Limits) func() http.Handler {
	return ofCorpus(connector.Definition{Limits: limits}, connector.Omit{})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// corpusSource returns the corpus in memory with every optional interface, and the
// table slow. All tests share it, because it does not change.
var corpusSource = sync.OnceValue(func() *memsource.Source { return fixtureSource(corpus.Tables()...) })

// usual returns the corpus served by the library in full.
func usual() http.Handler { return serve(connector.Definition{}, corpusSource(), nil) }

func source(tables ...memsource.Table) *memsource.Source { return must(memsource.New(tables, nil)) }

func fixtureSource(tables ...corpus.Table) *memsource.Source {
	return source(inMemory(append(tables, corpus.Slow()))...)
}

// inMemory returns tables of the corpus as memsource takes them.
func inMemory(tables []corpus.Table) (list []memsource.Table) {
	for _, t := range tables {
		list = append(list, memsource.Table(t))
	}
	return list
}

// manifestTable names the table that names the corpus.
var manifestTable = corpus.Tables()[0].Name

// stall waits before the table slow is asked.
var stall = pausing(func(call connector.Call) time.Duration {
	if call.Table == corpus.Slow().Name {
		return corpus.SlowStall
	}
	return 0
})

// pausing waits before calls of a source, but for descriptions, for as long as by says, and obeys the context while it does.
func pausing(by func(connector.Call) time.Duration) func(context.Context, connector.Call, func(context.Context) error) error {
	return func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
		pause := by(call)
		if pause == 0 || call.Method == "Describe" {
			return next(ctx)
		}
		select {
		case <-time.After(pause):
			return next(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// corpusTable returns the table of the corpus with a name.
func corpusTable(name string) (corpus.Table, bool) {
	tables := corpus.Tables()
	if i := slices.IndexFunc(tables, func(t corpus.Table) bool { return t.Name == name }); i >= 0 {
		return tables[i], true
	}
	return corpus.Table{}, false
}
