package suite

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Measures compares counts of distinct values and link rates with what is true of
// some rows: keys with an index and without, unique and not, of equal and of
// different types.
func Measures(t *testing.T, e sqlsourcetest.Engine, text string) {
	t.Helper()
	Execute(t, e.DB,
		"CREATE TABLE target (id "+e.Key+" NOT NULL PRIMARY KEY, code "+text+" NOT NULL UNIQUE, loose INTEGER, kind INTEGER, word "+text+")",
		"CREATE INDEX by_kind ON target (kind)",
		"INSERT INTO target VALUES (1, 'a', 1, 10, '1'), (2, 'B', 2, 10, '2'), (3, 'c', NULL, NULL, NULL), (4, 'd ', 2, 11, 'x')",
		"CREATE TABLE source (id "+e.Key+" NOT NULL PRIMARY KEY, target INTEGER, code "+text+", kind INTEGER)",
		"INSERT INTO source VALUES (1, 1, 'a', 10), (2, 2, 'b', 10), (3, 9, 'd', 12), (4, NULL, NULL, NULL), (5, 9, 'd ', 11), (6, 10, 'B', 13)")
	source, err := sqlsource.New(e.DB, e.Flavor, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		why, from, to    string
		nonNull, orphans int64
		samples          []string
	}{
		{"a key", "target", "id", 5, 3, []string{"10", "9"}},
		{"a unique text, compared by bytes", "code", "code", 5, 2, []string{"b", "d"}},
		{"an index of values that repeat, with nulls", "kind", "kind", 5, 2, []string{"12", "13"}},
		{"no index", "target", "loose", 5, 3, []string{"10", "9"}},
		{"a number and a text, without an index", "target", "word", 5, 3, []string{"10", "9"}},
		{"a text and a number with an index", "code", "id", 5, 5, []string{"B", "a", "b", "d", "d "}},
		{"a number with an index and one without", "id", "loose", 6, 4, []string{"3", "4", "5", "6"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			rate, err := source.LinkHitRate(t.Context(), &wire.LinkHitRateRequest{
				FromTable: "source", FromColumn: c.from, ToTable: "target", ToColumn: c.to,
			})
			require.NoError(t, err)
			rate.OrphanRate = 0 // the library computes it
			assert.Equal(t, &wire.LinkHitRate{FromNonNull: c.nonNull, OrphanCount: c.orphans, OrphanSamples: c.samples}, rate)
		})
	}
	for table, want := range map[string]map[string]wire.Cardinality{
		"target": {
			"id": {NonNull: 4, Distinct: 4}, "code": {NonNull: 4, Distinct: 4}, "loose": {NonNull: 3, Distinct: 2},
			"kind": {NonNull: 3, Distinct: 2}, "word": {NonNull: 3, Distinct: 3},
		},
		"source": {"target": {NonNull: 5, Distinct: 4}, "kind": {NonNull: 5, Distinct: 4}},
	} {
		var columns []string
		for name := range want {
			columns = append(columns, name)
		}
		got, err := source.Cardinality(t.Context(), &wire.CardinalityRequest{Table: table, Columns: columns})
		require.NoError(t, err)
		for name, n := range want {
			require.NotNil(t, got[name], name)
			assert.Equal(t, n, *got[name], "%s.%s", table, name)
		}
	}
}

// MeasureSpeed logs how long the counts of distinct values of eight columns take, and
// a link rate, over a million rows. fill makes the tables orders, with these columns,
// and visits, with the key of an order in its column order_id.
//
//	SQLSOURCE_MEASURE=1 go test -run MeasureSpeed -v ./...
func MeasureSpeed(t *testing.T, e sqlsourcetest.Engine, fill ...string) {
	t.Helper()
	if os.Getenv("SQLSOURCE_MEASURE") == "" {
		t.Skip("set SQLSOURCE_MEASURE=1 to measure over a million rows")
	}
	Execute(t, e.DB, fill...)
	source, err := sqlsource.New(e.DB, e.Flavor, nil)
	require.NoError(t, err)
	for _, columns := range [][]string{
		{"id", "uuid", "name", "email", "status", "amount", "qty", "created_at"}, {"id"}, {"email"}, {"amount"}, {"created_at"},
	} {
		begun := time.Now()
		got, err := source.Cardinality(t.Context(), &wire.CardinalityRequest{Table: "orders", Columns: columns})
		require.NoError(t, err)
		t.Logf("cardinality of %v: %v", columns, time.Since(begun).Round(time.Millisecond))
		require.Len(t, got, len(columns), fmt.Sprint(columns))
	}
	begun := time.Now()
	rate, err := source.LinkHitRate(t.Context(), &wire.LinkHitRateRequest{
		FromTable: "visits", FromColumn: "order_id", ToTable: "orders", ToColumn: "id",
	})
	require.NoError(t, err)
	t.Logf("link rate of an int to a key: %v, %d orphans", time.Since(begun).Round(time.Millisecond), rate.OrphanCount)
}
