package enginetest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// listen returns the address of a server that answers each connection by a
// function. When the test ends, the connections are closed.
func listen(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			answer(conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// say returns an answer that says a text at once, and reads nothing.
func say(text string) func(net.Conn) {
	return func(conn net.Conn) { _, _ = conn.Write([]byte(text)) }
}
