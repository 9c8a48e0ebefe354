package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestChangedType changes the type of a column between two requests that have one
// statement, which a driver keeps prepared in the host's pool.
func TestChangedType(t *testing.T) {
	db, _ := database(t)
	_, err := db.Exec(`CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 7)`)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	src, err := sqlsource.New(db, sqlsource.PostgreSQL(), nil)
	require.NoError(t, err)
	keeper := connectortest.Start(t, connector.Definition{Slug: "keeper"}, src, nil).As(nil).Unverified()
	ask := func() error {
		_, err := keeper.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id", "n"}})
		return err
	}
	require.NoError(t, ask())
	_, err = db.Exec(`ALTER TABLE t ALTER n TYPE bigint`)
	require.NoError(t, err)
	err = ask()
	require.Equal(t, wire.CodeTimeout, suite.Code(err), "it passes: %v", err)
	require.NoError(t, ask())
}
