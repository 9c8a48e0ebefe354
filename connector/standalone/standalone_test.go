package standalone_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const token = "a-token-for-tests-0123456789abcdef"

var apiKey = []wire.CredentialField{{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword}}

// odd returns a program that reads an environment of its own and prints nothing. Its table
// has names that a shell would trip over.
func odd(t *testing.T, env map[string]string) standalone.Program {
	return standalone.Program{
		Definition: connector.Definition{Slug: "odd"},
		Source: connectors.Source{Tables: []memsource.Table{{
			Table: wire.Table{
				Name: `o'brien "x" $HOME`, SourceDescription: "One row.", PrimaryKey: []string{"it's"},
				Fields: []wire.Field{{Name: "it's", Type: wire.TypeString, Unique: true}},
			},
			Rows: [][]wire.Value{{wire.Text("x")}},
		}}},
		Options: connectors.Quiet(),
		Out:     io.Discard,
		Getenv: func(name string) (string, bool) {
			if name != "PLATFORM_CONNECTOR_TOKEN" && name != "PORT" { // [rule tenant-5]
				t.Errorf("the environment is asked for %s", name)
			}
			value, set := env[name]
			return value, set
		},
	}
}

// anyPort is an environment that states no token.
var anyPort = map[string]string{"PORT": "0"}

// start runs a program on a free port and returns what it prints. It is stopped when the context or the test ends.
func start(ctx context.Context, t *testing.T, p standalone.Program) []string {
	t.Helper()
	out, stop := testkit.Launch(t, func(ctx context.Context, out io.Writer) error {
		p.Out = out
		return p.Run(ctx)
	})
	context.AfterFunc(ctx, stop)
	out.Await(t, wire.PathQuery)
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// printed returns what a program prints until it serves.
func printed(out *bufio.Scanner) (lines []string) {
	for out.Scan() {
		lines = append(lines, out.Text())
		if strings.Contains(out.Text(), wire.PathQuery) && strings.Contains(out.Text(), "curl") {
			break
		}
	}
	return lines
}

// TestTLS requires https with the files that the program names, and that what the
// host puts around the connector sees its requests, the last function first.
func TestTLS(t *testing.T) {
	served := newPair(t)
	mark := func(name string) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Add("Around", name)
				next.ServeHTTP(w, r)
			})
		}
	}
	neverLooks(t)
	program := odd(t, anyPort)
	program.Around = []func(http.Handler) http.Handler{mark("inner"), mark("outer")}
	program.CertFile, program.KeyFile = served.write(t, t.TempDir())
	host := address(t, start(t.Context(), t, program), "https")

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+wire.PathDocument, http.NoBody)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	res := testkit.Must(client.Do(req))(t)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, 2, res.ProtoMajor)
	require.Equal(t, served.raw, res.TLS.PeerCertificates[0].Raw)
	require.Equal(t, []string{"outer", "inner"}, res.Header.Values("Around"))
	client.CloseIdleConnections()

	old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	_, err = tls.Dial("tcp", host, old)
	require.ErrorContains(t, err, "protocol version", "TLS 1.1 is refused")
}

// neverLooks fails the test if the program asks itself for its tables.
func neverLooks(t *testing.T) {
	t.Helper()
	transport := http.DefaultClient.Transport
	t.Cleanup(func() { http.DefaultClient.Transport = transport })
	http.DefaultClient.Transport = testkit.Transport(func(r *http.Request) (*http.Response, error) {
		t.Errorf("a request for %s", r.URL)
		return nil, errors.New("not here")
	})
}

// TestLooksForATable checks which table the printed query names, and with how many fields.
func TestLooksForATable(t *testing.T) {
	table := func(name string, rows bool, fields string) wire.Table {
		table := wire.Table{Name: name, StoresRows: rows}
		for field := range strings.FieldsSeq(fields) {
			table.Fields = append(table.Fields, wire.Field{Name: field, Type: wire.TypeString})
		}
		return table
	}
	// answers gives its own answer to the program's discovery.
	answers := func(status int, padding string) []func(http.Handler) http.Handler {
		return []func(http.Handler) http.Handler{func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				rec := httptest.NewRecorder()
				next.ServeHTTP(rec, r)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, padding+rec.Body.String())
			})
		}}
	}
	one := []wire.Table{table("one", true, "a")}
	const guess = `"table":"TABLE","fields":["FIELD"],`
	for _, c := range []struct {
		why    string
		tables []wire.Table
		around []func(http.Handler) http.Handler
		want   string
	}{
		{"the first one that stores rows", []wire.Table{table("view", false, "v"), table("one", true, "a b"), table("two", true, "c")}, nil,
			`"table":"one","fields":["a","b"],`},
		{"no more than four fields", []wire.Table{table("wide", true, "a b c d e f")}, nil, `"table":"wide","fields":["a","b","c","d"],`},
		{"views alone: their rows can be read too", []wire.Table{table("view", false, "v")}, nil, `"table":"view","fields":["v"],`},
		{"no table", nil, nil, guess},
		{"an answer with spaces before it", one, answers(200, "   "), `"table":"one","fields":["a"],`},
		{"an answer that is too long", one, answers(200, strings.Repeat(" ", 9<<20)), guess},
		{"an answer that is not a discovery", one, answers(503, ""), guess},
	} {
		t.Run(c.why, func(t *testing.T) {
			var until time.Time
			program := odd(t, anyPort)
			program.Around = c.around
			program.Source = connectors.Source{OnDiscover: func(ctx context.Context, _ *wire.DiscoveryRequest) (*wire.Discovery, error) {
				until, _ = ctx.Deadline()
				return &wire.Discovery{Tables: c.tables}, nil
			}}
			lines := start(t.Context(), t, program)
			require.Contains(t, lines[len(lines)-1], c.want)
			require.LessOrEqual(t, time.Until(until), 3*time.Second, "the look is bounded")
		})
	}
}

// TestPrintedLinesWork pastes what is printed into a shell.
func TestPrintedLinesWork(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the printed lines are for a POSIX shell, and there is none here")
	}
	for _, c := range []struct {
		why    string
		change func(*standalone.Program)
		token  string // empty: one is made
		vars   []string
		head   string
		posts  int // lines that answer 200 as they are
	}{
		{"nothing is needed", func(p *standalone.Program) { p.Serving = "one row" }, "", nil, "Serving one row at http://localhost:", 3},
		{"a token of one's own is not printed", func(*standalone.Program) {}, token, []string{"PLATFORM_CONNECTOR_TOKEN=" + token},
			"Serving odd at http://localhost:", 3},
		{"credentials of a demonstration are printed", func(p *standalone.Program) {
			p.Definition.Credentials, p.Credentials = apiKey, map[string]string{"apiKey": "it's <x>"}
		}, "", nil, "Serving odd", 3},
		{"credentials come from the shell", func(p *standalone.Program) { p.Definition.Credentials = apiKey }, "",
			[]string{`CONNECTOR_CREDENTIALS={"apiKey":"it's"}`}, "Serving odd", 2},
	} {
		t.Run(c.why, func(t *testing.T) {
			env := map[string]string{"PORT": "0"}
			if c.token != "" {
				env["PLATFORM_CONNECTOR_TOKEN"] = c.token
			}
			program := odd(t, env)
			c.change(&program)
			lines := start(t.Context(), t, program)
			require.Contains(t, lines[0], c.head)
			if c.token != "" {
				require.NotContains(t, strings.Join(lines, "\n"), c.token)
				require.Equal(t, "Token: $PLATFORM_CONNECTOR_TOKEN", lines[1])
			} else {
				require.Regexp(t, `^Token: [A-Z2-7]{52} \(made for this run; set PLATFORM_CONNECTOR_TOKEN to keep one\)$`, lines[1])
			}
			if program.Credentials != nil {
				require.Contains(t, strings.Join(lines, "\n"), "<x>", "for a person to read")
			}
			posts := 0
			for _, line := range lines {
				words, found := strings.CutPrefix(line, "curl -sS ")
				if !found {
					continue
				}
				cmd := exec.Command(sh, "-c", "printf '%s\\0' "+words)
				cmd.Env = c.vars
				out := testkit.Must(cmd.Output())(t)
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
	req := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, argv[0], nil))(t)
	if len(argv) > 1 {
		require.Equal(t, []string{"-H", "-d"}, []string{argv[1], argv[3]})
		require.True(t, json.Valid([]byte(argv[4])), argv[4])
		req.Method, req.Body = http.MethodPost, io.NopCloser(strings.NewReader(argv[4]))
		name, value, _ := strings.Cut(argv[2], ": ")
		req.Header.Set(name, value)
	}
	res := testkit.Must(http.DefaultClient.Do(req))(t)
	testkit.Must(io.Copy(io.Discard, res.Body))(t)
	require.NoError(t, res.Body.Close())
	return res
}

// TestAsksForCredentials requires that the lines name the credentials which the
// connect form asks for, and that no table is guessed without them.
func TestAsksForCredentials(t *testing.T) {
	neverLooks(t)
	fields := append([]wire.CredentialField{{Key: "region", Label: "Region", Type: wire.CredentialText, Optional: true}}, apiKey...)
	program := odd(t, anyPort)
	program.Definition.Credentials = fields
	text := strings.Join(start(t.Context(), t, program), "\n")
	require.Contains(t, text, `export CONNECTOR_CREDENTIALS='{"apiKey":"..."}'`)
	require.Contains(t, text, `'{"table":"TABLE","fields":["FIELD"],"and":[],"sort":[],"limit":5,"credentials":'"$CONNECTOR_CREDENTIALS"',`)
}

func TestRefusesSettings(t *testing.T) {
	for _, c := range testkit.Cases[struct {
		Why, Slug string
		Env       map[string]string
		Want      string
	}](t, "testdata/refused.json") {
		program := odd(t, c.Env)
		program.Definition.Slug = c.Slug
		require.ErrorContains(t, program.Run(t.Context()), c.Want, c.Why)
	}
	negative := odd(t, anyPort)
	negative.Drain = -time.Second
	require.ErrorContains(t, negative.Run(t.Context()), "Drain must not be negative")
	for _, c := range []struct{ why, cert, key, want string }{
		{"a certificate whose name did not arrive", "", "key.pem", "a certificate and its key: name the files of both, or none"},
		{"a certificate without its key", "cert.pem", "", "a certificate and its key: name the files of both, or none"},
		{"a certificate that is not there", "none.pem", "none.pem", "the certificate and its key: open none.pem"},
	} {
		program := odd(t, anyPort)
		program.CertFile, program.KeyFile = c.cert, c.key
		require.ErrorContains(t, program.Run(t.Context()), c.want, c.why)
	}
}

// TestDefaultPort checks that the port is 8080 where none is given, by the error that it is taken.
func TestDefaultPort(t *testing.T) {
	if taken, err := net.Listen("tcp", ":8080"); err == nil { // else it is already
		defer taken.Close()
	}
	program := odd(t, map[string]string{"PLATFORM_CONNECTOR_TOKEN": token})
	require.ErrorContains(t, program.Run(t.Context()), "listen tcp :8080: ")
	require.ErrorContains(t, program.Run(t.Context()), "set PORT to another port, or to 0 for any free one")
}

// TestMainFails requires that a program that cannot serve says why and exits with 1.
func TestMainFails(t *testing.T) {
	cmd := exec.Command(testkit.Must(os.Executable())(t))
	cmd.Env = append(os.Environ(), envProgram+"=1", "PORT=0", "PLATFORM_CONNECTOR_TOKEN=short")
	var errs strings.Builder
	cmd.Stderr = &errs
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Contains(t, errs.String(), "odd: PLATFORM_CONNECTOR_TOKEN: ")
	require.NotContains(t, errs.String(), "short")
}

// TestCertificateIsReadAgain writes a new certificate over the one that is served, first
// half of it, as a program that renews it may.
func TestCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	first, second := newPair(t), newPair(t)
	program := odd(t, anyPort)
	program.CertFile, program.KeyFile = first.write(t, dir)
	host := address(t, start(t.Context(), t, program), "https")
	served := func() []byte {
		conn := testkit.Must(tls.Dial("tcp", host, &tls.Config{InsecureSkipVerify: true}))(t)
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].Raw
	}
	require.Equal(t, first.raw, served())
	pair{cert: second.cert, key: first.key}.write(t, dir)
	require.Equal(t, first.raw, served(), "the files do not belong together")
	require.NoError(t, os.Remove(program.KeyFile))
	require.Equal(t, first.raw, served(), "one is not there")
	second.key = append(second.key, '\n') // whose size tells where the clock of the files does not
	second.write(t, dir)
	require.Equal(t, second.raw, served())
}

// pair is a certificate and its key, as PEM, and the certificate as it is on the wire.
type pair struct{ cert, key, raw []byte }

// write writes the certificate and the key to files.
func (p pair) write(t *testing.T, dir string) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, p.cert, 0o600))
	require.NoError(t, os.WriteFile(keyFile, p.key, 0o600))
	return certFile, keyFile
}

// address returns where the program is that printed these lines.
func address(t *testing.T, lines []string, scheme string) string {
	t.Helper()
	_, port, found := strings.Cut(strings.Join(lines, "\n"), " at "+scheme+"://localhost:")
	require.True(t, found, lines)
	port, _, _ = strings.Cut(port, "\n")
	return "127.0.0.1:" + port
}

// newPair makes a certificate that nobody signs.
func newPair(t *testing.T) pair {
	t.Helper()
	key := testkit.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	raw := testkit.Must(x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key))(t)
	secret := testkit.Must(x509.MarshalPKCS8PrivateKey(key))(t)
	return pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		raw:  raw,
	}
}

// envProgram makes the test's binary the program that TestMainStops starts.
const envProgram = "TEST_STANDALONE_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(envProgram) == "" {
		os.Exit(m.Run())
	}
	hanging := connectors.Source{OnCheck: func(context.Context, *wire.CheckRequest) error {
		fmt.Println("checking")
		select {}
	}}
	standalone.Main(connector.Definition{Slug: "odd"}, hanging, &connector.Options{
		Logger:  slog.New(slog.DiscardHandler),
		Observe: func(_ context.Context, o connector.RequestStats) { fmt.Println("observed", o.Route) },
	})
	fmt.Println("returned")
}

// launch starts the program, and returns where it is and the lines that it prints from then on.
func launch(t *testing.T) (cmd *exec.Cmd, url string, lines *bufio.Scanner) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals here")
	}
	cmd = exec.Command(testkit.Must(os.Executable())(t))
	cmd.Env = append(os.Environ(), envProgram+"=1", "PORT=0", "PLATFORM_CONNECTOR_TOKEN="+token)
	out := testkit.Must(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines = bufio.NewScanner(out)
	return cmd, "http://" + address(t, printed(lines), "http"), lines
}

// TestMainStops checks what Main does with the process: its environment, its output, and the signals that end it.
func TestMainStops(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd, url, lines := launch(t)
		res := send(t, []string{url + wire.PathDocument})
		require.Equal(t, http.StatusOK, res.StatusCode)
		res = send(t, []string{url + wire.PathDiscovery, "-H", "Authorization: Bearer " + token, "-d", `{"credentials":{},"timeoutMs":60000}`})
		require.Equal(t, http.StatusOK, res.StatusCode, "the token of the environment")
		require.NoError(t, cmd.Process.Signal(signal))
		var rest []string
		for lines.Scan() {
			rest = append(rest, lines.Text())
		}
		require.Contains(t, rest, "observed "+wire.PathDocument)
		require.Equal(t, "returned", rest[len(rest)-1], signal)
		require.NoError(t, cmd.Wait(), signal)
	}
}

// TestMainSecondSignal checks that a person who is tired of waiting can end the process while a request is open.
func TestMainSecondSignal(t *testing.T) {
	cmd, url, lines := launch(t)
	req := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, url+wire.PathCheck,
		strings.NewReader(`{"credentials":{},"timeoutMs":60000}`)))(t)
	req.Header.Set("Authorization", "Bearer "+token)
	go func() {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}()
	for lines.Text() != "checking" && lines.Scan() {
		continue
	}
	require.Equal(t, "checking", lines.Text())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() {
			continue
		}
	}()
	stopping := func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	for !stopping() {
		continue
	}
	for open := true; open; {
		select {
		case <-ended:
			open = false
		default:
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = stopping() // a moment for the program to give the signal back to the system
		}
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, -1, exit.ExitCode(), "ended by a signal: %v", exit)
}

// TestRotation requires that both tokens of the variable are taken, and that the
// printed lines send the first [rule http-11b].
func TestRotation(t *testing.T) {
	one, two := strings.Repeat("1", wire.MinTokenLength), strings.Repeat("2", wire.MinTokenLength)
	lines := start(t.Context(), t, odd(t, map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": one + "," + two}))
	require.Contains(t, strings.Join(lines, "\n"), "Bearer ${PLATFORM_CONNECTOR_TOKEN%%,*}")
	require.NotContains(t, strings.Join(lines, "\n"), one)
	require.NotContains(t, strings.Join(lines, "\n"), `"table":"TABLE"`, "the program asks itself for a table with the first")
	host := address(t, lines, "http")
	for token, status := range map[string]int{one: 200, two: 200, one + "," + two: 401} {
		res := send(t, []string{"http://" + host + wire.PathCheck, "-H", "Authorization: Bearer " + token,
			"-d", `{"credentials":{},"timeoutMs":1000}`})
		require.Equal(t, status, res.StatusCode, token)
	}
}

// TestDrain checks that a request has the time of Drain after the program is told to stop: its source needs more than
// the default.
func TestDrain(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	program := odd(t, map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": token})
	program.Drain = time.Minute
	program.Source = connectors.Source{OnCheck: func(ctx context.Context, _ *wire.CheckRequest) error {
		stop()
		select {
		case <-time.After(1500 * time.Millisecond):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	url := "http://" + address(t, start(ctx, t, program), "http")
	answer := send(t, []string{url + wire.PathCheck, "-H", "Authorization: Bearer " + token, "-d", `{"credentials":{},"timeoutMs":60000}`})
	require.Equal(t, http.StatusOK, answer.StatusCode)
}
