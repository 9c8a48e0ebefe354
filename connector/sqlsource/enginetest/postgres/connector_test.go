// Package postgres proves the flavor of PostgreSQL, and that connectors over it
// scale.
package postgres

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
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
func opener(base *pgx.ConnConfig) sqlsource.Open {
	return func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := base.Copy()
		own.User, own.Password, own.Database = c.Get("user"), c.Get("password"), c.Get("database")
		return stdlib.OpenDB(*own), nil
	}
}

func credentials(config *pgx.ConnConfig) map[string]string {
	return map[string]string{"user": config.User, "password": config.Password, "database": config.Database}
}

// newSource returns a source of the databases on the server of base.
func newSource(t testing.TB, base *pgx.ConnConfig, options *sqlsource.Options) *sqlsource.Source {
	t.Helper()
	source, err := sqlsource.NewPerTenant(opener(base), sqlsource.PostgreSQL(), options)
	require.NoError(t, err)
	return source
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

// TestRowsOfPgx reads the same rows by package pgxrows.
func TestRowsOfPgx(t *testing.T) {
	t.Parallel()
	e := engine(t)
	e.Flavor = pgxrows.PostgreSQL()
	suite.Differential(t, e)
}

func TestPlanted(t *testing.T) { suite.Planted(t, engine) }

func TestHostile(t *testing.T) {
	suite.SkipShort(t)
	db, config := database(t)
	e := sqlsourcetest.Engine{Flavor: sqlsource.PostgreSQL(), DB: db, Key: "bigint"}
	sqlsourcetest.Hostile(t, e, stdlib.GetConnector(*config))
}

// TestTenants keeps two tenants apart, each with a database of its own.
func TestTenants(t *testing.T) {
	one, first := database(t)
	two, second := database(t)
	suite.FillTenants(t, one, two)
	connectortest.Isolation(t, definition, newSource(t, first, nil), credentials(first), credentials(second))
}
