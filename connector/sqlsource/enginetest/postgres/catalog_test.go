package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestInherited declares no key of a table that others inherit from. A read of it
// includes their rows, which its constraints do not bind.
func TestInherited(t *testing.T) {
	db, _ := database(t)
	_, err := db.Exec(`CREATE TABLE parent (id bigint PRIMARY KEY, code text UNIQUE);
		CREATE TABLE child () INHERITS (parent);
		INSERT INTO parent VALUES (1, 'a');
		INSERT INTO child VALUES (1, 'a')`)
	require.NoError(t, err)
	src, err := sqlsource.New(db, sqlsource.PostgreSQL(), nil)
	require.NoError(t, err)
	d, err := src.Discover(t.Context(), &wire.DiscoveryRequest{})
	require.NoError(t, err)
	for _, table := range d.Tables {
		require.Empty(t, table.PrimaryKey, "%s: id 1 is twice in parent, and child has no key", table.Name)
		for _, f := range table.Fields {
			require.False(t, f.Unique, "%s.%s", table.Name, f.Name)
		}
	}
	require.Len(t, d.Tables, 2)
}
