package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestConformance grades the connector over the corpus, loaded into PostgreSQL,
// and holds it apart from a second tenant's database.
func TestConformance(t *testing.T) {
	db, own := database(t)
	load(t, db)
	other, others := database(t)
	_, err := other.Exec(`CREATE TABLE customers (id bigint PRIMARY KEY, only_theirs text); INSERT INTO customers VALUES (1, 'x'); CREATE TABLE only_theirs (id bigint PRIMARY KEY)`)
	require.NoError(t, err)
	target, done := conformance.InProcess(overCorpus(t, own), testToken)
	defer done()
	target.Credentials = []wire.Credentials{wire.NewCredentials(credentials(own)), wire.NewCredentials(credentials(others))}

	report, err := conformance.Run(t.Context(), target, &conformance.Options{Mode: conformance.ModeBoth})
	require.NoError(t, err)
	report.Subtests(t)
	for _, o := range report.Advice() {
		require.Contains(t, mayAdvise, o.ID, o.Detail)
	}
	skipped := skips(report)
	// The table slow comes below, when nothing else reads it.
	for _, id := range []string{"P3.5a", "P3.5b", "P3.5c", "P3.7a"} {
		require.Equal(t, conformance.NoData, skipped[id], id)
		delete(skipped, id)
	}
	require.Equal(t, mayBeSkipped, skipped, "what is skipped")

	target.Credentials = []wire.Credentials{wire.NewCredentials(waiting(t, db, own))}
	report, err = conformance.Run(t.Context(), target, &conformance.Options{Run: `^P3\.(5|7a)`})
	require.NoError(t, err)
	report.Subtests(t)
	require.Empty(t, skips(report), "deadlines and heartbeats")
}

// waiting makes the table slow, whose policy waits, and is a tenant who is under
// it: a superuser is not.
func waiting(t *testing.T, db *sql.DB, own *pgx.ConnConfig) map[string]string {
	t.Helper()
	role := own.Database + "_waiting"
	_, err := db.Exec(`CREATE ROLE ` + role + ` LOGIN PASSWORD '` + strings.ReplaceAll(own.Password, "'", "''") + `';
		CREATE TABLE ` + corpus.SlowTable + ` (id bigint PRIMARY KEY, name text NOT NULL);
		INSERT INTO ` + corpus.SlowTable + ` VALUES (1, 'one'), (2, 'two'), (3, 'three');
		ALTER TABLE ` + corpus.SlowTable + ` ENABLE ROW LEVEL SECURITY;
		CREATE POLICY waiting ON ` + corpus.SlowTable + ` USING ((SELECT pg_sleep(` + strconv.Itoa(int(corpus.SlowStall.Seconds())) + `)::text) IS NOT NULL);
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO ` + role)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role)
		require.NoError(t, err)
	})
	tenant := credentials(own)
	tenant["user"] = role
	return tenant
}

// mayBeSkipped is what cannot be exercised here, and why.
var mayBeSkipped = map[string]conformance.Reason{
	// What a connector that declares everything cannot be asked.
	"A.5": conformance.NotDeclared, "P0.7": conformance.NotDeclared, "P3.8": conformance.NotDeclared, "P3.9": conformance.NotDeclared, "P3.13a": conformance.NotDeclared,
	// No answer was an internal error.
	"P3.10c": conformance.NoData,
}

// mayAdvise is what a judge may remark, and why nothing can be done about it.
var mayAdvise = map[string]string{"A.6": "a numeric has no minus zero, so -0 is read as 0"}

func skips(report *conformance.Report) map[string]conformance.Reason {
	skipped := map[string]conformance.Reason{}
	for _, o := range report.Outcomes {
		if o.Verdict == conformance.Skip {
			skipped[o.ID] = o.Reason
		}
	}
	return skipped
}

// overCorpus is the connector, told what no column of PostgreSQL says of itself.
func overCorpus(t *testing.T, base *pgx.ConnConfig) *connector.Handler {
	t.Helper()
	tables := map[string]sqlsource.TableConfig{}
	for _, table := range corpus.Tables() {
		columns := map[string]sqlsource.ColumnConfig{}
		for _, f := range table.Fields {
			if f.Type == wire.TypeReference || f.Type == wire.TypeArray { // text and json
				columns[f.Name] = sqlsource.ColumnConfig{Type: f.Type}
			}
		}
		tables[table.Name] = sqlsource.TableConfig{Columns: columns}
	}
	src, err := sqlsource.New(sqlsource.Config{Flavor: sqlsource.PostgreSQL(), Tables: tables, Open: opener(base)})
	require.NoError(t, err)
	token, err := wire.NewToken(testToken)
	require.NoError(t, err)
	handler, err := connector.New(definition, src, token, nil)
	require.NoError(t, err)
	var document wire.Document
	require.NoError(t, json.Unmarshal(handler.Document(), &document))
	require.Len(t, document.Capabilities.Operators, 13, "every operator is declared")
	return handler
}

func credentials(config *pgx.ConnConfig) map[string]string {
	return map[string]string{"user": config.User, "password": config.Password, "database": config.Database}
}

// load fills a database with the corpus.
func load(t *testing.T, db *sql.DB) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, corpus.Write(dir))
	script, err := os.ReadFile(filepath.Join(dir, "sql", "postgres.sql"))
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.NoError(t, conn.Raw(func(driver any) error {
		_, err := driver.(*stdlib.Conn).Conn().PgConn().Exec(t.Context(), string(script)).ReadAll()
		return err
	}))
}
