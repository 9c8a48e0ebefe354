package enginetest

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// setting returns an environment variable, or a default.
func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// missing ends a test that needs what this machine does not have. In CI it fails.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("in CI this must not be missing: "+format, args...)
	}
	t.Skipf(format, args...)
}

// freePort returns an address of this machine where nobody listens.
func freePort(t testing.TB) *net.TCPAddr {
	t.Helper()
	listener := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	require.NoError(t, listener.Close())
	return listener.Addr().(*net.TCPAddr)
}

// started starts a program that ends with the test. If the test fails, its errors are logged.
func started(t testing.TB, command *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	command.Stderr = &said
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%.4000s", said.String())
		}
	})
}

// listen returns the address of a server that answers each connection by a
// function. When the test ends, the connections are closed.
func listen(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
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

// selfSigned returns the certificate of package httptest, which is for 127.0.0.1 and example.com, and its
// key, as files have them, and who trusts it.
func selfSigned(t *testing.T) (trusted *x509.CertPool, certificate, key []byte) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	der := testkit.Must(x509.MarshalPKCS8PrivateKey(pair.PrivateKey))(t)
	return server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
