package enginetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPostgresInherited declares no key of a table that others inherit from. A read of it
// includes their rows, which its constraints do not bind.
func TestPostgresInherited(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, `CREATE TABLE parent (id bigint PRIMARY KEY, code text UNIQUE);
		CREATE TABLE child () INHERITS (parent);
		INSERT INTO parent VALUES (1, 'a');
		INSERT INTO child VALUES (1, 'a')`)
	tables, _ := db.discover(t, nil, time.Hour)
	for _, table := range tables {
		require.Empty(t, table.PrimaryKey, "%s: id 1 is twice in parent, and child has no key", table.Name)
		for _, f := range table.Fields {
			require.False(t, f.Unique, "%s.%s", table.Name, f.Name)
		}
	}
	require.Len(t, tables, 2)
}
