package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteManyDistinct counts columns of many values by sorting them: equal ones, nulls,
// and values of two types that are equal.
func TestSQLiteManyDistinct(t *testing.T) {
	t.Parallel()
	skipShort(t)
	db := newSQLite(t, `
		CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, amount NUMERIC, few INTEGER);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
			INSERT INTO t SELECT i, 'name ' || i, i * 1.0, i % 7 FROM n;
		INSERT INTO t VALUES (25001, 'name 1', 1, 3), (25002, NULL, NULL, NULL), (25003, CAST('name 2' AS BLOB), 9e999, 1)`)
	got, err := db.pooled(t, nil).Cardinality(t.Context(),
		&wire.CardinalityRequest{Table: "t", Columns: []string{"id", "name", "amount", "few"}})
	require.NoError(t, err)
	require.Equal(t, map[string]*wire.Cardinality{
		"id":     {NonNull: 25003, Distinct: 25003},
		"name":   {NonNull: 25001, Distinct: 25000}, // a blob is null there
		"amount": {NonNull: 25001, Distinct: 25000},
		"few":    {NonNull: 25002, Distinct: 7},
	}, got)
}
