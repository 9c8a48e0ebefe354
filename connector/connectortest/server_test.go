package connectortest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
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

	r := s.Request(context.Background(), wire.PathCheck, []byte(`{"credentials":{},"timeoutMs":1000}`))
	r.Header.Del("Authorization")
	res, err := s.Client.Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, 401, res.StatusCode, "a request may be changed before it is sent")

	c := s.Dial()
	defer c.Close()
	_, err = fmt.Fprintf(c, "GET %s HTTP/1.0\r\n\r\n", wire.PathDocument)
	require.NoError(t, err)
	res, err = http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, 200, res.StatusCode, "a bare connection speaks HTTP")
	assert.Equal(t, "connector.test:80", s.l.Addr().String())
	assert.Equal(t, "memory", s.l.Addr().Network())

	doc := s.Document()
	assert.Equal(t, "shop", doc.Slug)
	assert.True(t, doc.Capabilities.Join)
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

// A stopped server refuses connections and does not hang.
func TestServerStopped(t *testing.T) {
	s := Start(t, shopDefinition, naive{}, nil)
	require.NoError(t, s.l.Close())
	_, err := s.l.Dial(context.Background())
	assert.Error(t, err)
	s = Start(t, shopDefinition, naive{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, s.HTTP.Close())
	_, err = s.l.Dial(ctx)
	assert.Error(t, err)
}
