package sqlsourcetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/exam"
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
	r, asked := newReport(), &questions{f: f, seed: o.Seed}
	t.Run("requests", func(t *testing.T) {
		const shards = 4
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < o.Queries; i += shards {
					q := asked.at(i)
					found, declined := f.check(t, q)
					if found != nil {
						f.tell(t, q, found)
						return
					}
					r.add(q, declined)
				}
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
	asked := &questions{f: f, seed: o.Seed}
	defer plant("")
	for _, bug := range bugs {
		t.Run(bug, func(t *testing.T) {
			plant(bug)
			for i := range o.Queries {
				if found, _ := f.check(t, asked.at(i)); found != nil {
					t.Logf("found by request %d: %.200s", i+1, found.detail)
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
		got, want := d.Tables[i], f.known[name]
		if !slices.Equal(got.PrimaryKey, want.PrimaryKey) && len(want.PrimaryKey) > 0 {
			t.Errorf("table %s: the primary key is %q, expected %q", name, got.PrimaryKey, want.PrimaryKey)
		}
		if !slices.Equal(got.Columns(), want.Columns) {
			t.Errorf("table %s: the columns are\n\t%v, expected\n\t%v", name, got.Columns(), want.Columns)
		}
	}
}

// cells reads every cell. The rest of the test depends on them.
func (f *fixture) cells(t *testing.T) {
	tenant := f.server.As(nil).Unverified().In(t)
	for _, name := range f.names {
		want := f.known[name]
		got, err := tenant.Query(wire.QueryRequest{
			Table: name, Where: wire.Where{And: []wire.Filter{}}, Sort: []wire.SortKey{}, Fields: fields(want),
		})
		require.NoError(t, err, "table %s", name)
		require.Len(t, got.Rows, len(want.Rows), "table %s", name)
		if want.Columns[0].Name != rowNumber {
			continue
		}
		reported := map[string]bool{}
		for _, row := range got.Rows {
			i := slices.IndexFunc(want.Rows, func(w []wire.Value) bool { return w[0] == row[0] })
			require.GreaterOrEqual(t, i, 0, "table %s: a row with key %s", name, row[0])
			for k, c := range want.Columns {
				have, expected := spell(row[k:k+1]), spell(want.Rows[i][k:k+1])
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
		if found := f.checkCardinality(tenant, f.known[name]); found != nil {
			t.Errorf("table %s: %s", name, found.detail)
		}
	}
}

// tell reports a wrong answer by the smallest question that is answered wrongly.
func (f *fixture) tell(t *testing.T, q question, found *wrong) {
	small := q
	if q.Question != nil {
		small.Question = q.Smallest(t.Context(), func(smaller *exam.Question) bool {
			wrong, _ := f.check(t, question{Question: smaller, paged: q.paged})
			return wrong != nil
		})
	}
	again, _ := f.check(t, small)
	if again == nil {
		t.Errorf("an answer differed once, but not when asked again: %s\nrequest: %s", found.detail, show(q))
		return
	}
	if again.asIf != nil {
		if as := again.asIf(); as != "" {
			again.detail += "\nas if " + as
		}
	}
	t.Errorf("an answer differs: %s\nrequest: %s", again.detail, show(small))
}

// show returns a question's request as JSON.
func show(q question) string {
	b, err := wire.EncodeRequest(q.message())
	if err != nil {
		return err.Error()
	}
	return string(b)
}
