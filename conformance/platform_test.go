package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// formChecks are the checks about the form of an answer, which package platform judges
// too.
var formChecks = []string{
	"P0.2", "P0.3", "P0.4", "P0.5", "P1.5", "P1.7b", "P3.1a", "P3.1b",
	"P3.6a", "P3.6b", "P3.6c", "P3.6d", "P3.6e", "P3.6f", "P3.6g",
	"P3.10a", "P3.10b", "P3.10c", "P3.11a", "P3.11b", "P3.11c",
	"P2.16a", "P2.16b", "P2.16c", "P2.16d", "P2.16e", "P2.16f", "P2.16g", "L10",
}

// formFaults are further connectors whose fault is in the form of an answer.
var formFaults = []string{
	"a check that is not ok", "an empty dialect", "one row too many", "a window is claimed and not cut", "the rate is halved",
	"more distinct values than values", "orphan rate in percent", "a deadline cuts the stream without a word",
	"begins and hangs", "timeoutMs ends with the first line",
}

// formless are connectors that fail such a check by something else than the form of an
// answer to a legal request.
var formless = map[string]string{
	"rejected credentials are 401":             "it is a well-formed refusal, of the token",
	"rejected credentials are internal errors": "it is a well-formed error",
	"an internal error that tells its cause":   "only a malformed request provokes it",
	"a check that quotes the wrong password":   "what a message says is for the person who reads it",
	"integers through floats":                  "the wrong digits are digits",
	"instants without fractions":               "the wrong instant is an instant",
	"texts are trimmed":                        "the wrong text is a text",
	"nulls are empty texts":                    "an empty text is a text",
	"a null where there is none":               "a null is a cell of any column",
	"a view has nulls where it has none":       "a null is a cell of any column",
}

// TestPlatformRefuses asks every connector whose fault is in the form of an answer
// through package platform. It refuses an answer of each and says where the fault is
// and which rule it breaks.
func TestPlatformRefuses(t *testing.T) {
	t.Parallel()
	refused := 0
	for i, f := range faults() {
		isForm := slices.ContainsFunc(f.kills, func(id string) bool { return slices.Contains(formChecks, id) })
		if !isForm && !slices.Contains(formFaults, f.name) || race && i%8 > 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			answers := askAll(t, f.build(), f.grading())
			if reason := formless[f.name]; reason != "" {
				require.Empty(t, answers, reason)
				return
			}
			refused++
			require.NotEmpty(t, answers, "no answer is refused: %s", f.why)
			for _, fault := range answers {
				require.NotEmpty(t, fault.Place, "%v", fault)
				require.NotEmpty(t, fault.Problem, "%v", fault)
				_, known := rules.Lookup(fault.Rule)
				require.True(t, known, "%v", fault)
				require.NotContains(t, fault.Error(), testToken)
			}
			t.Log(answers[0])
		})
	}
	if !race {
		require.Greater(t, refused, 40)
	}
}

// TestPlatformAccepts asks connectors that few would write and that break no rule, and
// those that break what is advised. Package platform refuses no answer of them.
func TestPlatformAccepts(t *testing.T) {
	t.Parallel()
	for i, u := range unusual {
		if race && i%8 > 0 {
			continue
		}
		t.Run(u.name, func(t *testing.T) {
			require.Empty(t, askAll(t, u.build(), grading{}), u.why)
		})
	}
	for i, f := range faults() {
		advised := !slices.ContainsFunc(f.kills, func(id string) bool { return !strings.HasPrefix(id, "A.") })
		if !advised || race && i%8 > 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			require.Empty(t, askAll(t, f.build(), f.grading()), f.why)
		})
	}
	for i, odd := range oddities() {
		if race && i%8 > 0 {
			continue
		}
		t.Run(odd.name, func(t *testing.T) {
			var g grading
			if odd.options != nil {
				odd.options(&g)
			}
			if odd.build != nil {
				require.Empty(t, askAll(t, odd.build(), g), odd.why)
				return
			}
			require.Empty(t, askAll(t, odd.layer(usual()), g), odd.why)
		})
	}
}

// askAll asks a connector every kind of request, and returns the answers that are
// refused.
func askAll(t *testing.T, h http.Handler, g grading) (faults []*platform.AnswerError) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, stop := platform.InProcess(h)
		defer stop()
		a := &platformAsker{t: t, own: wire.NewCredentials(nil)}
		if len(g.credentials) > 0 {
			a.own = wire.NewCredentials(g.credentials[0])
		}
		url := "https://in-process.test"
		if g.url != "" {
			url = g.url
		}
		var err error
		options := &platform.Options{HTTP: client, Local: true}
		a.Client, err = platform.NewClient(url, conformance.NewSecret(testToken), options)
		require.NoError(t, err)
		stranger, err := platform.NewClient(url, conformance.NewSecret(strings.Repeat("x", 40)), options)
		require.NoError(t, err)
		a.ask(t.Context(), stranger)
		faults = a.faults
	})
	return faults
}

// platformAsker asks what the platform asks when a source is connected, and then some.
type platformAsker struct {
	*platform.Client
	t      *testing.T
	own    wire.Credentials
	real   bool // over a network, in real time
	faults []*platform.AnswerError
}

// note keeps the error of a refused answer. It reports whether there was no error.
func (a *platformAsker) note(err error) bool {
	a.t.Helper()
	var fault *platform.AnswerError
	if errors.As(err, &fault) {
		a.faults = append(a.faults, fault)
	} else if err != nil {
		require.ErrorAs(a.t, err, new(*wire.Error))
	}
	return err == nil
}

func (a *platformAsker) ask(ctx context.Context, stranger *platform.Client) {
	document, err := a.Document(ctx)
	a.note(err)
	a.note(stranger.Check(ctx, a.own))
	a.note(a.Check(ctx, a.own))
	a.note(a.Check(ctx, wire.NewCredentials(map[string]string{"apiKey": "wrong", "key": "wrong"})))
	discovery, err := a.Discover(ctx, a.own)
	if !a.note(err) || document == nil {
		return
	}
	serves := func(e wire.Endpoint) bool { return slices.Contains(document.Endpoints, e) }
	nowhere := wire.Where{And: []wire.Filter{{Field: "no such field", Op: wire.OpEq, Value: wire.Int(1)}}}
	a.rows(ctx, &wire.QueryRequest{Table: "no such table"}, nil)
	if !a.real { // which takes time
		a.rows(ctx, &wire.QueryRequest{Table: corpus.SlowTable, Envelope: wire.Envelope{TimeoutMS: 12_000}, MaxTimeoutMS: 12_000}, nil)
	}
	for i := range discovery.Tables {
		t := &discovery.Tables[i]
		if t.Name == corpus.SlowTable || len(t.Fields) == 0 {
			continue
		}
		var names []string
		for _, f := range t.Fields {
			names = append(names, f.Name)
		}
		a.rows(ctx, &wire.QueryRequest{Table: t.Name, Fields: names}, t.Columns())
		if i%4 > 0 {
			continue
		}
		first := t.Fields[0]
		a.rows(ctx, &wire.QueryRequest{Table: t.Name, Fields: names[:1], Limit: 3,
			Sort: []wire.SortKey{{Field: first.Name, Dir: wire.Desc}}}, t.Columns()[:1])
		a.rows(ctx, &wire.QueryRequest{Table: t.Name, Where: nowhere}, nil)
		if serves(wire.EndpointSize) {
			_, err := a.Size(ctx, a.own, t.Name)
			a.note(err)
			_, err = a.Size(ctx, a.own, "no such table")
			a.note(err)
		}
		if serves(wire.EndpointCount) {
			_, err := a.Count(ctx, a.own, &wire.CountRequest{Table: t.Name})
			a.note(err)
			_, err = a.Count(ctx, a.own, &wire.CountRequest{Table: t.Name, Where: nowhere})
			a.note(err)
		}
		if serves(wire.EndpointCardinality) {
			_, err := a.Cardinality(ctx, a.own, t.Name, names)
			a.note(err)
		}
		if serves(wire.EndpointLinkHitRate) {
			last := names[len(names)-1]
			_, err := a.LinkHitRate(ctx, a.own, &wire.LinkHitRateRequest{FromTable: t.Name, FromColumn: names[0], ToTable: t.Name, ToColumn: last})
			a.note(err)
			_, err = a.LinkHitRate(ctx, a.own, &wire.LinkHitRateRequest{FromTable: t.Name, FromColumn: last, ToTable: t.Name, ToColumn: names[0]})
			a.note(err)
		}
		if serves(wire.EndpointAggregate) {
			_, _, err := a.Aggregate(ctx, a.own, &wire.AggregateRequest{Table: t.Name, Limit: wire.AggregateLimit,
				GroupBy:  []wire.GroupKey{{Field: first.Name, As: "key"}},
				Measures: []wire.Measure{{Fn: wire.FnCount, As: "n"}, {Fn: wire.FnMin, Field: first.Name, As: "least"}}},
				[]wire.Column{{Name: "key", Type: first.Type}, {Name: "n"}, {Name: "least", Type: first.Type}})
			a.note(err)
		}
	}
}

// rows asks for rows and reads them to the end.
func (a *platformAsker) rows(ctx context.Context, req *wire.QueryRequest, columns []wire.Column) {
	rows, err := a.Query(ctx, a.own, req, columns)
	if !a.note(err) {
		return
	}
	for _, err := range rows.All() {
		a.note(err)
	}
}

// TestPlatformForeign reads a connector that was written without this library, over TCP,
// as it is and broken.
func TestPlatformForeign(t *testing.T) {
	t.Parallel()
	for fault, rule := range map[string]string{"": "", "no-end": "stream-13"} {
		url := startForeign(t, fault)
		_, err := platform.NewClient(url, conformance.NewSecret(testToken), nil)
		require.ErrorIs(t, err, platform.ErrAddress, "it is at a plain address of this machine")
		local := &platform.Options{Local: true}
		a := &platformAsker{t: t, real: true}
		a.Client, err = platform.NewClient(url, conformance.NewSecret(testToken), local)
		require.NoError(t, err)
		stranger, err := platform.NewClient(url, conformance.NewSecret(strings.Repeat("x", 40)), local)
		require.NoError(t, err)
		a.ask(t.Context(), stranger)
		if rule == "" {
			require.Empty(t, a.faults)
			continue
		}
		require.NotEmpty(t, a.faults)
		for _, fault := range a.faults {
			require.Equal(t, rule, fault.Rule, "%v", fault)
		}
	}
}
