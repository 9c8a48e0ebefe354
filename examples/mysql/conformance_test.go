package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestConformance grades the connector over the corpus, loaded into MariaDB or MySQL,
// and holds it apart from a second tenant's database.
func TestConformance(t *testing.T) {
	db, own := database(t)
	load(t, own)
	other, others := database(t)
	for _, statement := range []string{
		`CREATE TABLE customers (id BIGINT PRIMARY KEY, only_theirs TEXT)`, `INSERT INTO customers VALUES (1, 'x')`, `CREATE TABLE only_theirs (id BIGINT PRIMARY KEY)`,
	} {
		_, err := other.Exec(statement)
		require.NoError(t, err)
	}
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
	for _, id := range slowChecks {
		require.Equal(t, conformance.NoData, skipped[id], id)
		delete(skipped, id)
	}
	require.Equal(t, mayBeSkipped, skipped, "what is skipped")

	_, err = db.Exec(`CREATE VIEW ` + corpus.SlowTable + ` AS SELECT words.id, words.name
		FROM (SELECT 1 AS id, 'one' AS name UNION ALL SELECT 2, 'two' UNION ALL SELECT 3, 'three') AS words
		JOIN (SELECT SLEEP(25) AS waited) AS stall ON stall.waited = 0`)
	require.NoError(t, err)
	report, err = conformance.Run(t.Context(), target, &conformance.Options{Run: `^P3\.(5|7a)`})
	require.NoError(t, err)
	report.Subtests(t)
	require.Empty(t, skips(report), "deadlines and heartbeats")
}

// slowChecks are those that need the table slow.
var slowChecks = []string{"P3.5a", "P3.5b", "P3.5c", "P3.7a"}

// mayBeSkipped is what cannot be exercised here, and why.
var mayBeSkipped = map[string]conformance.Reason{
	// What a connector that declares everything cannot be asked.
	"A.5": conformance.NotDeclared, "P0.7": conformance.NotDeclared, "P3.8": conformance.NotDeclared, "P3.9": conformance.NotDeclared, "P3.13a": conformance.NotDeclared,
	// No answer was an internal error.
	"P3.10c": conformance.NoData,
	// All its cases have a sum of DECIMAL(65,30), whose digits have no room for
	// a sum.
	"P2.11h": conformance.NoData,
}

// mayAdvise is what a judge may remark, and why nothing can be done about it.
var mayAdvise = map[string]string{"A.6": "MySQL gives all decimals of a column one scale, and has no minus zero"}

func skips(report *conformance.Report) map[string]conformance.Reason {
	skipped := map[string]conformance.Reason{}
	for _, o := range report.Outcomes {
		if o.Verdict == conformance.Skip {
			skipped[o.ID] = o.Reason
		}
	}
	return skipped
}

// overCorpus is the connector, told what no column of MySQL says of itself.
func overCorpus(t *testing.T, base *mysql.Config) *connector.Handler {
	t.Helper()
	tables := map[string]sqlsource.TableConfig{}
	for _, table := range corpus.Tables() {
		columns := map[string]sqlsource.ColumnConfig{}
		for _, f := range table.Fields {
			if f.Type == wire.TypeReference || f.Type == wire.TypeArray { // LONGTEXT, with a check or without
				columns[f.Name] = sqlsource.ColumnConfig{Type: f.Type}
			}
		}
		tables[table.Name] = sqlsource.TableConfig{Columns: columns}
	}
	tables[corpus.SlowTable] = sqlsource.TableConfig{PrimaryKey: []string{"id"}} // a view, which states none
	src, err := sqlsource.New(sqlsource.Config{Flavor: sqlsource.MySQL(), Tables: tables, Open: opener(base)})
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

func credentials(config *mysql.Config) map[string]string {
	return map[string]string{"user": config.User, "password": config.Passwd, "database": config.DBName}
}

// load fills a database with the corpus.
func load(t *testing.T, config *mysql.Config) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, corpus.Write(dir))
	script, err := os.ReadFile(filepath.Join(dir, "sql", "mysql.sql"))
	require.NoError(t, err)
	whole := config.Clone()
	whole.Params, whole.MultiStatements = nil, true
	db := open(t, whole)
	defer func() { require.NoError(t, db.Close()) }()
	_, err = db.Exec(string(script))
	require.NoError(t, err)
}
