package connector_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestUnsentIsLimited asks the kernel what Serve has set, on a plain connection and below TLS.
func TestUnsentIsLimited(t *testing.T) {
	const notSentLowAt = 25
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	limits := make(chan int, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		defer conn.Close()
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn()
		}
		raw := testkit.Must(conn.(*net.TCPConn).SyscallConn())(t)
		assert.NoError(t, raw.Control(func(fd uintptr) {
			limits <- testkit.Must(syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, notSentLowAt))(t)
		}))
	})
	for _, scheme := range []string{"http://", "https://"} {
		l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
		url := scheme + l.Addr().String()
		if scheme == "https://" {
			l = tls.NewListener(l, web.TLS)
		}
		go func() { _ = connector.Serve(t.Context(), l, handler, nil) }()
		_, _ = web.Client().Get(url) // the connection ends without an answer
		assert.Equal(t, 128<<10, <-limits, scheme)
	}
}
