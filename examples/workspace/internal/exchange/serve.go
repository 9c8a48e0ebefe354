package exchange

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
)

// Serve returns a transport that leads to a handler in memory, whatever host a
// request names.
func Serve(t *testing.T, handler http.HandlerFunc) http.RoundTripper {
	t.Helper()
	listener := memlisten.New()
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return listener.Dial(ctx) }
	transport := &http.Transport{DialContext: dial, DialTLSContext: dial, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-served
	})
	return transport
}
