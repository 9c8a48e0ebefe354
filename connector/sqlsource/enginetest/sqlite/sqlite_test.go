// Package sqlite proves the flavor of SQLite.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var definition = connector.Definition{Slug: "corpus", KeysEnforced: true}

// open opens a file, which it creates if it does not exist, and fills it by a
// script.
func open(t testing.TB, file, script string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec(script)
	require.NoError(t, err)
	return db
}

// engine returns an empty database, and columns with everything that SQLite
// lets in.
func engine(t testing.TB) sqlsourcetest.Engine {
	db := open(t, "file:"+filepath.Join(t.TempDir(), "test.sqlite")+"?_pragma=busy_timeout(10000)", "")
	return sqlsourcetest.Engine{Flavor: sqlsource.SQLite(), DB: db, Key: "INTEGER", Types: types}
}

func TestDifferential(t *testing.T) { suite.Differential(t, engine(t)) }

// TestDifferentialAssisted asks the same of columns that all say that an index
// serves them.
func TestDifferentialAssisted(t *testing.T) {
	suite.SkipShort(t)
	e := engine(t)
	e.Flavor = suite.Assisted(e.Flavor)
	suite.Differential(t, e)
}

func TestPlanted(t *testing.T) { suite.Planted(t, engine) }

func TestHostile(t *testing.T) {
	suite.SkipShort(t)
	file := filepath.Join(t.TempDir(), "test.sqlite")
	db := open(t, file, "")
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: sqlsource.SQLite(), DB: db, Key: "INTEGER"}, fileConnector{db.Driver(), file})
}

// fileConnector connects to one file.
type fileConnector struct {
	driver driver.Driver
	file   string
}

func (c fileConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.file) }
func (c fileConnector) Driver() driver.Driver                        { return c.driver }

// TestConformance grades the connector over the corpus.
func TestConformance(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "corpus.sqlite"), suite.CorpusScript(t, "sqlite"))
	source, err := sqlsource.New(db, sqlsource.SQLite(), &sqlsource.Options{Tables: suite.CorpusTables()})
	require.NoError(t, err)
	target, done := conformance.InProcess(suite.Handler(t, definition, source), suite.Token)
	defer done()
	skipped := suite.Grade(t, target, suite.WholeOptions, nil)
	require.Equal(t, mayBeSkipped, skipped, "what is skipped")
}

// TestPlatform asks the cases of the corpus as the platform does.
func TestPlatform(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "corpus.sqlite"), suite.CorpusScript(t, "sqlite"))
	source, err := sqlsource.New(db, sqlsource.SQLite(), &sqlsource.Options{Tables: suite.CorpusTables()})
	require.NoError(t, err)
	suite.Cases(t, suite.Handler(t, definition, source), wire.Credentials{}, 3)
}

// mayBeSkipped are the checks that cannot be exercised here, and why.
var mayBeSkipped = suite.NotAsked(map[string]conformance.Reason{
	// All its cases group decimals of which some have more digits than a real.
	"A.9": conformance.NoData,
	// No statement of SQLite's waits.
	"P3.5a": conformance.NoData, "P3.5b": conformance.NoData, "P3.5c": conformance.NoData, "P3.5d": conformance.NoData,
	"P3.5e": conformance.NoData, "P3.5f": conformance.NoData, "P3.5g": conformance.NoData,
	"P3.7a": conformance.NoData, "P3.7b": conformance.NoData, "A.35": conformance.NoData,
	// The database is the host's: there are no tenants to hold apart.
	"T1": conformance.NoData, "T2": conformance.NoData, "T3": conformance.NoData, "T4": conformance.NotDeclared,
	"T5": conformance.NotDeclared, "T6": conformance.NoData, "P1.7": conformance.NotDeclared, "P1.7b": conformance.NotDeclared,
	"A.31": conformance.NotDeclared, "A.32": conformance.NoData,
})
