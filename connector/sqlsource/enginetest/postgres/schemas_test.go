package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSchemas serves one schema of several, and several.
func TestSchemas(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec(`CREATE SCHEMA crm; CREATE SCHEMA sales; CREATE SCHEMA "crm.x";
		CREATE TABLE crm.people (id bigint PRIMARY KEY); INSERT INTO crm.people VALUES (1);
		CREATE TABLE sales.people (id bigint PRIMARY KEY);
		CREATE TABLE sales.orders (id bigint PRIMARY KEY, person bigint REFERENCES crm.people); INSERT INTO sales.orders VALUES (1, 1);
		CREATE TABLE crm."x.y" (id bigint); CREATE TABLE "crm.x".y (id bigint)`)
	require.NoError(t, err)
	withSchema := definition
	withSchema.Credentials = append([]wire.CredentialField{
		{Key: "schema", Label: "Schema", Type: wire.CredentialText, Optional: true},
	}, definition.Credentials...)
	names := suite.SchemaNames{One: "crm", Two: "sales", Across: true, Dotted: "crm.x"}
	suite.Schemas(t, names, func(t *testing.T, o *sqlsource.Options, schema string) *connectortest.Tenant {
		tenant := credentials(own)
		tenant["schema"] = schema
		return connectortest.Start(t, withSchema, newSource(t, own, o), nil).As(tenant).Unverified()
	})
}
