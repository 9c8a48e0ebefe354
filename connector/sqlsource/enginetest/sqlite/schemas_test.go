package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSchemas serves attached databases, which are schemas of a connection. The
// pool has one connection, so that it is the one they are attached to.
func TestSchemas(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "main.sqlite"), "CREATE TABLE unseen (id INTEGER)")
	db.SetMaxOpenConns(1)
	for _, name := range []string{"crm", "sales", "crm.x"} {
		_, err := db.Exec(`ATTACH ? AS "`+name+`"`, filepath.Join(dir, name+".sqlite"))
		require.NoError(t, err)
	}
	_, err := db.Exec(`CREATE TABLE crm.people (id INTEGER PRIMARY KEY); INSERT INTO crm.people VALUES (1);
		CREATE TABLE sales.people (id INTEGER PRIMARY KEY);
		CREATE TABLE sales.orders (id INTEGER PRIMARY KEY, person INTEGER); INSERT INTO sales.orders VALUES (1, 1);
		CREATE TABLE crm."x.y" (id INTEGER); CREATE TABLE "crm.x".y (id INTEGER)`)
	require.NoError(t, err)
	withSchema := connector.Definition{Slug: "corpus", Credentials: []wire.CredentialField{
		{Key: "schema", Label: "Schema", Type: wire.CredentialText, Optional: true},
	}}
	names := suite.SchemaNames{One: "crm", Two: "sales", Dotted: "crm.x"}
	suite.Schemas(t, names, func(t *testing.T, o *sqlsource.Options, schema string) *connectortest.Tenant {
		src, err := sqlsource.New(db, sqlsource.SQLite(), o)
		require.NoError(t, err)
		return connectortest.Start(t, withSchema, src, nil).As(map[string]string{"schema": schema}).Unverified()
	})
}
