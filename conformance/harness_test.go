package conformance_test

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// skipShort skips a test with -short, as the race run is: one that grades alike
// connectors again and again, and takes ten times as long under the race detector.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long under the race detector; run without -short")
	}
}

// chance returns numbers below n, the same ones in each run, for requests that are
// answered side by side.
func chance(seed uint64) (below func(n int) int) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, seed))
	return func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
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

// grade runs the program against a handler, in a bubble whose time costs
// nothing.
func grade(t *testing.T, h http.Handler, g grading) (report *conformance.Report) {
	t.Helper()
	if g.Seed == 0 {
		g.Seed = 1 // every run asks the same
	}
	synctest.Test(t, func(t *testing.T) {
		target, stop := conformance.InProcess(h, cmp.Or(g.token, testToken))
		defer stop()
		target.Credentials = credentialsOf(g.credentials)
		if g.url != "" {
			target.URL = g.url
		}
		var err error
		report, err = conformance.Run(context.Background(), target, &g.Options)
		require.NoError(t, err)
	})
	everyFaultIsReported(t, report)
	return report
}

// everyFaultIsReported requires that a red run has a failure, and that whatever could
// not be judged because of a fault names a failed check.
func everyFaultIsReported(t *testing.T, r *conformance.Report) {
	t.Helper()
	require.Equal(t, len(r.Failures()) > 0, r.Exit() == conformance.ExitFail, "exit %d", r.Exit())
	for _, o := range r.Outcomes {
		if o.Reason == conformance.Blocked && !o.Advice {
			require.Equal(t, conformance.Fail, r.Outcome(o.BlockedBy).Verdict, "%s is blocked %s", o.ID, o.Detail)
		}
	}
}

// credentialsOf returns sets of credentials as a target holds them.
func credentialsOf(sets []map[string]string) (list []wire.Credentials) {
	for _, set := range sets {
		list = append(list, wire.NewCredentials(set))
	}
	return list
}

// quiet returns a logger for connectors that are broken on purpose.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// serve returns the connector of a source. It panics, for use in tables of faults.
func serve(def connector.Definition, src connector.Source, opts *connector.Options) http.Handler {
	if def.Slug == "" {
		def.Slug = "fixture"
	}
	if opts == nil {
		opts = &connector.Options{}
	}
	if opts.Logger == nil {
		opts.Logger = quiet()
	}
	if opts.Intercept == nil {
		opts.Intercept = stall
	}
	token, err := wire.NewToken(testToken)
	if err != nil {
		panic(err)
	}
	h, err := connector.New(def, src, token, opts)
	if err != nil {
		panic(err)
	}
	return h
}

// corpusSource returns the corpus in memory with every optional interface, and the
// table slow. All tests share it, because it does not change.
var corpusSource = sync.OnceValue(func() *memsource.Source { return fixtureSource(corpus.Tables()...) })

// usual returns the corpus served by the library in full.
func usual() http.Handler { return serve(connector.Definition{}, corpusSource(), nil) }

func source(tables ...memsource.Table) *memsource.Source {
	src, err := memsource.New(tables, nil)
	if err != nil {
		panic(err)
	}
	return src
}

func fixtureSource(tables ...corpus.Table) *memsource.Source {
	all := make([]memsource.Table, 0, len(tables)+1)
	for _, t := range append(tables, corpus.Slow()) {
		all = append(all, memsource.Table(t))
	}
	return source(all...)
}

// manifestTable names the table that names the corpus.
var manifestTable = corpus.Tables()[0].Name

// stall waits before the table slow is asked.
func stall(ctx context.Context, call connector.Call, next func(context.Context) error) error {
	if call.Table == corpus.Slow().Name && call.Method != "Describe" {
		select {
		case <-time.After(corpus.SlowStall):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return next(ctx)
}

// corpusTable returns the table of the corpus with a name.
func corpusTable(name string) (corpus.Table, bool) {
	tables := corpus.Tables()
	if i := slices.IndexFunc(tables, func(t corpus.Table) bool { return t.Name == name }); i >= 0 {
		return tables[i], true
	}
	return corpus.Table{}, false
}
