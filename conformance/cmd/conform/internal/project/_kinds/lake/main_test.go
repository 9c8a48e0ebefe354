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
		Where:  wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Int(5)}}},
		Fields: []string{"store", "day", "total", "year"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"store": 6, "day": "2026-02-11", "total": "240.00", "year": 2026}]`, answer.JSON())
}

// TestOtherFolder requires that a tenant reaches its own folder and no other.
func TestOtherFolder(t *testing.T) {
	tenant := connectortest.Start(t, definition, testSource(t), nil).As(map[string]string{"tenant": "another"})
	require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(tenant.Check()))
}
