package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
)

// TestPages reads tables in pages whose rows the platform's order does not tell
// apart.
func TestPages(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec(`
		CREATE TABLE days (d date PRIMARY KEY, n int); -- all are read as null
		INSERT INTO days SELECT date '11000-01-01' + i, i FROM generate_series(1, 40) i;
		CREATE TABLE spellings (x numeric, doc json); -- all are equal to 1
		INSERT INTO spellings SELECT ('1.' || repeat('0', i))::numeric, '1' FROM generate_series(1, 40) i;
		CREATE TABLE documents (doc json, docs jsonb[]);
		INSERT INTO documents SELECT to_json(i), ARRAY[to_jsonb(i)] FROM generate_series(1, 40) i`)
	require.NoError(t, err)
	tenant := connectortest.Start(t, definition, newSource(t, own, nil), nil).As(credentials(own)).Unverified()
	suite.Pages(t, tenant, "days", 40, "d", "n")
	suite.Pages(t, tenant, "spellings", 40, "x")
	suite.Pages(t, tenant, "documents", 40, "doc", "docs")
}

func TestSortedPages(t *testing.T) {
	suite.SkipShort(t)
	db, own := database(t)
	suite.SortedPages(t, connectortest.Start(t, definition, newSource(t, own, nil), nil).As(credentials(own)).Unverified(), db)
}
