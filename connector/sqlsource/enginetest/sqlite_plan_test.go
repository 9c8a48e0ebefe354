package enginetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLitePlanShowsNoValue asks every operator with a marker for a value, in every
// column, and looks for it in the plans.
func TestSQLitePlanShowsNoValue(t *testing.T) {
	skipShort(t)
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
