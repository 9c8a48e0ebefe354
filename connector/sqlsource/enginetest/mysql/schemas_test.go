package mysql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSchemas serves one database of several, and several.
func TestSchemas(t *testing.T) {
	db, own := database(t)
	_, other := database(t)
	for _, statement := range []string{
		"CREATE TABLE {1}.people (id BIGINT PRIMARY KEY)", "INSERT INTO {1}.people VALUES (1)",
		"CREATE TABLE {2}.people (id BIGINT PRIMARY KEY)",
		"CREATE TABLE {2}.orders (id BIGINT PRIMARY KEY, person BIGINT, FOREIGN KEY (person) REFERENCES {1}.people (id))",
		"INSERT INTO {2}.orders VALUES (1, 1)",
	} {
		_, err := db.Exec(strings.NewReplacer("{1}", own.DBName, "{2}", other.DBName).Replace(statement))
		require.NoError(t, err)
	}
	withSchema := definition
	withSchema.Credentials = append([]wire.CredentialField{
		{Key: "schema", Label: "Schema", Type: wire.CredentialText, Optional: true},
	}, definition.Credentials...)
	names := suite.SchemaNames{One: own.DBName, Two: other.DBName, Across: true}
	suite.Schemas(t, names, func(t *testing.T, o *sqlsource.Options, schema string) *connectortest.Tenant {
		tenant := credentials(own)
		tenant["schema"] = schema
		return connectortest.Start(t, withSchema, newSource(t, own, o), nil).As(tenant).Unverified()
	})
}
