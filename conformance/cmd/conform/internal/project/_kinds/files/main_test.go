package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// testSource serves the folder data.
//
// FILL IN a folder for tests, if data holds what is real.
func testSource(t *testing.T) connector.Source {
	t.Helper()
	source, err := newSource("data")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	return source
}

// TestGraded grades the connector as the platform will after it is connected.
func TestGraded(t *testing.T) {
	connectortest.Run(t, definition, testSource(t), &connectortest.Options{Credentials: demo})
}

// TestKnownRow asserts a row that you know: no grade can find a row that is missing from
// every answer.
//
// FILL IN a row of yours.
func TestKnownRow(t *testing.T) {
	answer, err := connectortest.Start(t, definition, testSource(t), nil).As(demo).Query(wire.QueryRequest{
		Table:  "orders",
		Where:  wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Int(3)}}},
		Fields: []string{"customer_id", "status", "total", "placed"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"customer_id": 1, "status": "paid", "total": "7.25", "placed": "2026-01-09"}]`, answer.JSON())
}

// TestOtherFolder requires that a tenant reaches its own folder and no other.
func TestOtherFolder(t *testing.T) {
	tenant := connectortest.Start(t, definition, testSource(t), nil).As(map[string]string{"tenant": "another"})
	require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(tenant.Check()))
}
