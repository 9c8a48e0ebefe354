package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestInherited declares no key of a table that others inherit from: their rows
// are read with its own, and its constraints do not bind them.
func TestInherited(t *testing.T) {
	db, _ := database(t)
	_, err := db.Exec(`CREATE TABLE parent (id bigint PRIMARY KEY, code text UNIQUE);
		CREATE TABLE child () INHERITS (parent);
		INSERT INTO parent VALUES (1, 'a');
		INSERT INTO child VALUES (1, 'a')`)
	require.NoError(t, err)
	src, err := sqlsource.New(sqlsource.Config{DB: db, Flavor: sqlsource.PostgreSQL()})
	require.NoError(t, err)
	d, err := src.Discover(t.Context(), &wire.DiscoveryRequest{})
	require.NoError(t, err)
	for _, table := range d.Tables {
		require.Empty(t, table.PrimaryKey, "%s: id 1 stands twice in parent, and child has no key", table.Name)
		for _, f := range table.Fields {
			require.False(t, f.Unique, "%s.%s", table.Name, f.Name)
		}
	}
	require.Len(t, d.Tables, 2)
}
