package killtest

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// formChecks are the checks about the form of an answer, which package platform judges too.
var formChecks = []string{
	"P0.2", "P0.3", "P0.4", "P0.5", "P1.5", "P1.7b", "P3.1a", "P3.1b",
	"P3.6a", "P3.6b", "P3.6c", "P3.6d", "P3.6e", "P3.6f", "P3.6g",
	"P3.10a", "P3.10b", "P3.10c", "P3.11a", "P3.11b", "P3.11c",
	"P2.16", "L10",
}

// TestPlatformRefuses asks every connector whose fault is in the form of an answer or has a rule of the client's, through
// package platform. It refuses an answer of each and says where the fault is and which rule it breaks.
func TestPlatformRefuses(t *testing.T) {
	t.Parallel()
	refused := 0
	for i, f := range faults() {
		isForm := slices.ContainsFunc(f.killers(), func(id string) bool { return slices.Contains(formChecks, id) })
		require.True(t, isForm || f.harmless == "", "%s is harmless, and is not asked", f.name)
		if !isForm && f.client == "" || !testrun.Runs(i, 32) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			answers := askAll(t, f.build(), f.grading(), f.client != "")
			if f.harmless != "" {
				require.Empty(t, answers, f.harmless)
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
			if f.client != "" {
				require.True(t, slices.ContainsFunc(answers, func(fault *platform.AnswerError) bool { return fault.Rule == f.client }), "%v", answers)
			}
			t.Log(answers[0])
		})
	}
	if testrun.InFull() {
		require.Greater(t, refused, 40)
	}
}

// TestPlatformAccepts asks connectors that few would write and that break no rule, and
// those that break what is advised. Package platform refuses no answer of them.
func TestPlatformAccepts(t *testing.T) {
	t.Parallel()
	for i, f := range faults() {
		advised := !slices.ContainsFunc(f.kills, func(id string) bool { return !strings.HasPrefix(id, "A.") })
		if !advised || !testrun.Runs(i, 192) {
			continue
		}
		t.Run(f.name, func(t *testing.T) { require.Empty(t, askAll(t, f.build(), f.grading(), testrun.Runs(i, 4)), f.why) })
	}
	for i, odd := range oddities() {
		if !testrun.Runs(i, 192) {
			continue
		}
		t.Run(odd.name, func(t *testing.T) {
			g := with(odd.options)
			switch {
			case odd.build != nil:
				require.Empty(t, askAll(t, odd.build(), g, true), odd.why)
			case odd.corpus != nil:
				require.Empty(t, askAll(t, odd.corpus(), g, true), odd.why)
			default:
				require.Empty(t, askAll(t, odd.layer(usual()), g, testrun.Runs(i, 4)), odd.why)
			}
		})
	}
}

// askAll asks a connector every kind of request, and returns the answers that are
// refused. With claims, it also asks for all that a connector can claim to have served.
func askAll(t *testing.T, h http.Handler, g grading, claims bool) (faults []*platform.AnswerError) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, stop := memlisten.Client(h)
		defer stop()
		a := &platformAsker{t: t, own: credentialsOf(slices.Concat(g.credentials, []map[string]string{nil}))[0], claimed: claims}
		a.ask(cmp.Or(g.url, "https://in-process.test"), &platform.Options{HTTP: client, Local: true})
		faults = a.faults
	})
	return faults
}

// platformAsker asks what the platform asks when a source is connected, and then some.
type platformAsker struct {
	*platform.Client
	t       *testing.T
	own     wire.Credentials
	real    bool // over a network, in real time
	claimed bool // filters, sorts and aggregates are asked for too
	faults  []*platform.AnswerError
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

// answered notes an answer of which only the error is looked at.
func (a *platformAsker) answered(_ any, err error) { a.note(err) }

// noteGroups notes an answer of groups.
func (a *platformAsker) noteGroups(_, _ any, err error) { a.note(err) }

// ask asks the connector at an address.
func (a *platformAsker) ask(url string, options *platform.Options) {
	ctx := a.t.Context()
	a.Client = testkit.Must(platform.NewClient(url, wire.NewBearer(testToken), options))(a.t)
	stranger := testkit.Must(platform.NewClient(url, wire.NewBearer(strings.Repeat("x", 40)), options))(a.t)
	document, err := a.Document(ctx)
	a.note(err)
	a.note(stranger.Check(ctx, a.own))
	a.note(a.Check(ctx, a.own))
	a.note(a.Check(ctx, wire.NewCredentials(map[string]string{"apiKey": "wrong", "key": "wrong"})))
	discovery, err := a.Discover(ctx, a.own)
	if !a.note(err) || document == nil {
		return
	}
	nowhere := wire.Where{And: []wire.Filter{{Field: "no such field", Op: wire.OpEq, Value: wire.Int(1)}}}
	a.rows(nil, &wire.QueryRequest{Table: "no such table"}, nil)
	if !a.real { // which takes time
		a.rows(nil, &wire.QueryRequest{Table: corpus.Slow().Name, Envelope: wire.Envelope{TimeoutMS: 12_000}, MaxTimeoutMS: 12_000}, nil)
	}
	for i := range discovery.Tables {
		t := &discovery.Tables[i]
		if t.Name == corpus.Slow().Name || len(t.Fields) == 0 {
			continue
		}
		var names []string
		for _, f := range t.Fields {
			names = append(names, f.Name)
		}
		sample := a.rows(t, &wire.QueryRequest{Table: t.Name, Fields: names}, t.Columns())
		if i%4 > 0 {
			continue
		}
		if a.claimed {
			a.claims(document, t, names, sample)
		}
		first := t.Fields[0]
		a.rows(nil, &wire.QueryRequest{Table: t.Name, Fields: names[:1], Limit: 3,
			Sort: []wire.SortKey{{Field: first.Name, Dir: wire.Desc}}}, t.Columns()[:1])
		a.rows(nil, &wire.QueryRequest{Table: t.Name, Where: nowhere}, nil)
		a.answered(a.Size(ctx, a.own, t.Name))
		a.answered(a.Size(ctx, a.own, "no such table"))
		a.answered(a.Count(ctx, a.own, &wire.CountRequest{Table: t.Name}))
		a.answered(a.Count(ctx, a.own, &wire.CountRequest{Table: t.Name, Where: nowhere}))
		a.answered(a.Cardinality(ctx, a.own, t.Name, names))
		for _, ends := range [][2]string{{names[0], names[len(names)-1]}, {names[len(names)-1], names[0]}} {
			link := wire.LinkHitRateRequest{FromTable: t.Name, FromColumn: ends[0], ToTable: t.Name, ToColumn: ends[1]}
			a.answered(a.LinkHitRate(ctx, a.own, &link))
		}
		a.noteGroups(a.Aggregate(ctx, a.own, &wire.AggregateRequest{Table: t.Name, Limit: wire.AggregateLimit,
			GroupBy:  []wire.GroupKey{{Field: first.Name, As: "key"}},
			Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}, {Fn: wire.AggMin, Field: first.Name, As: "least"}}},
			[]wire.Column{{Name: "key", Type: first.Type}, {Name: "n"}, {Name: "least", Type: first.Type}}))
	}
}

// claims asks for what a connector can claim to have served: filters by values that its rows have, and sorts.
func (a *platformAsker) claims(d *wire.Document, t *wire.Table, names []string, sample [][]wire.Value) {
	for i, f := range t.Fields {
		if i >= 6 || !terms.Allowed(f.Filterable) {
			continue
		}
		filters := []wire.Filter{{Field: f.Name, Op: wire.OpIsNull}, {Field: f.Name, Op: wire.OpNotNull}}
		for _, row := range sample {
			if v := row[i]; !v.IsNull() {
				for _, op := range []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpLte, wire.OpIncludes} {
					filters = append(filters, wire.Filter{Field: f.Name, Op: op, Value: v})
				}
				filters = append(filters, wire.Filter{Field: f.Name, Op: wire.OpIn, Values: []wire.Value{v}},
					wire.Filter{Field: f.Name, Op: wire.OpNin, Values: []wire.Value{v}})
				break
			}
		}
		for _, one := range filters {
			if slices.Contains(d.Capabilities.Operators, one.Op) {
				where := wire.Where{And: []wire.Filter{one}}
				a.rows(t, &wire.QueryRequest{Table: t.Name, Fields: names, Where: where}, t.Columns())
				a.groups(t, f, where)
			}
		}
		for _, dir := range []wire.Direction{wire.Asc, wire.Desc} {
			if d.Capabilities.Sort != wire.SortNone {
				a.rows(t, &wire.QueryRequest{Table: t.Name, Fields: names, Limit: 1000,
					Sort: []wire.SortKey{{Field: f.Name, Dir: dir}}}, t.Columns())
			}
		}
	}
}

// groups asks for the groups of a field, with measures that bound each other.
func (a *platformAsker) groups(t *wire.Table, f wire.Field, where wire.Where) {
	switch f.Type {
	case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
		return
	}
	req := &wire.AggregateRequest{Table: t.Name, Limit: wire.AggregateLimit, Where: where,
		GroupBy: []wire.GroupKey{{Field: f.Name, As: "key"}}}
	columns := []wire.Column{{Name: "key", Type: f.Type}}
	for _, fn := range []wire.AggFunc{wire.AggCount, wire.AggCountDistinct, wire.AggMin, wire.AggMax} {
		req.Measures = append(req.Measures, wire.Measure{Fn: fn, Field: f.Name, As: string(fn)})
		columns = append(columns, wire.Column{Name: string(fn), Type: f.Type})
	}
	a.noteGroups(a.Aggregate(a.t.Context(), a.own, req, columns))
	req.GroupBy = nil
	a.noteGroups(a.Aggregate(a.t.Context(), a.own, req, columns[1:]))
}

// rows asks for rows of a table, if it is known which, reads them to the end and returns the first ones.
func (a *platformAsker) rows(t *wire.Table, req *wire.QueryRequest, columns []wire.Column) (sample [][]wire.Value) {
	rows, err := a.Query(a.t.Context(), a.own, req, columns)
	if !a.note(err) {
		return nil
	}
	if t != nil {
		rows.Expect(t)
	}
	for row, err := range rows.All() {
		if a.note(err) && len(sample) < 20 {
			sample = append(sample, slices.Clone(row))
		}
	}
	return sample
}

// TestPlatformForeign reads a connector that was written without this library, over TCP, as it is and broken, and asks the
// cases of the corpus of the one that is right, which joins and aggregates nothing itself.
func TestPlatformForeign(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	local := &platform.Options{Local: true}
	for fault, rule := range map[string]string{"": "", "no-end": "stream-13"} {
		url := startForeign(t, fault)
		_, err := platform.NewClient(url, wire.NewBearer(testToken), nil)
		require.ErrorIs(t, err, platform.ErrAddress, "it is at a plain address of this machine")
		a := &platformAsker{t: t, real: true, claimed: true}
		a.ask(url, local)
		if rule == "" {
			require.Empty(t, a.faults)
			only := &platform.ConnectionOptions{DiscoverOnly: true}
			c := testkit.Must(platform.Connect(t.Context(), a.Client, wire.Credentials{}, only))(t)
			for _, test := range corpus.Cases() {
				require.NoError(t, casetest.Ask(t.Context(), c, test), "%s (%s)", test.Name, test.Why)
			}
			continue
		}
		require.NotEmpty(t, a.faults)
		for _, fault := range a.faults {
			require.Equal(t, rule, fault.Rule, "%v", fault)
		}
	}
}
