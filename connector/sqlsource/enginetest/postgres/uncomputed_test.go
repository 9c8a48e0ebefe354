package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestUncomputed: what the data keep the server from computing is told, and so is
// what passes.
func TestUncomputed(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec(`CREATE FUNCTION fails(i int, state text) RETURNS int LANGUAGE plpgsql AS
			$$ BEGIN IF i < 20000 THEN RETURN i; END IF; RAISE EXCEPTION 'secret' USING ERRCODE = state; END $$;
		CREATE VIEW divided AS SELECT 20000 / (20000 - i) AS n FROM generate_series(1, 30000) i;
		CREATE VIEW ranged AS SELECT (2147463648 + i)::int AS n FROM generate_series(1, 30000) i;
		CREATE VIEW converted AS SELECT (CASE WHEN i < 20000 THEN '7' ELSE 'secret' END)::int AS n FROM generate_series(1, 30000) i;
		CREATE VIEW several AS SELECT (SELECT g FROM generate_series(1, CASE WHEN i < 20000 THEN 1 ELSE 2 END) g) AS n
			FROM generate_series(1, 30000) i;
		CREATE VIEW raised AS SELECT fails(i, 'P0001') AS n FROM generate_series(1, 30000) i;
		CREATE VIEW written AS SELECT fails(i, '25006') AS n FROM generate_series(1, 30000) i;
		CREATE VIEW conflict AS SELECT fails(i, '40001') AS n FROM generate_series(1, 30000) i;
		CREATE VIEW deadlock AS SELECT fails(i, '40P01') AS n FROM generate_series(1, 30000) i;
		CREATE VIEW large AS SELECT CASE WHEN i < 20000 THEN 'x' ELSE repeat('secret', 3000000) END AS n FROM generate_series(1, 20001) i`)
	require.NoError(t, err)
	for name, flavor := range map[string]sqlsource.Flavor{"sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
		t.Run(name, func(t *testing.T) {
			source, err := sqlsource.NewPerTenant(opener(own), flavor, nil)
			require.NoError(t, err)
			tenant := connectortest.Start(t, definition, source, nil).As(credentials(own)).Unverified()
			suite.TestUncomputed(t, tenant, []suite.Uncomputed{
				{View: "divided", Why: "a division by zero", Says: "a division by zero (SQLSTATE 22012)", Code: wire.CodeUnsupported},
				{View: "ranged", Why: "a number out of range", Says: "out of range (SQLSTATE 22003)", Code: wire.CodeUnsupported},
				{View: "converted", Why: "a text that is no number", Says: "(SQLSTATE 22P02)", Code: wire.CodeUnsupported},
				{View: "several", Why: "a subquery of several rows", Says: "several rows", Code: wire.CodeUnsupported},
				{View: "raised", Why: "a function that refuses", Says: "a function refuses", Code: wire.CodeUnsupported},
				{View: "written", Why: "a function that writes", Says: "only reads", Code: wire.CodeUnsupported},
				{View: "large", Why: "a row over 16 MiB", Says: "16 MiB", Code: wire.CodeUnsupported, Sent: true},
			})
			for _, view := range []string{"conflict", "deadlock"} {
				_, err := tenant.Query(wire.QueryRequest{Table: view, Sort: []wire.SortKey{}, Fields: []string{"n"}})
				require.Equal(t, wire.CodeTimeout, suite.Code(err), "%s: %v", view, err)
				_, err = tenant.Cardinality(view, "n")
				require.Equal(t, wire.CodeTimeout, suite.Code(err), "%s: %v", view, err)
			}
		})
	}
	_, err = db.Exec("CREATE MATERIALIZED VIEW unfilled AS SELECT 1 AS n WITH NO DATA")
	require.NoError(t, err)
	_, err = tenant(t, own, own).Size("unfilled")
	require.Equal(t, wire.CodeUnsupported, suite.Code(err), "%v", err)
	require.ErrorContains(t, err, `"unfilled": it has not been filled yet`)
}
