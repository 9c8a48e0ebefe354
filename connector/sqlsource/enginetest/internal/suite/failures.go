package suite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Failures makes each statement of each route fail once, as it does when a disk or a
// connection fails. The request then fails as such, or its answer is whole: nothing
// is left out, and no table that is there is called unknown [rule error-10].
func Failures(t *testing.T, c driver.Connector, flavor sqlsource.Flavor) {
	SkipShort(t)
	var seen, fails int
	var failure error
	db := sqlsourcetest.Intercept(c, func(string) error {
		if seen++; seen == fails {
			return failure
		}
		return nil
	})
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	Execute(t, db, "CREATE TABLE parents (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20))",
		"CREATE TABLE children (id INTEGER NOT NULL PRIMARY KEY, parent INTEGER, day DATE, FOREIGN KEY (parent) REFERENCES parents (id))",
		"CREATE VIEW seen AS SELECT id, parent FROM children",
		"INSERT INTO parents VALUES (1, 'a'), (2, 'b')", "INSERT INTO children VALUES (1, 1, '2024-01-01'), (2, NULL, NULL)")
	source, err := sqlsource.New(db, flavor, nil)
	require.NoError(t, err)
	caller := connectortest.Start(t, connector.Definition{Slug: "failures"}, source, nil).As(nil).Unverified()
	small := wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpLte, Value: wire.Int(2)}}}
	query := wire.QueryRequest{
		Table: "children", Where: small, Fields: []string{"id", "day"}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Desc}},
	}
	joined := query
	joined.Joins = []wire.JoinHop{{FromTable: "children", ToTable: "parents", FromField: "parent", ToField: "id",
		Fields: []wire.JoinField{{Field: "name"}}}}
	for route, ask := range map[string]func() (any, error){
		"check":     func() (any, error) { return nil, caller.Check() },
		"discovery": func() (any, error) { return caller.Discover() },
		"query":     func() (any, error) { return caller.Query(query) },
		"join":      func() (any, error) { return caller.Query(joined) },
		"count":     func() (any, error) { return caller.Count(wire.CountRequest{Table: "children", Where: small}) },
		"size":      func() (any, error) { return caller.Size("seen") },
		"cardinality": func() (any, error) {
			return caller.Cardinality("children", "id", "parent", "day")
		},
		"link": func() (any, error) {
			return caller.LinkHitRate(wire.LinkHitRateRequest{FromTable: "children", FromColumn: "parent", ToTable: "parents", ToColumn: "id"})
		},
		"aggregate": func() (any, error) {
			return caller.Aggregate(wire.AggregateRequest{Table: "children", GroupBy: []wire.GroupKey{{Field: "parent", As: "p"}},
				Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}, {Fn: wire.AggMax, Field: "id", As: "m"}}, Limit: wire.AggregateLimit})
		},
	} {
		for _, failure = range []error{errors.New("disk I/O error (10)"), driver.ErrBadConn} {
			t.Run(fmt.Sprintf("%s, %v", route, failure), func(t *testing.T) {
				seen, fails = 0, 0
				whole, err := ask()
				require.NoError(t, err)
				for last := seen; fails < last; {
					seen, fails = 0, fails+1
					answer, err := ask()
					if err == nil {
						assert.True(t, assert.ObjectsAreEqual(whole, answer), "statement %d of %d: no error, and another answer", fails, last)
						continue
					}
					allowed := []wire.Code{wire.CodeInternal, wire.CodeTimeout}
					if route == "check" {
						allowed = append(allowed, wire.CodeCheckFailed)
					}
					assert.Contains(t, allowed, Code(err), "statement %d of %d: %v", fails, last, err)
				}
			})
		}
	}
}

// A KeyCase is a foreign key of one table, and what discovery makes of it.
type KeyCase struct {
	Why     string
	Table   string
	Keys    []wire.ForeignKey // none: no key is declared
	Warning string            // empty: there is none for the table
}

// ForeignKeys discovers a database and looks at the keys of its tables. With and
// without statistics they are the same.
func ForeignKeys(t *testing.T, tables map[string]*wire.Table, warnings string, cases []KeyCase) {
	t.Helper()
	for _, c := range cases {
		if c.Keys == nil {
			c.Keys = []wire.ForeignKey{}
		}
		if assert.Contains(t, tables, c.Table, c.Why) {
			assert.Equal(t, c.Keys, tables[c.Table].ForeignKeys, c.Why)
		}
		if c.Warning == "" {
			assert.NotContains(t, warnings, fmt.Sprintf("table %q", c.Table), c.Why)
		}
		assert.Contains(t, warnings, c.Warning, c.Why)
	}
}
