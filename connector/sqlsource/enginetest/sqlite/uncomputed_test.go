package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestUncomputed: what the data keep SQLite from computing is told, and what cannot
// be sent.
func TestUncomputed(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "test.sqlite"), `
		CREATE TABLE t (i INTEGER PRIMARY KEY, s TEXT);
		WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 30000)
			INSERT INTO t SELECT i, CASE WHEN i < 20000 THEN '{"a": 7}' ELSE '{secret' END FROM r;
		CREATE VIEW ranged AS SELECT abs(-9223372036854755809 - i) AS n FROM t;
		CREATE VIEW read AS SELECT json_extract(s, '$.a') AS n FROM t;
		CREATE VIEW bytes AS SELECT CASE WHEN i < 20000 THEN 'x' ELSE CAST(x'736563726574ff' AS TEXT) END AS n FROM t;
		CREATE VIEW large AS SELECT CASE WHEN i < 20000 THEN 'x' ELSE printf('%.17000000c', 's') END AS n FROM t WHERE i < 20002;
		CREATE VIEW huge AS SELECT CASE WHEN i < 20000 THEN 'x' ELSE replace(hex(zeroblob(100000000)), '0', hex(zeroblob(100))) END AS n FROM t`)
	src, err := sqlsource.New(db, sqlsource.SQLite(), nil)
	require.NoError(t, err)
	tenant := connectortest.Start(t, definition, src, nil).As(nil).Unverified()
	suite.TestUncomputed(t, tenant, []suite.Uncomputed{
		{View: "ranged", Why: "a number out of range", Says: "a number is out of range", Code: wire.CodeUnsupported},
		{View: "read", Why: "a text that is not JSON", Says: "a text is not JSON", Code: wire.CodeUnsupported},
		{View: "bytes", Why: "a text that is not UTF-8", Says: "not valid UTF-8", Code: wire.CodeUnsupported, Sent: true},
		{View: "large", Why: "a row over 16 MiB", Says: "16 MiB", Code: wire.CodeUnsupported, Sent: true},
		{View: "huge", Why: "a value over SQLite's own limit", Says: "a value or an expression is too large", Code: wire.CodeUnsupported},
	})
}
