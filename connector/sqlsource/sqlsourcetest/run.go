package sqlsourcetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Run tests a flavor on its engine: what discovery says of the columns, every
// cell, pages, joins of large tables, and generated requests, each answered by the
// engine and in memory. It shows the author of a flavor what is wrong by the
// smallest request that fails.
func Run(t *testing.T, e Engine, options *Options) {
	o := options.withDefaults(t)
	t.Logf("seed %d", o.Seed)
	if len(o.Without) > 0 {
		t.Logf("Options.Without leaves out %q", o.Without)
	}
	f := fill(t, e, o)
	if !t.Run("discovery", f.discovery) || !t.Run("cells", f.cells) {
		return // other failures would say nothing
	}
	for _, p := range []struct {
		name string
		test func(*testing.T)
	}{
		{partCardinality, f.cardinality}, {partPages, f.pages}, {partChangingPages, f.changingPages}, {partLargeJoins, f.largeJoins},
	} {
		t.Run(p.name, func(t *testing.T) {
			if !f.has(p.name) {
				t.Skip("left out by Options.Without")
			}
			p.test(t)
		})
	}
	r := newReport()
	t.Run("requests", func(t *testing.T) {
		const shards = 4
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				f.requests(t, newGenerator(f, o.Seed, uint64(2+shard), r), o.Queries/shards)
			})
		}
	})
	t.Logf("%s", r)
}

// Planted plants each of these bugs in turn in the code that builds statements,
// and fails for each that no generated request finds. plant plants a bug, or
// none for "".
func Planted(t *testing.T, e Engine, options *Options, bugs []string, plant func(bug string)) {
	o := options.withDefaults(t)
	plant("")
	f := fill(t, e, o)
	defer plant("")
	for i, bug := range bugs {
		t.Run(bug, func(t *testing.T) {
			plant(bug)
			g := newGenerator(f, o.Seed, uint64(1000+i), newReport())
			tenant := f.server.As(nil).Unverified().In(t)
			for n := range o.Queries {
				if found := f.try(tenant, g); found != nil {
					t.Logf("found by request %d: %.200s", n+1, found.problem)
					return
				}
			}
			t.Errorf("not found in %d requests", o.Queries)
		})
	}
}

// discovery compares what the catalog is read as with what was created.
func (f *fixture) discovery(t *testing.T) {
	d, err := f.server.As(nil).In(t).Discover()
	require.NoError(t, err)
	for _, name := range f.names {
		i := slices.IndexFunc(d.Tables, func(t wire.Table) bool { return t.Name == name })
		require.GreaterOrEqual(t, i, 0, "table %s is not discovered", name)
		got, want := d.Tables[i], f.tables[name]
		if !slices.Equal(got.PrimaryKey, want.key) && len(want.key) > 0 {
			t.Errorf("table %s: the primary key is %q, expected %q", name, got.PrimaryKey, want.key)
		}
		if !slices.Equal(got.Columns(), want.columns) {
			t.Errorf("table %s: the columns are\n\t%v, expected\n\t%v", name, got.Columns(), want.columns)
		}
	}
}

// cells reads every cell. The rest of the test depends on them.
func (f *fixture) cells(t *testing.T) {
	tenant := f.server.As(nil).Unverified().In(t)
	for _, name := range f.names {
		want := f.tables[name]
		got, err := tenant.Query(wire.QueryRequest{
			Table: name, Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}, Fields: want.fields(),
		})
		require.NoError(t, err, "table %s", name)
		require.Len(t, got.Rows, len(want.rows), "table %s", name)
		if !want.numbered {
			continue
		}
		reported := map[string]bool{}
		for _, row := range got.Rows {
			i := slices.IndexFunc(want.rows, func(w []wire.Value) bool { return w[0] == row[0] })
			require.GreaterOrEqual(t, i, 0, "table %s: a row with key %s", name, row[0])
			for k, c := range want.columns {
				have, expected := spell(row[k:k+1]), spell(want.rows[i][k:k+1])
				if have != expected && !reported[c.Name+expected] {
					reported[c.Name+expected] = true
					t.Errorf("column %s: a cell is read as %s, expected %s", c.Name, have, expected)
				}
			}
		}
	}
}

// cardinality counts the columns of every table.
func (f *fixture) cardinality(t *testing.T) {
	tenant := f.server.As(nil).Unverified().In(t)
	for _, name := range f.names {
		if problem := f.checkCardinality(tenant, f.tables[name]); problem != "" {
			t.Errorf("table %s: %s", name, problem)
		}
	}
}

// requests generates and checks n requests, and stops at the first that fails.
func (f *fixture) requests(t *testing.T, g *generator, n int) {
	tenant := f.server.As(nil).Unverified().In(t)
	for range n {
		if found := f.try(tenant, g); found != nil {
			found.report(t)
			return
		}
	}
}

// failure is a request that is answered wrongly.
type failure struct {
	problem string
	request wire.Request
	check   func(*wire.QueryRequest) string // asks a query again; nil: the request is not a query
}

// try generates one request and checks its answer. It returns nil if that is
// right.
func (f *fixture) try(tenant *connectortest.Tenant, g *generator) *failure {
	own := f.tables[f.names[[]int{0, 0, 0, 1, 2}[g.rng.IntN(5)]]]
	found := &failure{}
	switch kind := g.rng.IntN(20); {
	case kind < 2 && f.has(partAggregates):
		req, _ := g.aggregate(own)
		problem, declined := f.checkAggregate(tenant, req)
		g.report.aggregate(declined)
		found.problem, found.request = problem, req
	case kind >= 2 && kind < 4 && f.has(partLinks):
		req := g.link()
		g.report.link()
		found.problem, found.request = f.checkLink(tenant, *req), req
	default:
		req, notes := g.query(own)
		switch {
		case (kind == 4 || kind == 5) && f.has(partJoins):
			req, notes = g.joined()
		case kind == 6:
			req.Fields = own.fields() // so that different rows are not alike
		}
		found.request = req
		found.check = func(req *wire.QueryRequest) (problem string) {
			switch kind {
			case 6:
				return f.checkPages(tenant, req, req.Limit+20)
			case 7, 8:
				return f.checkCount(tenant, req)
			}
			return f.checkQuery(tenant, req)
		}
		matched, _ := oracle.Count(f.known, &wire.CountRequest{Table: req.Table, Where: req.Where})
		g.report.query(notes, int(matched), len(f.tables[req.Table].rows))
		found.problem = found.check(req)
	}
	if found.problem == "" {
		return nil
	}
	return found
}

// report reports a wrong answer, for a query by the smallest one that fails.
func (found *failure) report(t *testing.T) {
	if found.check == nil {
		t.Errorf("an answer differs: %s\nrequest: %s", found.problem, show(found.request))
		return
	}
	small := shrink(found.request.(*wire.QueryRequest), func(r *wire.QueryRequest) bool { return found.check(r) != "" })
	if again := found.check(small); again != "" {
		t.Errorf("an answer differs: %s\nrequest: %s", again, show(small))
		return
	}
	t.Errorf("an answer differed once, but not when asked again: %s\nrequest: %s", found.problem, show(found.request))
}

// show returns a request as JSON.
func show(m wire.Request) string {
	switch r := m.(type) {
	case *wire.QueryRequest:
		own := *r
		own.TimeoutMS = 1
		m = &own
	case *wire.AggregateRequest:
		own := *r
		own.TimeoutMS = 1
		m = &own
	case *wire.LinkHitRateRequest:
		own := *r
		own.TimeoutMS = 1
		m = &own
	}
	b, err := wire.EncodeRequest(m)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
