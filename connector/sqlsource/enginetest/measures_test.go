package enginetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMeasures compares counts of distinct values and link rates with what is true of
// some rows: keys with an index and without, unique and not, of equal and of
// different types.
func TestMeasures(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, strings.NewReplacer("KEY_TYPE", e.key, "TEXT_TYPE", e.text).Replace(`
			CREATE TABLE target (id KEY_TYPE NOT NULL PRIMARY KEY, code TEXT_TYPE NOT NULL UNIQUE, loose INTEGER, kind INTEGER, word TEXT_TYPE);
			CREATE INDEX by_kind ON target (kind);
			INSERT INTO target VALUES (1, 'a', 1, 10, '1'), (2, 'B', 2, 10, '2'), (3, 'c', NULL, NULL, NULL), (4, 'd ', 2, 11, 'x');
			CREATE TABLE source (id KEY_TYPE NOT NULL PRIMARY KEY, target INTEGER, code TEXT_TYPE, kind INTEGER);
			INSERT INTO source VALUES (1, 1, 'a', 10), (2, 2, 'b', 10), (3, 9, 'd', 12), (4, NULL, NULL, NULL), (5, 9, 'd ', 11), (6, 10, 'B', 13)`))
		measure(t, db.pooled(t, nil))
	})
}

func measure(t *testing.T, source *sqlsource.Source) {
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
