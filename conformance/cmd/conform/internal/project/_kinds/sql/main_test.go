package main

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// testSource serves a database that is made for the test.
//
// FILL IN a database for tests on a server, if yours has one.
func testSource(t *testing.T) connector.Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.sqlite")
	made, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = made.ExecContext(t.Context(), schema)
	require.NoError(t, err)
	require.NoError(t, made.Close())

	db, err := open(file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	source, err := newSource(db)
	require.NoError(t, err)
	return source
}

// TestGraded grades the connector as the platform will after it is connected.
func TestGraded(t *testing.T) {
	connectortest.Run(t, definition, testSource(t), nil)
}

// TestKnownRow asserts a row that you know: no grade can find a row that is missing from
// every answer.
//
// FILL IN a row of yours.
func TestKnownRow(t *testing.T) {
	answer, err := connectortest.Start(t, definition, testSource(t), nil).As(nil).Query(wire.QueryRequest{
		Table:  "orders",
		Where:  wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Int(3)}}},
		Fields: []string{"customer_id", "status"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"customer_id": 1, "status": "paid"}]`, answer.JSON())
}
