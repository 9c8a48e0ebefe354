package enginetest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// plans collects what is observed.
type plans struct {
	mu  sync.Mutex
	all []string
}

func (p *plans) add(_ context.Context, plan sqlsource.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, plan.String())
}

// take returns what was observed since the last call, without the statements but
// with their number.
func (p *plans) take() (summary, whole string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole = strings.Join(p.all, "")
	p.all = nil
	for line := range strings.Lines(whole) {
		if strings.HasPrefix(line, "  statement: ") {
			continue
		}
		summary += line
	}
	return summary, whole
}

// TestSQLitePlan tells what was pushed, and what was not and why. The marker stands in
// every value of a request, and in no plan.
func TestSQLitePlan(t *testing.T) {
	const marker = "mark7c1e"
	db := newSQLite(t, `
		CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, doc JSON, at DATETIME, f REAL, d DECIMAL);
		INSERT INTO t VALUES (1, 'a', '[1]', '2024-01-01', 1.5, 1), (2, 'b', '[2]', 'no date', 2.5, 2)`)
	var seen plans
	caller := db.caller(t, &sqlsource.Options{Observe: seen.add}).Unverified()
	query := func(change func(*wire.QueryRequest)) func() error {
		return func() error {
			req := wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id"}}
			change(&req)
			_, err := caller.Query(req)
			return err
		}
	}
	where := func(field string, op wire.Op) wire.Where {
		return wire.Where{And: []wire.Filter{{Field: field, Op: op, Value: wire.Text(marker)}}}
	}
	by := func(field string) []wire.SortKey { return []wire.SortKey{{Field: field, Dir: wire.Asc}} }
	for _, c := range []struct {
		why  string
		ask  func() error
		want string
	}{
		{"nothing to push", query(func(*wire.QueryRequest) {}), "Query of \"t\"\n"},
		{"all is pushed", query(func(r *wire.QueryRequest) {
			r.Where, r.Sort, r.Limit = where("name", wire.OpGt), by("name"), 5
		}), "Query of \"t\"\n  pushed: filters, sort, window\n"},
		{"no condition for a filter", query(func(r *wire.QueryRequest) {
			r.Where, r.Limit = where("doc", wire.OpContains), 5
		}), "Query of \"t\"\n" +
			"  not pushed: The filter contains on \"doc\" is left to the library: the engine has no condition that means the same.\n" +
			"  not pushed: The window is cut after the filters, which are not all pushed.\n"},
		{"part of the filters", query(func(r *wire.QueryRequest) {
			r.Where = where("doc", wire.OpContains)
			r.And = append(r.And, where("name", wire.OpEq).And...)
		}), "Query of \"t\"\n" +
			"  not pushed: The filter contains on \"doc\" is left to the library: the engine has no condition that means the same.\n" +
			"  not pushed: The other filters are pushed, and the library filters what is left.\n"},
		{"an or that is not pushed", query(func(r *wire.QueryRequest) {
			r.Or = [][]wire.Filter{where("doc", wire.OpContains).And, where("name", wire.OpEq).And}
		}), "Query of \"t\"\n" +
			"  not pushed: The filter contains on \"doc\" is left to the library: the engine has no condition that means the same.\n" +
			"  not pushed: The filter eq on \"name\" is left to the library: it stands in an or with a filter that is left to the library, " +
			"or there are too many filters or values.\n"},
		{"an order that the engine has not", query(func(r *wire.QueryRequest) { r.Sort, r.Limit = by("doc"), 5 }),
			"Query of \"t\"\n" +
				"  not pushed: The sort by \"doc\" is left to the library: the engine cannot order its values exactly.\n" +
				"  not pushed: The window is cut after the sort, which is not pushed.\n"},
		{"a count", func() error {
			_, err := caller.Count(wire.CountRequest{Table: "t", Where: where("name", wire.OpEq)})
			return err
		}, "Count of \"t\"\n  pushed: filters, count\n"},
		{"a count by reading", func() error {
			_, err := caller.Count(wire.CountRequest{Table: "t", Where: where("doc", wire.OpContains)})
			return err
		}, "Count of \"t\"\n" +
			"  not pushed: The filter contains on \"doc\" is left to the library: the engine has no condition that means the same.\n" +
			"Query of \"t\"\n" +
			"  not pushed: The filter contains on \"doc\" is left to the library: the engine has no condition that means the same.\n"},
		{"an aggregate", func() error {
			_, err := caller.Aggregate(wire.AggregateRequest{
				Table: "t", Where: where("name", wire.OpNeq), GroupBy: []wire.GroupKey{{Field: "name", As: "g"}},
				Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}, Limit: 1001,
			})
			return err
		}, "Aggregate of \"t\"\n  pushed: filters, groups and measures\n"},
		{"a sum of reals that are decimals", func() error {
			_, err := caller.Aggregate(wire.AggregateRequest{
				Table: "t", GroupBy: []wire.GroupKey{}, Measures: []wire.Measure{{Fn: wire.AggSum, Field: "f", As: "n"}}, Limit: 1001,
			})
			return err
		}, "Aggregate of \"t\"\n  pushed: groups and measures\n"},
		{"joins", query(func(r *wire.QueryRequest) {
			r.Joins = []wire.JoinHop{{FromTable: "t", ToTable: "t", FromField: "name", ToField: "name",
				Fields: []wire.JoinField{{Field: "id", As: "other"}}}}
		}), "QueryJoined of \"t\"\n  pushed: joins\n"},
		{"a join in memory", query(func(r *wire.QueryRequest) {
			r.Joins = []wire.JoinHop{{FromTable: "t", ToTable: "t", FromField: "f", ToField: "d",
				Fields: []wire.JoinField{{Field: "id", As: "other"}}}}
		}), "QueryJoined of \"t\"\n" +
			"  not pushed: The join by \"f\" = \"d\" is done in memory: the engine cannot compare the values of these columns exactly.\n"},
	} {
		_ = c.ask() // an aggregate that is declined is an error here
		summary, whole := seen.take()
		assert.Equal(t, c.want, summary, c.why)
		assert.NotContains(t, whole, marker, c.why)
	}
	require.NoError(t, caller.Check())
	_, whole := seen.take()
	assert.Empty(t, whole, "what reads the catalog only")
}

// TestSQLitePlanShowsNoValue asks every operator with a marker for a value, in every
// column, and looks for it in the plans.
func TestSQLitePlanShowsNoValue(t *testing.T) {
	markers := []wire.Value{
		wire.Text("mark7c1e"), wire.Int(7316007316), wire.Decimal("73160.07316"), wire.Text("7316-07-31"), wire.Bool(true),
	}
	db := newSQLite(t, `
		CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, doc JSON, at DATETIME, f REAL, d DECIMAL, b BOOLEAN, x BLOB);
		INSERT INTO t VALUES (1, 'a', '[1]', '2024-01-01', 1.5, 1, 1, x'00')`)
	var seen plans
	caller := db.caller(t, &sqlsource.Options{Observe: seen.add}).Unverified()
	asked := 0
	for _, field := range []string{"id", "name", "doc", "at", "f", "d", "b", "x"} {
		for _, op := range []wire.Op{
			wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpLte, wire.OpIn, wire.OpIncludes, wire.OpStartsWith, wire.OpContains,
		} {
			for _, v := range markers {
				f := wire.Filter{Field: field, Op: op, Value: v}
				if op == wire.OpIn {
					f = wire.Filter{Field: field, Op: op, Values: []wire.Value{v, v}}
				}
				_, err := caller.Query(wire.QueryRequest{
					Table: "t", Where: wire.Where{And: []wire.Filter{f}, Or: [][]wire.Filter{{f}, {f}}},
					Sort: []wire.SortKey{{Field: field, Dir: wire.Desc}}, Fields: []string{"id"}, Limit: 7316007316, Offset: 7316007316,
				})
				if err == nil {
					asked++
				}
				_, whole := seen.take()
				for _, marker := range []string{"mark7c1e", "7316"} {
					assert.NotContains(t, whole, marker, "%s %s %v", field, op, v)
				}
			}
		}
	}
	require.Greater(t, asked, 100, "requests that were answered")
}
