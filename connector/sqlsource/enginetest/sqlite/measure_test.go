package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestMeasures(t *testing.T) { suite.Measures(t, engine(t), "TEXT") }

// TestManyDistinct counts columns of many values by sorting them: equal ones, nulls,
// and values of two types that are equal.
func TestManyDistinct(t *testing.T) {
	suite.SkipShort(t)
	db := open(t, filepath.Join(t.TempDir(), "test.sqlite"), `
		CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, amount NUMERIC, few INTEGER);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
			INSERT INTO t SELECT i, 'name ' || i, i * 1.0, i % 7 FROM n;
		INSERT INTO t VALUES (25001, 'name 1', 1, 3), (25002, NULL, NULL, NULL), (25003, CAST('name 2' AS BLOB), 9e999, 1)`)
	source, err := sqlsource.New(db, sqlsource.SQLite(), nil)
	require.NoError(t, err)
	got, err := source.Cardinality(t.Context(), &wire.CardinalityRequest{Table: "t", Columns: []string{"id", "name", "amount", "few"}})
	require.NoError(t, err)
	require.Equal(t, map[string]*wire.Cardinality{
		"id":     {NonNull: 25003, Distinct: 25003},
		"name":   {NonNull: 25001, Distinct: 25000}, // a blob is null there
		"amount": {NonNull: 25001, Distinct: 25000},
		"few":    {NonNull: 25002, Distinct: 7},
	}, got)
}

func TestMeasureSpeed(t *testing.T) {
	suite.MeasureSpeed(t, engine(t),
		`CREATE TABLE orders (id INTEGER PRIMARY KEY, uuid TEXT, name TEXT, email TEXT, status TEXT, amount DECIMAL(12,2), qty INTEGER,
			created_at DATETIME)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
			INSERT INTO orders SELECT i, printf('%032x', i * 7907 % 1000003), 'Ada Lovelace ' || i % 64,
			'lovelace.' || i * 7919 % 100000 || '@mail.example.com', substr('openpaidsentback', i % 4 * 4 + 1, 4),
			(i * 7919 % 10000000) / 100.0, i * 31 % 200, datetime(1704067200 + i * 43, 'unixepoch') FROM n`,
		`CREATE TABLE visits (id INTEGER PRIMARY KEY, order_id INTEGER)`,
		`INSERT INTO visits SELECT id, 1 + id * 7919 % 1000010 FROM orders`)
}
