package standalone_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const token = "a-token-for-tests-0123456789abcdef"

var apiKey = []wire.CredentialField{{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword}}

// oddSource has a table whose names a shell would trip over.
func oddSource(t *testing.T) connector.Source {
	t.Helper()
	source, err := memsource.New([]memsource.Table{{
		Table: wire.Table{
			Name: `o'brien "x" $HOME`, SourceDescription: "One row.", PrimaryKey: []string{"it's"},
			Fields: []wire.Field{{Name: "it's", Type: wire.TypeString, Unique: true}},
		},
		Rows: [][]wire.Value{{wire.Text("x")}},
	}}, nil)
	require.NoError(t, err)
	return source
}

// start runs a program on a free port and returns what it prints. It is stopped
// when the test ends.
func start(t *testing.T, p standalone.Program, env map[string]string) (lines []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	p.Out = in
	p.Options = &connector.Options{Logger: slog.New(slog.DiscardHandler)}
	p.Getenv = func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
	stopped := make(chan error, 1)
	go func() {
		stopped <- p.Run(ctx)
		_ = in.Close()
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-stopped)
	})
	for scan := bufio.NewScanner(out); scan.Scan(); {
		lines = append(lines, scan.Text())
		if strings.Contains(scan.Text(), wire.PathQuery) && strings.Contains(scan.Text(), "curl") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return lines
}

// TestTLS requires https with the files that the environment names, and that what
// the host puts around the connector sees its requests, the last function first.
func TestTLS(t *testing.T) {
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // lends its certificate, for 127.0.0.1
	defer lender.Close()
	pair := lender.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))

	mark := func(name string) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Add("Around", name)
				next.ServeHTTP(w, r)
			})
		}
	}
	lines := start(t, standalone.Program{
		Definition: connector.Definition{Slug: "odd"},
		Source:     oddSource(t),
		Around:     []func(http.Handler) http.Handler{mark("inner"), mark("outer")},
	}, map[string]string{"PORT": "0", "TLS_CERT_FILE": certFile, "TLS_KEY_FILE": keyFile})
	_, port, found := strings.Cut(lines[0], " at https://localhost:")
	require.True(t, found, lines[0])

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+port+wire.PathDocument, http.NoBody)
	require.NoError(t, err)
	client := lender.Client()
	client.Transport.(*http.Transport).ForceAttemptHTTP2 = true
	res, err := client.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, 2, res.ProtoMajor)
	require.Equal(t, []string{"outer", "inner"}, res.Header.Values("Around"))
	client.CloseIdleConnections()
}

// TestPrintedLinesWork pastes what is printed into a shell.
func TestPrintedLinesWork(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the printed lines are for a POSIX shell, and there is none here")
	}
	for _, c := range []struct {
		why     string
		program standalone.Program
		token   string // empty: one is made
		vars    []string
		head    string
		posts   int // lines that answer 200 as they are
	}{
		{"nothing is needed", standalone.Program{Serving: "one row"}, "", nil, "Serving one row at http://localhost:", 3},
		{"a token of one's own is not printed", standalone.Program{}, token, []string{"PLATFORM_CONNECTOR_TOKEN=" + token},
			"Serving odd at http://localhost:", 3},
		{"credentials of a demonstration are printed",
			standalone.Program{Definition: connector.Definition{Credentials: apiKey}, Credentials: map[string]string{"apiKey": "it's <x>"}},
			"", nil, "Serving odd", 3},
		{"credentials come from the shell",
			standalone.Program{Definition: connector.Definition{Credentials: apiKey}}, "",
			[]string{`CONNECTOR_CREDENTIALS={"apiKey":"it's"}`}, "Serving odd", 2},
	} {
		t.Run(c.why, func(t *testing.T) {
			env := map[string]string{"PORT": "0"}
			if c.token != "" {
				env["PLATFORM_CONNECTOR_TOKEN"] = c.token
			}
			c.program.Definition.Slug = "odd"
			c.program.Source = oddSource(t)
			lines := start(t, c.program, env)
			require.Contains(t, lines[0], c.head)
			if c.token != "" {
				require.NotContains(t, strings.Join(lines, "\n"), c.token)
			}
			posts := 0
			for _, line := range lines {
				words, found := strings.CutPrefix(line, "curl -sS ")
				if !found {
					continue
				}
				cmd := exec.Command(sh, "-c", "printf '%s\\0' "+words)
				cmd.Env = c.vars
				out, err := cmd.Output()
				require.NoError(t, err)
				answer := send(t, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
				require.Equal(t, http.StatusOK, answer.StatusCode, line)
				posts++
			}
			require.Equal(t, c.posts+1, posts, "the document, and the requests: %s", lines)
		})
	}
}

// send sends what curl would for its arguments.
func send(t *testing.T, argv []string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, argv[0], nil)
	require.NoError(t, err)
	if len(argv) > 1 {
		require.Equal(t, []string{"-H", "-d"}, []string{argv[1], argv[3]})
		require.True(t, json.Valid([]byte(argv[4])), argv[4])
		req.Method, req.Body = http.MethodPost, io.NopCloser(strings.NewReader(argv[4]))
		name, value, _ := strings.Cut(argv[2], ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res
}

// TestAsksForCredentials requires that the lines name the credentials which the
// connect form asks for, and that no table is guessed without them.
func TestAsksForCredentials(t *testing.T) {
	program := standalone.Program{Definition: connector.Definition{Slug: "odd", Credentials: apiKey}, Source: oddSource(t)}
	text := strings.Join(start(t, program, map[string]string{"PORT": "0"}), "\n")
	require.Contains(t, text, `export CONNECTOR_CREDENTIALS='{"apiKey":"..."}'`)
	require.Contains(t, text, `'{"table":"TABLE","fields":["FIELD"],"and":[],"sort":[],"limit":5,"credentials":'"$CONNECTOR_CREDENTIALS"',`)
}

func TestRefusesSettings(t *testing.T) {
	for _, c := range []struct {
		why  string
		slug string
		env  map[string]string
		want string
	}{
		{"an empty token is a secret that did not arrive", "odd", map[string]string{"PLATFORM_CONNECTOR_TOKEN": ""},
			"PLATFORM_CONNECTOR_TOKEN: a token needs at least 32 characters"},
		{"a port with a colon", "odd", map[string]string{"PORT": ":8080"}, "PORT: must be a number from 0 to 65535"},
		{"an empty port", "odd", map[string]string{"PORT": ""}, "PORT: must be a number from 0 to 65535"},
		{"a port that is too high", "odd", map[string]string{"PORT": "65536"}, "PORT: must be a number from 0 to 65535"},
		{"a certificate without its key", "odd", map[string]string{"PORT": "0", "TLS_CERT_FILE": "cert.pem"},
			"TLS_CERT_FILE and TLS_KEY_FILE: set both to files, or none of them"},
		{"a certificate that is not there", "odd", map[string]string{"PORT": "0", "TLS_CERT_FILE": "none.pem", "TLS_KEY_FILE": "none.pem"},
			"TLS_CERT_FILE and TLS_KEY_FILE: open none.pem"},
		{"a definition that is faulty", "X", map[string]string{"PORT": "0"}, "slug"},
	} {
		program := standalone.Program{
			Definition: connector.Definition{Slug: c.slug},
			Source:     oddSource(t),
			Out:        io.Discard,
			Getenv: func(name string) (string, bool) {
				value, set := c.env[name]
				return value, set
			},
		}
		require.ErrorContains(t, program.Run(t.Context()), c.want, c.why)
	}
}
