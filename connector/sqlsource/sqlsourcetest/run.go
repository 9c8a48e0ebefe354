package sqlsourcetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Config says how long a test is.
type Config struct {
	// Queries is how many are generated; zero means 2,000.
	Queries int
	// Seed makes the same rows and requests again; zero means another each
	// time. The log tells it.
	Seed uint64
}

// Run tests a flavor on its engine: what discovery says of the columns, every
// cell, and generated requests, each answered by the engine and in memory. It
// tells the author of a flavor what his flavor gets wrong, by the smallest
// request that shows it.
func Run(t *testing.T, e Engine, config Config) {
	if config.Seed == 0 {
		config.Seed = uint64(time.Now().UnixNano())
	}
	if config.Queries == 0 {
		config.Queries = 2000
	}
	t.Logf("seed %d", config.Seed)
	f := fill(t, e, config.Seed)
	if !t.Run("discovery", f.discovery) || !t.Run("cells", f.cells) {
		return // whatever else fails then says nothing
	}
	r := newReport()
	t.Run("cardinality", func(t *testing.T) {
		for _, name := range f.names {
			if problem := f.checkCardinality(f.server.As(nil).Unverified().In(t), f.tables[name]); problem != "" {
				t.Errorf("table %s: %s", name, problem)
			}
		}
	})
	t.Run("pages", f.pages)
	t.Run("requests", func(t *testing.T) {
		const shards = 4
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				f.requests(t, newGenerator(f, config.Seed, uint64(2+shard), r), config.Queries/shards)
			})
		}
	})
	t.Logf("%s", r)
}

// discovery holds what the catalog is read as against what was made.
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

// cells reads every cell: the rest of the test rests on them.
func (f *fixture) cells(t *testing.T) {
	tenant := f.server.As(nil).Unverified().In(t)
	for _, name := range f.names {
		want := f.tables[name]
		req := wire.QueryRequest{Table: name, Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}}
		for _, c := range want.columns {
			req.Fields = append(req.Fields, c.Name)
		}
		got, err := tenant.Query(req)
		require.NoError(t, err, "table %s", name)
		require.Len(t, got.Rows, len(want.rows), "table %s", name)
		if want.key == nil {
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

// pages puts tables together from pages, whose ties must not move (B3).
func (f *fixture) pages(t *testing.T) {
	tenant := f.server.As(nil).Unverified().In(t)
	for _, name := range f.names {
		for _, c := range f.tables[name].columns {
			if problem := f.checkPages(tenant, f.tables[name], wire.SortKey{Field: c.Name, Dir: wire.Desc}, 7); problem != "" {
				t.Errorf("table %s: %s", name, problem)
			}
		}
	}
}

// requests generates and checks n requests, and stops at the first that fails.
func (f *fixture) requests(t *testing.T, g *generator, n int) {
	tenant := f.server.As(nil).Unverified().In(t)
	for range n {
		own := f.tables[f.names[[]int{0, 0, 0, 1, 2}[g.rng.IntN(5)]]]
		switch g.rng.IntN(10) {
		case 0:
			req, notes := g.joined()
			problem, matched := f.checkQuery(tenant, req)
			g.report.query(notes, matched, len(f.tables[req.Table].rows))
			f.fail(t, req, problem, func(req *wire.QueryRequest) string { p, _ := f.checkQuery(tenant, req); return p })
		case 1:
			req, notes := g.query(own)
			problem := f.checkCount(tenant, req)
			a, _ := f.query(req)
			g.report.query(notes, a.matched, len(own.rows))
			f.fail(t, req, problem, func(req *wire.QueryRequest) string { return f.checkCount(tenant, req) })
		case 2:
			req, _ := g.aggregate(own)
			problem, declined := f.checkAggregate(tenant, req)
			g.report.aggregate(declined)
			if problem != "" {
				t.Errorf("an aggregate differs: %s\nrequest: %s", problem, show(req))
			}
		case 3:
			from, to := f.tables[f.names[g.rng.IntN(3)]], f.tables[f.names[g.rng.IntN(3)]]
			req := wire.LinkHitRateRequest{FromTable: from.name, ToTable: to.name, FromColumn: g.column(from), ToColumn: g.column(to)}
			if g.rng.IntN(2) == 0 && hasColumn(to, req.FromColumn) {
				req.ToColumn = req.FromColumn
			}
			if problem := f.checkLink(tenant, req); problem != "" {
				t.Errorf("a link from %s.%s to %s.%s: %s", req.FromTable, req.FromColumn, req.ToTable, req.ToColumn, problem)
			}
			g.report.mu.Lock()
			g.report.links++
			g.report.mu.Unlock()
		default:
			req, notes := g.query(own)
			problem, matched := f.checkQuery(tenant, req)
			g.report.query(notes, matched, len(own.rows))
			f.fail(t, req, problem, func(req *wire.QueryRequest) string { p, _ := f.checkQuery(tenant, req); return p })
		}
		if t.Failed() {
			return
		}
	}
}

// fail reports a query that differs, as small as it can be made.
func (f *fixture) fail(t *testing.T, req *wire.QueryRequest, problem string, check func(*wire.QueryRequest) string) {
	if problem == "" {
		return
	}
	small := shrink(req, func(r *wire.QueryRequest) bool { return check(r) != "" })
	if again := check(small); again != "" {
		t.Errorf("an answer differs: %s\nrequest: %s", again, show(small))
		return
	}
	t.Errorf("an answer differed once, and no more when asked again: %s\nrequest: %s", problem, show(req))
}

func show(m wire.Message) string {
	switch r := m.(type) {
	case *wire.QueryRequest:
		own := *r
		own.TimeoutMS = 1
		m = &own
	case *wire.AggregateRequest:
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
