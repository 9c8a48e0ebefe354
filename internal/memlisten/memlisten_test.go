package memlisten_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
)

func TestDialAndAccept(t *testing.T) {
	l := memlisten.New()
	assert.Equal(t, "memory", l.Addr().Network())
	assert.Equal(t, "connector.test:80", l.Addr().String())
	accepted := make(chan net.Conn)
	go func() {
		c, err := l.Accept()
		assert.NoError(t, err)
		accepted <- c
	}()
	client, err := l.Dial(t.Context())
	require.NoError(t, err)
	server := <-accepted
	go func() { _, _ = server.Write([]byte("x")) }()
	got := make([]byte, 1)
	_, err = client.Read(got)
	require.NoError(t, err)
	assert.Equal(t, "x", string(got))
}

func TestClosed(t *testing.T) {
	l := memlisten.New()
	require.NoError(t, l.Close())
	require.NoError(t, l.Close(), "closing twice is harmless")
	_, err := l.Dial(t.Context())
	assert.ErrorIs(t, err, net.ErrClosed)
	_, err = l.Accept()
	assert.ErrorIs(t, err, net.ErrClosed)
}

func TestDialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := memlisten.New().Dial(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}
