package enginetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteLargeJoins joins 100,000 rows with as many, which memory does not hold.
func TestSQLiteLargeJoins(t *testing.T) {
	t.Parallel()
	skipShort(t)
	tenant := newSQLite(t, `CREATE TABLE places (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE);
		`+fmt.Sprintf(numbers, 100_000)+`INSERT INTO places SELECT i, 'place ' || i FROM n;
		CREATE TABLE visits (id INTEGER PRIMARY KEY, code TEXT, place INTEGER);
		INSERT INTO visits SELECT id, 'place ' || (id * 31 % 100000), id * 31 % 100000 FROM places`).caller(t, nil).Unverified()
	for _, keys := range [][2]string{{"place", "id"}, {"code", "code"}} {
		joins := []wire.JoinHop{{FromTable: "visits", ToTable: "places", FromField: keys[0], ToField: keys[1],
			Fields: []wire.JoinField{{Field: keys[1], As: "theirs"}}}}
		answer, err := tenant.Query(wire.QueryRequest{Table: "visits", Sort: []wire.SortKey{}, Fields: []string{"id"}, Joins: joins})
		require.NoError(t, err, keys)
		matched := 0
		for _, row := range answer.Rows {
			if !row[1].IsNull() {
				matched++
			}
		}
		require.Len(t, answer.Rows, 100_000, keys)
		require.Equal(t, 99_999, matched, keys)
		count, err := tenant.Aggregate(wire.AggregateRequest{
			Table: "visits", Joins: joins, Measures: []wire.Measure{{Fn: wire.AggCount, Field: "theirs", As: "matched"}},
		})
		require.NoError(t, err, keys)
		require.Equal(t, "99999", count[0]["matched"].String(), keys)
	}
}
