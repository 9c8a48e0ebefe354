package exchange

import (
	"io"
	"log"
	"net/http"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
)

// Serve returns a transport that leads to a handler in memory, whatever host a
// request names.
func Serve(t *testing.T, handler http.HandlerFunc) http.RoundTripper {
	t.Helper()
	listener, stop := memlisten.Serve(&http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)})
	transport := listener.Route(&http.Transport{DisableCompression: true})
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		stop()
	})
	return transport
}
