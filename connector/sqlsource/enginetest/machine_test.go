package enginetest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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

// ownServer is a server of one test, which may stop it and start it again.
type ownServer struct {
	dir     string // of its files
	address *net.TCPAddr
	command func() *exec.Cmd
	answers func() bool
	process *exec.Cmd
}

// start starts the server and returns when it answers.
func (s *ownServer) start(t *testing.T) {
	t.Helper()
	s.process = s.command()
	require.NoError(t, s.process.Start())
	require.Eventually(t, s.answers, patience, 20*time.Millisecond, "the server starts")
}

// stop ends the server by a signal, and waits for its end.
func (s *ownServer) stop(t *testing.T, signal os.Signal) {
	t.Helper()
	if s.process != nil {
		require.NoError(t, s.process.Process.Signal(signal))
		_ = s.process.Wait() // says that a signal ended it
		s.process = nil
	}
}

// endless has more rows than anyone reads, which come one by one.
func (e *engine) endless() string {
	rows := map[*engine]string{&postgres: "SELECT generate_series(1, 1000000000) AS id", &mariadb: "SELECT seq AS id FROM seq_1_to_1000000000"}
	return "CREATE VIEW endless AS " + rows[e]
}

// restarts stops the server in the middle of a stream of the view endless. The stream ends in an error line,
// requests say that nobody answers, and are served when the server is back.
func (s *ownServer) restarts(t *testing.T, db *database, signal os.Signal) {
	t.Helper()
	c := db.client(t)
	answer := c.ask(t.Context(), t, `query {"table": "endless", "fields": ["id"], "timeoutMs": 600000}`)
	var told error
	for _, err := range ndjson.NewReader(answer.Body).Rows() {
		s.stop(t, signal)
		told = err
	}
	var line *wire.Error
	require.ErrorAs(t, told, &line, "the stream ends in an error line")
	assert.Equal(t, wire.CodeTimeout, line.Code)
	answer = c.ask(t.Context(), t, `check {"timeoutMs": 30000}`)
	assert.Equal(t, http.StatusBadRequest, answer.StatusCode)
	assert.Contains(t, string(testkit.Must(io.ReadAll(answer.Body))(t)), "cannot be reached")
	s.start(t)
	require.Equal(t, http.StatusOK, c.ask(t.Context(), t, `check {"timeoutMs": 30000}`).StatusCode)
}

// access connects to a server as the rows of testdata/access.tsv say, and requires that /check says so, and nothing of
// hidden. There {user} stands for the user; what it says of itself is in words of ours.
func access(t *testing.T, server, password string, trusted *x509.CertPool, at func(t *testing.T, user, password string,
	encrypted *tls.Config) *database, hidden ...string) {
	for _, c := range testkit.Table(t, "testdata/access.tsv", 6) {
		if c[0] != server {
			continue
		}
		t.Run(c[1], func(t *testing.T) {
			encrypted := map[string]*tls.Config{
				"TLS":                    {ServerName: "example.com", RootCAs: trusted, MinVersion: tls.VersionTLS12},
				"TLS, and trusts nobody": {ServerName: "example.com", MinVersion: tls.VersionTLS12},
				"TLS to another host":    {ServerName: "other.test", RootCAs: trusted, MinVersion: tls.VersionTLS12},
			}[c[4]]
			require.Equal(t, c[4] != "", encrypted != nil, c[4])
			private := []string{password, "typed-wrong"}
			for _, text := range hidden {
				private = append(private, strings.ReplaceAll(text, "{user}", c[2]))
			}
			db := at(t, c[2], strings.ReplaceAll(c[3], "{password}", password), encrypted)
			requireCheck(t, db, c[5], private...)
		})
	}
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

// readStart reads a message of PostgreSQL that has a length and no type, the first of a client.
func readStart(conn net.Conn) bool {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return false
	}
	_, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size[:]))-4)
	return err == nil
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

// request and ask take requests that are written as in a situation, in one line.
var request, ask = situation.Parse, situation.Ask

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
	server := httptest.NewServer(d.asked(t, nil).Handler)
	t.Cleanup(server.Close)
	return &client{server.URL, d.credentials}
}

// ask sends a request that is written as in a situation. The answer is closed when the test ends.
func (c *client) ask(ctx context.Context, t testing.TB, line string) *http.Response {
	t.Helper()
	own := request(line)
	message := testkit.Must(wire.EncodeRequest(own.As(t, c.credentials)))(t)
	sent := testkit.Must(http.NewRequestWithContext(ctx, http.MethodPost, c.url+own.Path(), bytes.NewReader(message)))(t)
	sent.Header.Set("Authorization", "Bearer "+connectortest.Token)
	answer := testkit.Must(http.DefaultClient.Do(sent))(t, line)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}
