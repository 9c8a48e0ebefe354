package conformance_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMain lets the collector come later: the tests make much garbage and hold
// little.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

// testToken is the token of every connector graded here.
const testToken = "conformance-0123456789abcdef-0123456789"

// grading is how a connector is graded.
type grading struct {
	conformance.Options
	credentials []map[string]string
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
		target, stop := conformance.InProcess(h, testToken)
		defer stop()
		target.Credentials = credentialsOf(g.credentials)
		if g.url != "" {
			target.URL = g.url
		}
		var err error
		report, err = conformance.Run(context.Background(), target, &g.Options)
		require.NoError(t, err)
	})
	return report
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
// table slow.
func corpusSource() *fixtureSource { return newFixtureSource(corpus.Tables()...) }

func newFixtureSource(tables ...corpus.Table) *fixtureSource {
	all := make([]memsource.Table, len(tables), len(tables)+1)
	for i, t := range tables {
		all[i] = memsource.Table(t)
	}
	src, err := memsource.New(append(all, memsource.Table(corpus.Slow())), nil)
	if err != nil {
		panic(err)
	}
	return &fixtureSource{src}
}

// fixtureSource stalls before the first row of the table slow.
type fixtureSource struct{ *memsource.Source }

func (s *fixtureSource) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	if err := stall(ctx, req.Table); err != nil {
		return err
	}
	return s.Source.Query(ctx, req, out)
}

func (s *fixtureSource) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	if err := stall(ctx, req.Table); err != nil {
		return 0, err
	}
	return s.Source.Count(ctx, req)
}

func (s *fixtureSource) Aggregate(ctx context.Context, req *wire.AggregateRequest) (*connector.AggregateAnswer, error) {
	if err := stall(ctx, req.Table); err != nil {
		return nil, err
	}
	return s.Source.Aggregate(ctx, req)
}

func stall(ctx context.Context, table string) error {
	if table != corpus.SlowTable {
		return nil
	}
	select {
	case <-time.After(corpus.SlowStall):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
