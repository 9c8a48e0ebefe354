package enginetest

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
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

// request returns a request that is written as in a situation, in one line.
func request(line string) situation.Request {
	route, body, _ := strings.Cut(line, " ")
	return situation.Request{Route: route, Body: body}
}

// ask asks a request that is written as in a situation, and returns the answer as a situation has it.
func ask(t *testing.T, tenant *connectortest.Tenant, line string) string {
	t.Helper()
	return (&situation.Asking{Tenant: tenant}).Answer(t, request(line))
}

// requireRefusal requires an error with a code, whose message has the text want and none of hidden.
func requireRefusal(t *testing.T, err error, code wire.Code, want string, hidden ...string) {
	t.Helper()
	require.Equal(t, code, wire.CodeOf(err), "%v", err)
	assert.ErrorContains(t, err, want)
	for _, text := range hidden {
		assert.NotContains(t, err.Error(), text)
	}
}

// requireCheck requires that /check says want of the credentials, and nothing of hidden; or that it succeeds if want is empty.
func requireCheck(t *testing.T, db *database, want string, hidden ...string) {
	t.Helper()
	err := db.caller(t, nil).Unverified().Check()
	if want == "" {
		require.NoError(t, err)
		return
	}
	requireRefusal(t, err, wire.CodeCheckFailed, want, hidden...)
}

// client asks a connector as one tenant, over HTTP.
type client struct {
	url         string
	credentials map[string]string
}

// client serves a database, for its tenant.
func (d *database) client(t testing.TB) *client {
	t.Helper()
	server := httptest.NewServer(d.handler(t, nil))
	t.Cleanup(server.Close)
	return &client{server.URL, d.credentials}
}

// ask sends a request that is written as in a situation. The answer is closed when the test ends.
func (c *client) ask(ctx context.Context, t testing.TB, line string) *http.Response {
	t.Helper()
	own := request(line)
	message := testkit.Must(wire.EncodeRequest(own.As(t, c.credentials)))(t)
	sent := testkit.Must(http.NewRequestWithContext(ctx, http.MethodPost, c.url+own.Path(), bytes.NewReader(message)))(t)
	sent.Header.Set("Authorization", "Bearer "+token)
	answer := testkit.Must(http.DefaultClient.Do(sent))(t, line)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}
