package killtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// generatedOnly runs the generated queries alone.
const generatedOnly = `^(P2\.17|M11)$`

// TestGeneratedAcceptsTheReference requires that a connector that is right passes
// whatever the seed, within the budget of requests, and by answers that tell.
func TestGeneratedAcceptsTheReference(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	h := usual()
	for i := range 20 {
		t.Run(fmt.Sprint("seed ", i+1), func(t *testing.T) {
			t.Parallel()
			seed := uint64(i + 1)
			r := grade(t, h, grading{Options: conformance.Options{Match: `^P2\.17$`, Seed: seed}})
			require.Len(t, r.Outcomes, 1)
			for _, o := range r.Outcomes {
				require.Equal(t, conformance.Pass, o.Verdict, "seed %d, %s: %s\nexpected %s\nreceived %s\n%v", seed, o.ID,
					o.Detail, o.Expected, o.Received, o.Request)
				require.Positive(t, o.Cases)
			}
			require.InDelta(t, 360, r.Coverage().Generated, 60, "the budget of requests")
			require.Greater(t, 10*r.Coverage().Telling, 3*r.Coverage().Generated, "answers that are neither empty nor everything")
		})
	}
}

// TestGeneratedFaultsAreFound: with seed 1, by the named checks, and shrunk to what the fault needs.
func TestGeneratedFaultsAreFound(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	// What is left of the requests that are reported, as shapeOf tells it.
	small := map[string]string{
		"the third group of or is forgotten":                "fields[1], or[1 1 1]",
		"in looks at three members":                         "fields[1], and[4]",
		"includes looks at four characters":                 "fields[1], and[1]",
		"the third sort key is turned around":               "fields[1 1 1], sort[1 1 1]",
		"an offset beside or is one short":                  "fields[1], or[1], offset 2",
		"a count forgets the second filter of a group":      "or[2]",
		"two groups forget or":                              "or[1], groupBy[1 1]",
		"a third minimum is a maximum":                      "measures[1 1 1]",
		"conjuncts beside or are left to the platform":      "fields[1 1], and[1], or[1]",
		"an offset beside or is applied and not claimed":    "fields[1], or[1], offset 1",
		"all but the first group of or are forgotten, live": "fields[1 1], or[1 1]",
	}
	all := generatedFaults
	require.Len(t, small, len(all))
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, f.build(), with(matching(generatedOnly), f.options))
			for _, o := range r.Failures() {
				t.Logf("%s %s\nexpected %s\nreceived %s\n%s", o.ID, o.Detail, o.Expected, o.Received, o.Request.Body)
			}
			for i, id := range f.killers() {
				o := r.Outcome(id)
				require.Equal(t, conformance.Fail, o.Verdict, "%s: %s %s", id, o.Reason, o.Detail)
				require.True(t, killed(f.kills[i], o), "%s: %q", f.kills[i], o.Broken)
				require.Contains(t, o.Detail, "(seed 1, generated case ")
				require.Contains(t, o.Detail, ", shrunk from ")
			}
			o := r.Outcome(f.killers()[0])
			require.Equal(t, small[f.name], shapeOf(parsed([]byte(o.Request.Body))), o.Request.Body)
			require.True(t, o.Expected == "" || o.Expected != o.Received, o.Expected)
			if f.name == "includes looks at four characters" {
				require.Regexp(t, `answered although \w+\.\w+ includes .* does not hold`, o.Detail)
			}
			require.Less(t, r.Coverage().Requests, 900, "shrinking is bounded")
		})
	}
}

// shapeOf returns how long the lists of a request are, each with the lengths of what stands in it: one, or the filters
// of a group, or the values of a filter. An offset follows.
func shapeOf(body map[string]any) string {
	var shape []string
	for _, member := range []string{"fields", "and", "or", "sort", "groupBy", "measures", "offset"} {
		var lengths []int
		for _, item := range alternatives(body, member) {
			group, _ := item.([]any)
			object, _ := item.(map[string]any)
			lengths = append(lengths, max(1, len(group), len(alternatives(object, "values"))))
		}
		if lengths != nil {
			shape = append(shape, fmt.Sprint(member, lengths))
		}
		if n := integer(body, member); n > 0 {
			shape = append(shape, fmt.Sprint(member, " ", n))
		}
	}
	return strings.Join(shape, ", ")
}

// TestGeneratedVerdicts: what is no fault of the connector's, or another check's, fails none of these.
func TestGeneratedVerdicts(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	type verdict struct {
		conformance.Verdict
		conformance.Reason
	}
	pass := verdict{Verdict: conformance.Pass}
	fails := verdict{Verdict: conformance.Fail}
	omit := func(o connector.Omit) func() http.Handler { return ofCorpus(connector.Definition{}, o) }
	unclaiming := func(edit func(*wire.QueryRequest)) func() http.Handler { return over(misread(inRows(edit)), unclaimed) }
	queriesRefused := func(holds func(body map[string]any) bool) layer {
		return refusing(wire.PathQuery, holds, http.StatusUnprocessableEntity)
	}
	for _, c := range []struct {
		why   string
		mode  conformance.Mode
		build func() http.Handler
		want  verdict
	}{
		{why: "whoever claims nothing is finished, and asked for the fields that takes", build: unclaiming(func(q *wire.QueryRequest) {
			q.And, q.Or, q.Sort, q.Limit, q.Offset = nil, nil, nil, 0, 0
		}), want: fails}, // every operator is declared, so rows that break a filter break the law
		{why: "what was done and not claimed is done again",
			build: unclaiming(func(q *wire.QueryRequest) { q.Limit, q.Offset = 0, 0 }), want: pass},
		{why: "no filter is asked of a connector without operators",
			build: omit(connector.Omit{Operators: filter.Operators()}), want: pass},
		{why: "no sort, offset or grain is asked of a connector that declares none", build: over(
			omit(connector.Omit{Sort: wire.SortNone, Offset: true, DateBucket: true}), queriesRefused(func(body map[string]any) bool {
				return len(listOf(body, "sort")) > 0 || integer(body, "offset") > 0
			}), refusing(wire.PathAggregate, grained, http.StatusUnprocessableEntity)), want: pass},
		{why: "no second key is asked of a connector that honours one", build: over(omit(connector.Omit{Sort: wire.SortSingle}),
			queriesRefused(asks("sort>1"))), want: pass},
		{why: "routes that are not listed are not asked",
			build: omit(connector.Omit{Endpoints: []wire.Endpoint{wire.EndpointCount, wire.EndpointAggregate}}), want: pass},
		{why: "an aggregate may be declined, and so may all",
			build: over(usual, answers(func(map[string]any, int) (any, int) { return nil, http.StatusNoContent }, wire.PathAggregate)),
			want:  pass},
		{why: "rows that differ from the corpus are another check's fault; as it was not planned, the first reports it",
			build: over(usual, cells(func(name string, v any) any {
				if name == "country" && v == "DE" {
					return "XX"
				}
				return v
			})), want: fails},
		{why: "claims that mean nothing fail whatever asks for filters",
			build: misread(inRows(func(q *wire.QueryRequest) { q.And, q.Or = nil, nil })), want: fails},
		{why: "a legal request that is refused fails", build: over(usual, queriesRefused(asks("or>1"))), want: fails},
		{why: "live data that moved are read again, and judged as they are now", mode: conformance.ModeLive, build: func() http.Handler {
			before, after := serve(connector.Definition{}, fixtureSource(corpus.Tables()...),
				nil), serve(connector.Definition{}, fixtureSource(halved()...), nil)
			var n atomic.Int64
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) > 40 {
					after.ServeHTTP(w, r)
					return
				}
				before.ServeHTTP(w, r)
			})
		}, want: pass},
		{why: "the order of rows nobody asked for is free", mode: conformance.ModeLive,
			build: over(usual, lines(func(line []byte, emit func(...string)) { emit(string(line)) })), want: pass},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			r := grade(t, c.build(), grading{Options: conformance.Options{Mode: c.mode, Match: generatedOnly}})
			require.NotEmpty(t, r.Outcomes)
			for _, o := range r.Outcomes {
				require.Equal(t, c.want, verdict{o.Verdict, o.Reason}, "%s: %s\nexpected %s\nreceived %s\n%v",
					o.ID, o.Detail, o.Expected, o.Received, o.Request)
			}
		})
	}
}

// halved returns the corpus after every second row was deleted.
func halved() []corpus.Table {
	tables := corpus.Tables()
	for i := range tables {
		var rows [][]wire.Value
		for n, row := range tables[i].Rows {
			if n%2 == 0 {
				rows = append(rows, row)
			}
		}
		tables[i].Rows = rows
	}
	return tables
}

// TestGeneratedAreReplayed: a seed and a check's id are enough to ask the same
// again, whatever else is run and in whatever order the rows come.
func TestGeneratedAreReplayed(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	requests := func(run string, seed uint64, shuffled bool) map[string][]string {
		seen := map[string][]string{}
		check := ""
		tables := corpus.Tables()
		if shuffled {
			for i := range tables {
				slices.Reverse(tables[i].Rows)
			}
		}
		h := asked(func(m wire.Request) layer {
			q, ok := m.(*wire.QueryRequest)
			if ok && len(q.And)+len(q.Or)+len(q.Sort) == 0 && q.Limit+q.Offset == 0 {
				return nil // of a table, whole
			}
			body, err := wire.EncodeRequest(m)
			require.NoError(t, err)
			seen[check] = append(seen[check], string(body))
			return nil
		})(serve(connector.Definition{}, fixtureSource(tables...), nil))
		grade(t, h, grading{Options: conformance.Options{Match: run, Seed: seed, Progress: func(e conformance.Event) { check = e.ID }}})
		return seen
	}
	whole := requests(`^P2\.1[67]$`, 5, false)["P2.17"]
	require.NotEmpty(t, whole)
	require.Equal(t, map[string][]string{"P2.17": whole}, requests(generatedOnly, 5, true))
	require.NotEqual(t, whole, requests(generatedOnly, 6, false)["P2.17"], "another seed asks something else")
}

// misread returns a connector over the corpus that answers another request than the one it was sent: edit changes it.
func misread(edit func(wire.Request)) func() http.Handler {
	return over(usual, asked(func(m wire.Request) layer {
		edit(m)
		return nil
	}))
}

// asked passes every request for rows, counts and groups through edit, which may
// change it, and wrap the handler that answers it.
func asked(edit func(wire.Request) layer) layer {
	return func(h http.Handler) http.Handler {
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			m := request(r.URL.Path)
			if !slices.Contains([]string{wire.PathQuery, wire.PathCount, wire.PathAggregate}, r.URL.Path) || wire.Decode(*body, m) != nil {
				return false
			}
			wrap := edit(m)
			*body = must(wire.EncodeRequest(m))
			if wrap != nil {
				wrap(h).ServeHTTP(w, withBody(r, *body))
			}
			return wrap != nil
		})(h)
	}
}

// inRows edits the queries among the requests.
func inRows(edit func(*wire.QueryRequest)) func(wire.Request) {
	return func(m wire.Request) {
		if q, ok := m.(*wire.QueryRequest); ok {
			edit(q)
		}
	}
}

// inFilters passes every filter of a query through edit.
func inFilters(edit func(*wire.Filter)) func(wire.Request) {
	return inRows(func(q *wire.QueryRequest) {
		for _, group := range append([][]wire.Filter{q.And}, q.Or...) {
			for i := range group {
				edit(&group[i])
			}
		}
	})
}

// generatedFaults are faults that hide from requests somebody would write down:
// they need three keys, four members, or two things at once.
var generatedFaults = []fault{
	broken("the third group of or is forgotten", "`or` is an array of groups: each of them counts", "P2.17: filters",
		misread(inRows(func(q *wire.QueryRequest) {
			if len(q.Or) > 2 {
				q.Or = slices.Delete(q.Or, 2, 3)
			}
		}))).behind("P2.4: groups of or", "a fixed case has three groups, and comes before generated ones"),
	broken("in looks at three members", "in finds every member of the list", "P2.17: filters, P2.17: sorts and windows",
		misread(inFilters(func(f *wire.Filter) {
			if f.Op == wire.OpIn && len(f.Values) > 3 {
				f.Values = f.Values[:3]
			}
		}))).behind("P2.3: lte", "its cases name the rows beside by in, with five members"),
	broken("includes looks at four characters", "includes is a substring, however long", "P2.17: filters",
		misread(inFilters(func(f *wire.Filter) {
			if text := []rune(f.Value.String()); f.Op == wire.OpIncludes && len(text) > 4 {
				f.Value = wire.Text(string(text[:4]))
			}
		}))).behind("P2.3: includes", "a fixed case has a longer text, and comes before generated ones").refused("stream-11"),
	broken("the third sort key is turned around", "every key of a sort has a direction of its own", "P2.17: sorts and windows",
		misread(inRows(func(q *wire.QueryRequest) {
			if len(q.Sort) > 2 {
				q.Sort[2].Dir = map[wire.Direction]wire.Direction{wire.Asc: wire.Desc, wire.Desc: wire.Asc}[q.Sort[2].Dir]
			}
		}))).behind("P2.6: several keys", "a fixed case has three keys, and comes before generated ones"),
	broken("an offset beside or is one short", "offset is how many of the matching rows are passed over",
		"P2.17: sorts and windows", misread(inRows(func(q *wire.QueryRequest) {
			if len(q.Or) > 0 && q.Offset > 1 {
				q.Offset--
			}
		}))),
	broken("a count forgets the second filter of a group", "all filters of a group must hold", "P2.17: counts",
		misread(func(m wire.Request) {
			if c, ok := m.(*wire.CountRequest); ok {
				c.Or = beginnings(c.Or, 1)
			}
		})).behind("P2.10: or", "a fixed case has such a group, and comes before generated ones"),
	broken("two groups forget or", "a wrong number is never legal", "P2.17: aggregates", misread(func(m wire.Request) {
		if a, ok := m.(*wire.AggregateRequest); ok && len(a.GroupBy) > 1 {
			a.Or = nil
		}
	})),
	broken("a third minimum is a maximum", "a wrong number is never legal", "P2.17: aggregates", misread(func(m wire.Request) {
		if a, ok := m.(*wire.AggregateRequest); ok && len(a.Measures) > 2 {
			for i := range a.Measures[2:] {
				if n := &a.Measures[2+i]; n.Fn == wire.AggMin {
					n.Fn = wire.AggMax
				}
			}
		}
	})).behind("P2.11: several groups and measures", "a fixed case has three measures, and comes before generated ones"),
	broken("conjuncts beside or are left to the platform",
		"every row answered must satisfy every filter for which the connector declared an operator, claimed or not",
		"P2.17: combined filters", over(usual, asked(func(m wire.Request) layer {
			q, ok := m.(*wire.QueryRequest)
			if !ok || len(q.Or) == 0 || q.Limit+q.Offset > 0 {
				return nil
			}
			q.And, q.Sort = nil, nil
			return unclaimed
		}))).behind("P2.9: filters with declared operators", "it is watched on every stream"),
	broken("an offset beside or is applied and not claimed", "what is not claimed is done again over the rows that come",
		"P2.17: sorts and windows", over(usual, asked(func(m wire.Request) layer {
			if q, ok := m.(*wire.QueryRequest); ok && len(q.Or) > 0 && q.Offset > 0 {
				return unclaimed
			}
			return nil
		}))).behind("P2.7: a window behind filters and a sort", "a fixed case has both, and comes before generated ones"),
	broken("all but the first group of or are forgotten, live", "`or` is an array of groups: each of them counts", "M11",
		misread(inRows(func(q *wire.QueryRequest) {
			if len(q.Or) > 1 {
				q.Or = q.Or[:1]
			}
		}))).graded(live).behind("P3.4: an or group", "an unknown field in a forgotten group is not refused"),
}

// unclaimed drops the served line.
var unclaimed = linesOf("served", func([]byte, func(...string)) {})
