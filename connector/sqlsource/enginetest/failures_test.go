package enginetest

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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestFailures makes each statement of each route fail once, as it does when a disk
// or a connection fails. The request then fails as such, or its answer is whole:
// nothing is left out, and no table that is there is called unknown [rule error-10].
func TestFailures(t *testing.T) {
	skipShort(t)
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, `CREATE TABLE parents (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20));
			CREATE TABLE children (id INTEGER NOT NULL PRIMARY KEY, parent INTEGER, day DATE, FOREIGN KEY (parent) REFERENCES parents (id));
			CREATE VIEW seen AS SELECT id, parent FROM children;
			INSERT INTO parents VALUES (1, 'a'), (2, 'b'); INSERT INTO children VALUES (1, 1, '2024-01-01'), (2, NULL, NULL)`)
		failEach(t, db)
	})
}

func failEach(t *testing.T, db *database) {
	var seen, fails int
	var failure error
	failing := sqlsourcetest.Intercept(db.driver, func(string, []driver.NamedValue) error {
		if seen++; seen == fails {
			return failure
		}
		return nil
	})
	t.Cleanup(func() { require.NoError(t, failing.Close()) })
	source := testkit.Must(sqlsource.New(failing, db.flavor, nil))(t)
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
				whole := testkit.Must(ask())(t)
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
					assert.Contains(t, allowed, code(err), "statement %d of %d: %v", fails, last, err)
				}
			})
		}
	}
}

// code returns the code of a refusal.
func code(err error) wire.Code {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
