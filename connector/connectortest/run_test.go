package connectortest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Correct sources pass, whatever they leave to the library and whatever they omit from the document.
func TestRun(t *testing.T) {
	small, flagged := shopTables()[1:], shopTables()[1:]
	no := false
	flagged[0].Field("name").Filterable = &no
	flagged[0].Field("country").Groupable = &no
	flagged[0].Field("boss").Aggregatable = &no
	for i, c := range []struct {
		name   string
		source connector.Source
		opts   *Options
	}{
		{"everything", shop(t), &Options{}},
		{"three methods", connectors.Source{Tables: shopTables()}, &Options{}},
		{"flags", shop(t, flagged...), &Options{}},
		{"little declared", shop(t, small...), &Options{Connector: &connector.Options{Omit: connector.Omit{
			Operators: []wire.Op{wire.OpContains, wire.OpNin, wire.OpEq}, Sort: wire.SortNone, Offset: true, Join: true, DateBucket: true,
			Endpoints: []wire.Endpoint{wire.EndpointCount, wire.EndpointCardinality},
		}}}},
		{"one sort key", connectors.Source{Tables: small},
			&Options{Connector: &connector.Options{SortBudget: 5, Omit: connector.Omit{Sort: wire.SortSingle}}}},
		{"a tenant", newHost(t), &Options{Credentials: tenantA}},
	} {
		if !testrun.Runs(i, 3) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			def := shopDefinition
			if c.opts.Credentials != nil {
				def = hostedDefinition
			}
			c.opts.Requests = testrun.Budget(300)
			Run(t, def, c.source, c.opts)
		})
	}
}

// A report names what was tested, and what could not be.
func TestSummary(t *testing.T) {
	report := grade(t, shop(t), &conformance.Options{Seed: 7, Requests: 250})
	assert.Empty(t, findings(report))
	assert.Regexp(t, `^connectortest: \d+ checks passed, 0 failed; NOT WHOLE: .*; judged \d+ rows of 3 tables, `+
		`\d+ of 234 fields x operators.*; \d+ requests, seed 7\n`, summary(report))

	report = grade(t, connectors.Source{Tables: shopTables()[3:]}, nil) // a table without rows
	assert.Contains(t, summary(report), "\n\tnot tested: L5 declared keys are unique and, unless nullable, never null: "+
		"no table with rows declares a key")
}

// One fault fails several checks, and fits on a screen.
func TestFindingsFitOnAScreen(t *testing.T) {
	testrun.Long(t)
	const screen = 50
	lines := 0
	for _, one := range findings(grade(t, unfiltered.source(t), nil)) {
		lines += 2 + strings.Count(one.text, "\n") // package testing adds a line
	}
	assert.LessOrEqual(t, lines, screen)
}

// A run that cannot judge the connector fails, although no check has.
func TestRunNeedsToRead(t *testing.T) {
	source := connectors.Source{Tables: shopTables(), OnQuery: func(context.Context, *connector.Query, *connector.Rows) error {
		return connector.UpstreamTimeout("the upstream sleeps")
	}}
	list := findings(grade(t, source, nil))
	require.NotEmpty(t, list)
	assert.Contains(t, list[0].text, `table "orders" cannot be read`)
}

// Refusing a legal request fails the run, because every source can answer it without claiming anything.
func TestRunRefusals(t *testing.T) {
	source := honest(t)
	query := source.OnQuery
	source.OnQuery = func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
		for f := range req.Filters() {
			if f.Op == wire.OpStartsWith {
				return connector.Unsupported("no prefixes here")
			}
		}
		return query(ctx, req, out)
	}
	list := findings(grade(t, source, nil))
	require.NotEmpty(t, list)
	assert.Contains(t, list[0].text, "no prefixes here")
}

// TestRunUnderGoTest runs a failing test of this package with go test and reads the output.
func TestRunUnderGoTest(t *testing.T) {
	const inner = "CONNECTORTEST_INNER"
	if os.Getenv(inner) != "" {
		Run(t, shopDefinition, misread(t, withoutNulls), &Options{Requests: testrun.Budget(300)})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestRunUnderGoTest$")
	cmd.Env = append(os.Environ(), inner+"=1")
	out, err := cmd.CombinedOutput()
	output := string(out)
	assert.Error(t, err)
	t.Log(output)
	assert.Contains(t, output, "--- FAIL: TestRunUnderGoTest/L2")
	assert.NotContains(t, output, "at_once", "what is wrong alone is wrong at once")
}

// What is right alone may be wrong at once.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		whole, less := connectors.Source{Tables: shopTables()}, connectors.Source{Tables: shopTables()}
		less.Tables[0].Rows = less.Tables[0].Rows[1:]
		muddled := whole // loses a row when another query is under way
		muddled.OnQuery = func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
			defer open.Add(-1)
			open.Add(1)
			time.Sleep(time.Millisecond)
			if open.Load() > 1 {
				return less.Query(ctx, req, out)
			}
			return whole.Query(ctx, req, out)
		}
		r := record(t, func(tb testing.TB) { Start(tb, shopDefinition, muddled, nil).atOnce(tb, nil) })
		require.NotEmpty(t, r.errors)
		assert.Contains(t, r.errors[0], "POST /query of table \"orders\", beside other requests, "+
			"does not answer the tenant as it did alone: 1 of 11 rows missing")
	})
}

// recorder replaces a *testing.T in a test that must fail: it records failures and logs. Everything else, such as
// cleanups and the context, goes to the real test.
type recorder struct {
	testing.TB
	mu           sync.Mutex
	errors, logs []string
}

// record runs a part with a recorder, in a goroutine, which FailNow may end.
func record(t testing.TB, part func(testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		part(r)
	}()
	<-done
	return r
}

func (r *recorder) Helper() {}

func (r *recorder) note(list *[]string, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, text)
}

func (r *recorder) Logf(format string, args ...any) { r.note(&r.logs, fmt.Sprintf(format, args...)) }
func (r *recorder) Error(args ...any)               { r.note(&r.errors, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) {
	r.note(&r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func TestMain(m *testing.M) { testrun.Main(m) }
