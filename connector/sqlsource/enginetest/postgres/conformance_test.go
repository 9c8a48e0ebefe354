package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestConformance grades the connector over the corpus, beside a second tenant's
// database.
func TestConformance(t *testing.T) {
	t.Parallel()
	db, own := database(t)
	load(t, db, suite.CorpusScript(t, "postgres"))
	other, others := database(t)
	suite.FillOther(t, other)
	source := newSource(t, own, &sqlsource.Options{Tables: suite.CorpusTables()})
	target, done := conformance.InProcess(suite.Handler(t, definition, source), suite.Token)
	defer done()
	target.Credentials = []wire.Credentials{wire.NewCredentials(credentials(own)), wire.NewCredentials(credentials(others))}

	mayAdvise := map[string]string{
		"A.6": "a numeric has no minus zero, so -0 is read as 0",
	}
	skipped := suite.Grade(t, target, suite.WholeOptions, mayAdvise)
	for _, id := range suite.SlowChecks { // they come below, when nothing else reads the table slow
		require.Equal(t, conformance.NoData, skipped[id], id)
		delete(skipped, id)
	}
	require.Equal(t, suite.NotAsked(nil), skipped, "what is skipped")

	target.Credentials = []wire.Credentials{wire.NewCredentials(slowTenant(t, db, own))}
	require.Empty(t, suite.Grade(t, target, suite.SlowOptions, mayAdvise), "deadlines and heartbeats")
}

// TestPlatform asks the cases of the corpus as the platform does.
func TestPlatform(t *testing.T) {
	db, own := database(t)
	load(t, db, suite.CorpusScript(t, "postgres"))
	source := newSource(t, own, &sqlsource.Options{Tables: suite.CorpusTables()})
	suite.Cases(t, suite.Handler(t, definition, source), wire.NewCredentials(credentials(own)), 10)
}

// slowTenant creates the table slow, whose policy waits, and returns a tenant who
// is under it: a superuser is not.
func slowTenant(t *testing.T, db *sql.DB, own *pgx.ConnConfig) map[string]string {
	t.Helper()
	role := own.Database + "_waiting"
	_, err := db.Exec(fmt.Sprintf(`CREATE ROLE %[1]s LOGIN PASSWORD %[2]s;
		CREATE TABLE %[3]s (id bigint PRIMARY KEY, name text NOT NULL);
		INSERT INTO %[3]s VALUES (1, 'one'), (2, 'two'), (3, 'three');
		ALTER TABLE %[3]s ENABLE ROW LEVEL SECURITY;
		CREATE POLICY waiting ON %[3]s USING ((SELECT pg_sleep(%[4]d)::text) IS NOT NULL);
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO %[1]s`,
		role, suite.Quoted(own.Password), corpus.SlowTable, int(corpus.SlowStall.Seconds())))
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role)
		require.NoError(t, err)
	})
	tenant := credentials(own)
	tenant["user"] = role
	return tenant
}

// load runs a script of many statements.
func load(t *testing.T, db *sql.DB, script string) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.NoError(t, conn.Raw(func(driver any) error {
		_, err := driver.(*stdlib.Conn).Conn().PgConn().Exec(t.Context(), script).ReadAll()
		return err
	}))
}
