package connector_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
)

// keptListener hands out its first connection, which the server cannot close.
type keptListener struct {
	net.Listener
	accepted chan keptConn
}

type keptConn struct{ *net.TCPConn }

func (keptConn) Close() error { return nil }

func (l keptListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	kept := keptConn{c.(*net.TCPConn)}
	l.accepted <- kept
	return kept, nil
}

// TestUnsentIsLimited asks the kernel what Serve has set, on a plain connection and
// below TLS.
func TestUnsentIsLimited(t *testing.T) {
	const notSentLowAt = 25
	handler := http.NotFoundHandler()
	for _, overTLS := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		kept := keptListener{l, make(chan keptConn, 1)}
		var listener net.Listener = kept
		if overTLS {
			listener = tls.NewListener(kept, &tls.Config{MinVersion: tls.VersionTLS12})
		}
		go func() { _ = connector.Serve(t.Context(), listener, handler, nil) }()
		client, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		// The answer, or that there is no certificate, comes after what Serve sets.
		_, err = client.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
		require.NoError(t, err)
		_, err = client.Read(make([]byte, 1))
		require.NoError(t, err)
		conn := <-kept.accepted
		raw, err := conn.SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) {
			n, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, notSentLowAt)
			require.NoError(t, err)
			assert.Equal(t, 128<<10, n, "TLS: %t", overTLS)
		}))
		require.NoError(t, client.Close())
		require.NoError(t, conn.TCPConn.Close())
	}
}
