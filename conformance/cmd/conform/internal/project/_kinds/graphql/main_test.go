package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func testSource(t *testing.T) connector.Source {
	t.Helper()
	source, err := newSource(&restsource.Options{Transport: roundTrip(standIn)})
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
	tenant := connectortest.Start(t, definition, testSource(t), nil).As(demo)
	answer, err := tenant.Query(wire.QueryRequest{
		Table:  "orders",
		Where:  wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Text("o5")}}},
		Fields: []string{"customer", "status", "total", "updated"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"customer": "c2", "status": "PAID", "total": "50.50", "updated": "2026-01-05T09:30:00Z"}]`, answer.JSON())
}

// TestWrongToken requires a sentence for the person at the connect form.
func TestWrongToken(t *testing.T) {
	err := connectortest.Start(t, definition, testSource(t), nil).As(map[string]string{"accessToken": "another"}).Check()
	require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err))
}
