package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestGraded grades the connector as the platform will after it is connected.
func TestGraded(t *testing.T) {
	source, err := newSource()
	require.NoError(t, err)
	connectortest.Run(t, definition, source, nil)
}

// TestKnownRow asserts a row that you know: no grade can find a row that is missing from
// every answer.
//
// FILL IN a row of yours.
func TestKnownRow(t *testing.T) {
	source, err := newSource()
	require.NoError(t, err)
	answer, err := connectortest.Start(t, definition, source, nil).As(nil).Query(wire.QueryRequest{
		Table:  "orders",
		Where:  wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Int(1)}}},
		Fields: []string{"customer", "total", "placed", "shipped_on", "paid", "tags", "note"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"customer": "Ada", "total": "12.50", "placed": "2026-01-01T09:30:00.000Z", "shipped_on": "2026-01-03",
		"paid": true, "tags": "[\"gift\",\"express\"]", "note": null}]`, answer.JSON())
}
