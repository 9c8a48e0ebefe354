package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPostgresChangedType changes the type of a column between two requests that have one
// statement, which a driver keeps prepared in the host's pool.
func TestPostgresChangedType(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, `CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 7)`)
	db.SetMaxOpenConns(1)
	keeper := connectortest.Start(t, connector.Definition{Slug: "keeper"}, db.pooled(t, nil), nil).As(nil).Unverified()
	ask := func() error {
		_, err := keeper.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id", "n"}})
		return err
	}
	require.NoError(t, ask())
	db.execute(t, `ALTER TABLE t ALTER n TYPE bigint`)
	err := ask()
	if !db.shared() { // else nothing is kept prepared
		require.Equal(t, wire.CodeTimeout, code(err), "it passes: %v", err)
		err = ask()
	}
	require.NoError(t, err)
}
