package connectortest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestServer(t *testing.T) {
	s := Start(t, shopDefinition, shop(t), nil)

	status, answer := s.Post(wire.PathSize, `{"table":"orders","credentials":{},"timeoutMs":1000}`)
	assert.Equal(t, 200, status)
	assert.Equal(t, `{"size":{"rows":11,"exact":true}}`, answer)

	res, err := s.Client.Get(s.URL + wire.PathDocument)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, 200, res.StatusCode)
}

// Start reports all faults of construction at once and ends the test.
func TestServerRefusesDefinitions(t *testing.T) {
	r := record(t, func(tb testing.TB) {
		Start(tb, connector.Definition{Slug: "X", Limits: wire.Limits{Concurrency: 17}}, naive{}, nil)
		tb.Error("the test goes on")
	})
	require.Len(t, r.errors, 1)
	assert.Contains(t, r.errors[0], "connector.New: slug: must match")
	assert.Contains(t, r.errors[0], "limits.concurrency: must be at most 16")
}
