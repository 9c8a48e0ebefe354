package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestConformance grades the connector over the corpus, loaded into SQLite.
func TestConformance(t *testing.T) {
	target, done := conformance.InProcess(overCorpus(t), testToken)
	defer done()
	report, err := conformance.Run(t.Context(), target, &conformance.Options{Mode: conformance.ModeBoth})
	require.NoError(t, err)
	report.Subtests(t)
	for _, o := range report.Advice() {
		require.Contains(t, mayAdvise, o.ID, o.Detail)
	}
	skipped := map[string]conformance.Reason{}
	for _, o := range report.Outcomes {
		if o.Verdict == conformance.Skip {
			skipped[o.ID] = o.Reason
		}
	}
	require.Equal(t, mayBeSkipped, skipped, "what is skipped")
}

// TestConformanceOfDemo grades the connector as it is served when nothing is
// said, over the demo.
func TestConformanceOfDemo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.sqlite")
	require.NoError(t, makeDemo(t.Context(), file))
	db, err := open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	token, err := wire.NewToken(testToken)
	require.NoError(t, err)
	handler, err := serve(db, token)
	require.NoError(t, err)
	target, done := conformance.InProcess(handler, testToken)
	defer done()
	conformance.Test(t, target, &conformance.Options{Mode: conformance.ModeLive})
}

// mayBeSkipped is what cannot be exercised here, and why.
var mayBeSkipped = map[string]conformance.Reason{
	// What a connector that declares everything cannot be asked.
	"A.5": conformance.NotDeclared, "P0.7": conformance.NotDeclared, "P3.8": conformance.NotDeclared, "P3.9": conformance.NotDeclared, "P3.13a": conformance.NotDeclared,
	// No answer was an internal error.
	"P3.10c": conformance.NoData,
	// All its cases have a sum of decimals, which SQLite would add as floats.
	"P2.11h": conformance.NoData,
	// All its cases group decimals of which some have more digits than a real.
	"A.9": conformance.NoData,
	// No statement of SQLite's waits.
	"P3.5a": conformance.NoData, "P3.5b": conformance.NoData, "P3.5c": conformance.NoData, "P3.7a": conformance.NoData,
	// The database is the host's: there are no tenants to hold apart.
	"T1": conformance.NoData, "T2": conformance.NoData, "T3": conformance.NoData, "P1.7": conformance.NotDeclared,
}

// mayAdvise is what a judge may remark, and why nothing can be done about it.
var mayAdvise = map[string]string{}

// overCorpus is the connector, told what no declared type of SQLite says.
func overCorpus(t *testing.T) *connector.Handler {
	t.Helper()
	tables := map[string]sqlsource.TableConfig{}
	for _, table := range corpus.Tables() {
		columns := map[string]sqlsource.ColumnConfig{}
		for _, f := range table.Fields {
			if f.Type == wire.TypeReference || f.Type == wire.TypeArray { // both are TEXT
				columns[f.Name] = sqlsource.ColumnConfig{Type: f.Type}
			}
		}
		tables[table.Name] = sqlsource.TableConfig{Columns: columns}
	}
	db, err := open(corpusFile(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	src, err := sqlsource.New(sqlsource.Config{DB: db, Flavor: sqlsource.SQLite(), Tables: tables})
	require.NoError(t, err)
	token, err := wire.NewToken(testToken)
	require.NoError(t, err)
	handler, err := connector.New(connector.Definition{Slug: "sqlite", KeysEnforced: true}, src, token, nil)
	require.NoError(t, err)
	var document wire.Document
	require.NoError(t, json.Unmarshal(handler.Document(), &document))
	require.Len(t, document.Capabilities.Operators, 13, "every operator is declared")
	return handler
}

// corpusFile is a database with the corpus.
func corpusFile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, corpus.Write(dir))
	script, err := os.ReadFile(filepath.Join(dir, "sql", "sqlite.sql"))
	require.NoError(t, err)
	file := filepath.Join(dir, "corpus.sqlite")
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = db.Exec(string(script))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return file
}
