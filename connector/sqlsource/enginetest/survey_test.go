package enginetest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// survey is a set of requests about the tables of a database, to be asked of it in several
// ways: what comes back must be the same.
type survey []question

type question struct {
	what    string
	path    string
	message func(wire.Envelope) wire.Request
	sorted  bool // the order of the rows is part of the answer
}

// newSurvey asks for a discovery, and about each column of each table that it lists: all cells,
// a page by a sort, counts by comparisons with a sample, groups and measures.
func newSurvey(t testing.TB, d *database) survey {
	t.Helper()
	s := survey{{"discovery", wire.PathDiscovery, func(e wire.Envelope) wire.Request { return &wire.DiscoveryRequest{Envelope: e} }, false}}
	var found wire.Discovery
	body := serve(t, d.quiet(t, nil), wire.PathDiscovery, s[0].message(d.envelope())).Body.Bytes()
	require.NoError(t, wire.DecodeAnswer(body, &found), "%.300s", body)
	for _, table := range found.Tables {
		ask := func(what, path string, message func(wire.Envelope) wire.Request, sorted bool) {
			s = append(s, question{what + " of " + table.Name, path, message, sorted})
		}
		var names []string
		for _, f := range table.Fields {
			names = append(names, f.Name)
		}
		ask("rows", wire.PathQuery, func(e wire.Envelope) wire.Request {
			return &wire.QueryRequest{Table: table.Name, Sort: []wire.SortKey{}, Fields: names, Envelope: e}
		}, false)
		ask("distinct values", wire.PathCardinality, func(e wire.Envelope) wire.Request {
			return &wire.CardinalityRequest{Table: table.Name, Columns: names, Envelope: e}
		}, false)
		ask("size", wire.PathSize, func(e wire.Envelope) wire.Request { return &wire.SizeRequest{Table: table.Name, Envelope: e} }, false)
		var measures []wire.Measure
		for i, f := range table.Fields {
			dir := []wire.Direction{wire.Asc, wire.Desc}[i%2]
			ask("a page by "+f.Name, wire.PathQuery, func(e wire.Envelope) wire.Request {
				return &wire.QueryRequest{Table: table.Name, Fields: names, Limit: 7, Offset: 3,
					Sort: []wire.SortKey{{Field: f.Name, Dir: dir}}, Envelope: e}
			}, true)
			for _, where := range wheres(f) {
				ask(fmt.Sprintf("rows with %s %s", f.Name, where.Op), wire.PathCount,
					func(e wire.Envelope) wire.Request {
						return &wire.CountRequest{Table: table.Name, Where: wire.Where{And: []wire.Filter{where}}, Envelope: e}
					}, false)
			}
			if f.Type != wire.TypeJSON && f.Type != wire.TypeArray {
				fns := []wire.AggFunc{wire.AggMin, wire.AggMax}
				if f.Type == wire.TypeNumber || f.Type == wire.TypeDecimal {
					fns = append(fns, wire.AggSum)
				}
				for _, fn := range fns {
					measures = append(measures, wire.Measure{Fn: fn, Field: f.Name, As: fmt.Sprintf("m%d", len(measures))})
				}
				key := wire.GroupKey{Field: f.Name, As: "k"}
				switch f.Type {
				case wire.TypeDate, wire.TypeDatetime:
					key.Grain = wire.GrainDay
				case wire.TypeString:
				default:
					continue
				}
				ask("groups by "+f.Name, wire.PathAggregate, func(e wire.Envelope) wire.Request {
					return &wire.AggregateRequest{Table: table.Name, GroupBy: []wire.GroupKey{key},
						Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}, Limit: wire.AggregateLimit, Envelope: e}
				}, false)
			}
		}
		for some := range slices.Chunk(measures, 8) {
			ask("measures", wire.PathAggregate, func(e wire.Envelope) wire.Request {
				return &wire.AggregateRequest{Table: table.Name, Measures: some, Limit: wire.AggregateLimit,
					Envelope: e}
			}, false)
		}
	}
	return s
}

// wheres returns filters on a column, by one of its samples.
func wheres(f wire.Field) []wire.Filter {
	if f.Type == wire.TypeJSON || f.Type == wire.TypeArray {
		return []wire.Filter{{Field: f.Name, Op: wire.OpContains, Value: wire.Text("paid")}}
	}
	at := slices.IndexFunc(f.Samples, func(v wire.Value) bool { return !v.IsNull() })
	if at < 0 {
		return nil
	}
	by := func(op wire.Op, v wire.Value) wire.Filter { return wire.Filter{Field: f.Name, Op: op, Value: v} }
	switch sample := f.Samples[at]; f.Type {
	case wire.TypeBoolean:
		return []wire.Filter{by(wire.OpEq, sample)}
	case wire.TypeString:
		return []wire.Filter{by(wire.OpIncludes, sample), by(wire.OpEq, sample)}
	default:
		return []wire.Filter{by(wire.OpEq, sample), by(wire.OpGt, sample)}
	}
}

func (d *database) envelope() wire.Envelope {
	return wire.Envelope{Credentials: d.tenant(), TimeoutMS: 60_000}
}

// quiet returns a connector over the database that logs internal errors alone.
func (d *database) quiet(t testing.TB, options *sqlsource.Options) http.Handler {
	t.Helper()
	bearer, err := wire.NewToken(token)
	require.NoError(t, err)
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	handler, err := connector.New(d.definition(), d.source(t, options), bearer, &connector.Options{Logger: logger})
	require.NoError(t, err)
	return handler
}

// answers asks a database all questions, and returns the answers in their order.
func (s survey) answers(t testing.TB, d *database) []string {
	t.Helper()
	handler := d.quiet(t, nil)
	all := make([]string, len(s))
	for i, q := range s {
		all[i] = q.answer(t, handler, d.envelope())
	}
	return all
}

// same reports whether a database answers all questions so. It asks none after the first that it
// does not.
func (s survey) same(t testing.TB, d *database, want []string) bool {
	t.Helper()
	handler := d.quiet(t, nil)
	for i, q := range s {
		if q.answer(t, handler, d.envelope()) != want[i] {
			return false
		}
	}
	return true
}

// answer asks one question. It returns the rows of the answer in the order of their texts, if
// they may have any.
func (q question) answer(t testing.TB, handler http.Handler, e wire.Envelope) string {
	t.Helper()
	w := serve(t, handler, q.path, q.message(e))
	if w.Code != http.StatusOK || q.path != wire.PathQuery && q.path != wire.PathAggregate {
		return fmt.Sprintf("%d %s", w.Code, w.Body)
	}
	var rows, rest []string
	for line := range strings.Lines(w.Body.String()) { // a line has as many rows as were there in time
		var part struct{ Rows []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(line), &part), "%.300s", line)
		if part.Rows == nil {
			rest = append(rest, line)
		}
		for _, row := range part.Rows {
			rows = append(rows, string(row))
		}
	}
	if !q.sorted {
		slices.Sort(rows)
	}
	return fmt.Sprintf("%d %s %s", w.Code, rows, rest)
}

// differences returns the questions that two databases answer differently, with both answers
// from where they differ.
func (s survey) differences(want, got []string) []string {
	var all []string
	for i, q := range s {
		if want[i] == got[i] {
			continue
		}
		at := 0
		for at < min(len(want[i]), len(got[i])) && want[i][at] == got[i][at] {
			at++
		}
		from := max(0, at-40)
		all = append(all, fmt.Sprintf("%s: %.120q, expected %.120q", q.what, got[i][min(from, len(got[i])):], want[i][min(from, len(want[i])):]))
	}
	return all
}
