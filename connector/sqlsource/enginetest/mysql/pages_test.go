package mysql

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
	for _, statement := range []string{
		"CREATE TABLE booleans (id TINYINT(1) PRIMARY KEY, n BIGINT)", // none is lost, as among two booleans
		"INSERT INTO booleans SELECT seq, seq FROM seq_1_to_60",
		"CREATE TABLE longs (body LONGTEXT, n BIGINT)", // longer than the server compares
		"INSERT INTO longs SELECT CONCAT(REPEAT('x', 4000), seq), seq FROM seq_1_to_40",
		"CREATE TABLE days (d DATE, n BIGINT, doc JSON)", // all dates are null
		"INSERT INTO days SELECT '2024-00-00', seq, CONCAT('[', seq, ']') FROM seq_1_to_40",
	} {
		_, err := db.Exec("SET STATEMENT sql_mode = '' FOR " + statement)
		require.NoError(t, err, statement)
	}
	tenant := connectortest.Start(t, definition, newSource(t, own, nil), nil).As(credentials(own)).Unverified()
	suite.Pages(t, tenant, "booleans", 60, "id", "n")
	suite.Pages(t, tenant, "longs", 40, "body")
	suite.Pages(t, tenant, "days", 40, "d", "doc")
}

func TestSortedPages(t *testing.T) {
	suite.SkipShort(t)
	db, own := database(t)
	suite.SortedPages(t, connectortest.Start(t, definition, newSource(t, own, nil), nil).As(credentials(own)).Unverified(), db)
}
