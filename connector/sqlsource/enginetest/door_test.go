package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// rowNumbered returns SQLite's flavor with the number of a row for tables without a key, which is
// read as that of the table numbered is.
func rowNumbered() sqlengine.Flavor {
	f := sqlsource.SQLite()
	own := f.Catalog
	f.Catalog = func(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table, []string, error) {
		numbered, _, err := own(ctx, q, schema, []string{"numbered"})
		if err != nil {
			return nil, nil, err
		}
		number := numbered[0].Columns[0]
		number.Name = "rowid"
		tables, warnings, err := own(ctx, q, schema, names)
		for _, t := range tables {
			t.RowID = []sqlengine.CatalogColumn{number}
		}
		return tables, warnings, err
	}
	return f
}

// overflowing returns SQLite's flavor with the engine's own sum, which fails where it leaves 64 bits.
func overflowing() sqlengine.Flavor {
	f := sqlsource.SQLite()
	f.Sum = func(_ *sqlengine.Column, key string) sqlengine.Sum {
		return sqlengine.Sum{Exprs: []string{"SUM(" + key + ")"}}
	}
	own := f.State
	f.State = func(err error) string {
		if strings.Contains(err.Error(), "integer overflow") {
			return "0A000"
		}
		return own(err)
	}
	return f
}

// TestOtherEngines holds SQLite to what engines say of themselves that differ more than
// ours do: the answers are the same, and the statements are as they need them.
func TestOtherEngines(t *testing.T) {
	made := newSQLite(t, `
		CREATE TABLE numbered (id INTEGER PRIMARY KEY);
		CREATE TABLE bag (id INTEGER, name TEXT);
		INSERT INTO bag VALUES (3, 'c'), (1, 'a'), (9223372036854775807, 'b');
		CREATE TABLE twin (id INTEGER, name TEXT);
		INSERT INTO twin VALUES (1, 'x'), (3, 'y')`)
	recorded, log := made.logged(t)
	// asked returns the answer to a request, and the statements that it took.
	asked := func(t *testing.T, f sqlengine.Flavor, ask func(*connectortest.Tenant)) string {
		caller := recorded.with(f).caller(t, nil).Unverified()
		log.take()
		ask(caller)
		var all []string
		for _, s := range log.take() {
			all = append(all, s.query)
		}
		return strings.Join(all, "\n")
	}
	page := func(t *testing.T, want string) func(*connectortest.Tenant) {
		return func(caller *connectortest.Tenant) {
			answer, err := caller.Query(wire.QueryRequest{Table: "bag", Sort: []wire.SortKey{}, Fields: []string{"name"}, Offset: 1, Limit: 1})
			require.NoError(t, err)
			require.Equal(t, want, answer.Rows[0][0].Text())
		}
	}
	t.Run("no transactions", func(t *testing.T) {
		plain := asked(t, sqlsource.SQLite(), page(t, "c"))
		f := sqlsource.SQLite()
		f.NoTx = true
		without := asked(t, f, page(t, "c"))
		assert.Equal(t, plain, without, "the same statements, on a connection")
	})
	t.Run("a hidden row number", func(t *testing.T) {
		assert.Contains(t, asked(t, rowNumbered(), page(t, "a")), ` ORDER BY t0."rowid" LIMIT`)
	})
	joined := func(t *testing.T) func(*connectortest.Tenant) {
		return func(caller *connectortest.Tenant) {
			answer, err := caller.Query(wire.QueryRequest{
				Table: "bag", Sort: []wire.SortKey{{Field: "name", Dir: wire.Asc}}, Fields: []string{"name"},
				Joins: []wire.JoinHop{{FromTable: "bag", ToTable: "twin", FromField: "id", ToField: "id",
					Fields: []wire.JoinField{{Field: "name", As: "other"}}}},
			})
			require.NoError(t, err)
			require.Len(t, answer.Rows, 3)
			require.Equal(t, "x", answer.Column("other")[0].Text())
			require.True(t, answer.Column("other")[1].IsNull())
			require.Equal(t, "y", answer.Column("other")[2].Text())
		}
	}
	t.Run("keys that need a cast", func(t *testing.T) {
		f := sqlsource.SQLite()
		f.JoinKeys = func(a, b *sqlengine.Column) (string, string, bool) { return "(0 + " + a.Key + ")", b.Key, true }
		assert.Contains(t, asked(t, f, joined(t)), "(0 + ")
	})
	t.Run("keys that do not compare", func(t *testing.T) {
		f := sqlsource.SQLite()
		f.JoinKeys = func(*sqlengine.Column, *sqlengine.Column) (string, string, bool) { return "", "", false }
		assert.NotContains(t, asked(t, f, joined(t)), "JOIN")
	})
	t.Run("a sum that overflows", func(t *testing.T) {
		unable := sqlsource.SQLite()
		unable.Sum = nil
		for _, c := range []struct {
			flavor sqlengine.Flavor
			want   bool
		}{{overflowing(), true}, {unable, true}, {sqlsource.SQLite(), false}} {
			asked(t, c.flavor, func(caller *connectortest.Tenant) {
				_, err := caller.Aggregate(wire.AggregateRequest{
					Table: "bag", GroupBy: []wire.GroupKey{}, Measures: []wire.Measure{{Fn: wire.AggSum, Field: "id", As: "sum"}},
				})
				assert.Equal(t, c.want, errors.Is(err, connector.ErrDecline), "%v", err)
			})
		}
	})
}
