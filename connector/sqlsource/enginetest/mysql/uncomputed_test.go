package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestUncomputed: what the data keep the server from computing is told, and so is
// what passes.
func TestUncomputed(t *testing.T) {
	db, own := database(t)
	for _, statement := range []string{
		"CREATE TABLE t (i BIGINT UNSIGNED PRIMARY KEY)",
		"INSERT INTO t SELECT seq FROM seq_1_to_30000",
		`CREATE FUNCTION refuses(i INT) RETURNS INT NO SQL BEGIN IF i < 20000 THEN RETURN i; END IF;
			SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret'; RETURN 1; END`,
		`CREATE FUNCTION deadlocks(i INT) RETURNS INT NO SQL BEGIN IF i < 20000 THEN RETURN i; END IF;
			SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'secret'; RETURN 1; END`,
		`CREATE FUNCTION ends(i INT) RETURNS INT NO SQL BEGIN IF i < 20000 THEN RETURN i; END IF; END`,
		"CREATE VIEW ranged AS SELECT 18446744073709531616 + i AS n FROM t",
		"CREATE VIEW several AS SELECT IF(i < 20000, i, (SELECT u.i FROM t u WHERE u.i > t.i - 2)) AS n FROM t",
		"CREATE VIEW refused AS SELECT refuses(i) AS n FROM t",
		"CREATE VIEW ended AS SELECT ends(i) AS n FROM t",
		"CREATE FUNCTION chooses(i INT) RETURNS INT NO SQL BEGIN CASE i < 20000 WHEN 1 THEN RETURN i; END CASE; END",
		"CREATE FUNCTION picks(v INT) RETURNS INT READS SQL DATA BEGIN DECLARE x INT; IF v < 20000 THEN RETURN v; END IF;" +
			" SELECT i INTO x FROM t WHERE i < 3; RETURN x; END",
		"CREATE VIEW chosen AS SELECT chooses(i) AS n FROM t",
		"CREATE VIEW picked AS SELECT picks(i) AS n FROM t",
		"CREATE VIEW deadlocked AS SELECT deadlocks(i) AS n FROM t",
		"CREATE VIEW large AS SELECT IF(i < 20000, 'x', REPEAT('\"', 9000000)) AS n FROM t WHERE i < 20002",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	caller := tenant(t, own)
	suite.TestUncomputed(t, caller, []suite.Uncomputed{
		{View: "ranged", Why: "a number out of range", Says: "out of range (SQLSTATE 22003)", Code: wire.CodeUnsupported},
		{View: "several", Why: "a subquery of several rows", Says: "several rows", Code: wire.CodeUnsupported},
		{View: "refused", Why: "a function that refuses", Says: "a function refuses", Code: wire.CodeUnsupported},
		{View: "ended", Why: "a function that ends without a value", Says: "leads to an error", Code: wire.CodeUnsupported},
		{View: "chosen", Why: "a function without a case for a value", Says: "leads to an error", Code: wire.CodeUnsupported},
		{View: "picked", Why: "a function that reads several rows", Says: "leads to an error", Code: wire.CodeUnsupported},
		{View: "large", Why: "a row over 16 MiB", Says: "16 MiB", Code: wire.CodeUnsupported, Sent: true},
	})
	_, err := caller.Query(wire.QueryRequest{Table: "deadlocked", Sort: []wire.SortKey{}, Fields: []string{"n"}})
	require.Equal(t, wire.CodeTimeout, suite.Code(err), "%v", err)
	_, err = caller.Cardinality("deadlocked", "n")
	require.Equal(t, wire.CodeTimeout, suite.Code(err), "%v", err)
}
