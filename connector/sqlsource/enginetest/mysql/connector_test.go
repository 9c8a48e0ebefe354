// Package mysql proves the flavor of MySQL and MariaDB.
package mysql

import (
	"context"
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// definition asks a tenant for what opener needs, as examples/sql does.
var definition = connector.Definition{Slug: "corpus", KeysEnforced: true, Credentials: []wire.CredentialField{
	{Key: "user", Label: "User", Type: wire.CredentialText},
	{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
	{Key: "database", Label: "Database", Type: wire.CredentialText},
}}

// opener fills a tenant's credentials into the server's configuration.
func opener(base *mysql.Config) sqlsource.Open {
	return func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := base.Clone()
		own.User, own.Passwd, own.DBName = c.Get("user"), c.Get("password"), c.Get("database")
		driver, err := mysql.NewConnector(own)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(driver), nil
	}
}

func credentials(config *mysql.Config) map[string]string {
	return map[string]string{"user": config.User, "password": config.Passwd, "database": config.DBName}
}

// newSource returns a source of the databases on the server of base.
func newSource(t testing.TB, base *mysql.Config, options *sqlsource.Options) *sqlsource.Source {
	t.Helper()
	source, err := sqlsource.NewPerTenant(opener(base), sqlsource.MySQL(), options)
	require.NoError(t, err)
	return source
}

func TestDifferential(t *testing.T) { suite.Differential(t, engine(t)) }

// TestDifferentialAssisted asks the same of columns that all say that an index
// serves them.
func TestDifferentialAssisted(t *testing.T) {
	suite.SkipShort(t)
	t.Parallel()
	e := engine(t)
	e.Flavor = suite.Assisted(e.Flavor)
	suite.Differential(t, e)
}

func TestPlanted(t *testing.T) { suite.Planted(t, engine) }

func TestHostile(t *testing.T) {
	suite.SkipShort(t)
	db, config := database(t)
	driver, err := mysql.NewConnector(config)
	require.NoError(t, err)
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: sqlsource.MySQL(), DB: db, Key: "BIGINT"}, driver)
}

// TestTenants keeps two tenants apart, each with a database of its own.
func TestTenants(t *testing.T) {
	one, first := database(t)
	two, second := database(t)
	suite.FillTenants(t, one, two)
	connectortest.Isolation(t, definition, newSource(t, first, nil), credentials(first), credentials(second))
}

// TestConformance grades the connector over the corpus, beside a second tenant's
// database.
func TestConformance(t *testing.T) {
	t.Parallel()
	db, own := database(t)
	load(t, own, suite.CorpusScript(t, "mysql"))
	other, others := database(t)
	suite.FillOther(t, other)
	tables := suite.CorpusTables()
	tables[corpus.SlowTable] = sqlsource.TableOptions{PrimaryKey: []string{"id"}} // a view, which states none
	target, done := conformance.InProcess(suite.Handler(t, definition, newSource(t, own, &sqlsource.Options{Tables: tables})), suite.Token)
	defer done()
	target.Credentials = []wire.Credentials{wire.NewCredentials(credentials(own)), wire.NewCredentials(credentials(others))}

	mayAdvise := map[string]string{
		"A.6": "MySQL gives all decimals of a column one scale, and has no minus zero",
	}
	skipped := suite.Grade(t, target, suite.WholeOptions, mayAdvise)
	for _, id := range suite.SlowChecks { // they come below, when nothing else reads the table slow
		require.Equal(t, conformance.NoData, skipped[id], id)
		delete(skipped, id)
	}
	require.Equal(t, suite.NotAsked(map[string]conformance.Reason{
		// All its cases have a sum of DECIMAL(65,30), whose digits leave no room for
		// a sum.
		"P2.11h": conformance.NoData,
	}), skipped, "what is skipped")

	_, err := db.Exec(`CREATE VIEW ` + corpus.SlowTable + ` AS SELECT words.id, words.name
		FROM (SELECT 1 AS id, 'one' AS name UNION ALL SELECT 2, 'two' UNION ALL SELECT 3, 'three') AS words
		JOIN (SELECT SLEEP(25) AS waited) AS stall ON stall.waited = 0`)
	require.NoError(t, err)
	require.Empty(t, suite.Grade(t, target, suite.SlowOptions, mayAdvise), "deadlines and heartbeats")
}

// load runs a script of many statements.
func load(t *testing.T, config *mysql.Config, script string) {
	t.Helper()
	whole := config.Clone()
	whole.Params, whole.MultiStatements = nil, true
	db := open(t, whole)
	defer func() { require.NoError(t, db.Close()) }()
	_, err := db.Exec(script)
	require.NoError(t, err)
}
