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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
		l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
		kept := keptListener{l, make(chan keptConn, 1)}
		var listener net.Listener = kept
		if overTLS {
			listener = tls.NewListener(kept, &tls.Config{MinVersion: tls.VersionTLS12})
		}
		go func() { _ = connector.Serve(t.Context(), listener, handler, nil) }()
		client := testkit.Must(net.Dial("tcp", l.Addr().String()))(t)
		// The answer, or that there is no certificate, comes after what Serve sets.
		testkit.Must(client.Write([]byte("GET / HTTP/1.0\r\n\r\n")))(t)
		testkit.Must(client.Read(make([]byte, 1)))(t)
		conn := <-kept.accepted
		raw := testkit.Must(conn.SyscallConn())(t)
		require.NoError(t, raw.Control(func(fd uintptr) {
			n := testkit.Must(syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, notSentLowAt))(t)
			assert.Equal(t, 128<<10, n, "TLS: %t", overTLS)
		}))
		require.NoError(t, client.Close())
		require.NoError(t, conn.TCPConn.Close())
	}
}
