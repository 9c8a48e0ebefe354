package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// proxy is one program in front of the connector.
type proxy struct {
	name    string
	program string
	args    []string // CONFIG is the file, DIR its folder
	config  func(*testing.T) string
	body    int // the status of a request of 8 MiB, which the connector takes
}

// The configurations name these addresses, and the test its own.
const (
	nginxListens   = "listen 80;"
	haproxyListens = "bind :443 ssl crt /etc/haproxy/connector.pem"
	caddyListens   = "connector.example.com {"
	upstream       = "127.0.0.1:8080"
)

var proxies = []proxy{
	{"nginx as it comes", "nginx", nginxArgs, nginxPlain, 413},
	{"nginx as documented", "nginx", nginxArgs, nginxDocumented, 200},
	{"HAProxy as it comes", "haproxy", haproxyArgs, func(t *testing.T) string { return file(t, "testdata/haproxy.cfg") }, 200},
	{"HAProxy as documented", "haproxy", haproxyArgs, func(t *testing.T) string { return documented(t, "haproxy") }, 200},
	{"Caddy as documented", "caddy", []string{"run", "--adapter", "caddyfile", "--config", "CONFIG"}, caddyDocumented, 200},
}

var (
	nginxArgs   = []string{"-p", "DIR", "-c", "CONFIG", "-e", "stderr"}
	haproxyArgs = []string{"-db", "-f", "CONFIG"}
)

func file(t *testing.T, name string) string { return string(testkit.Must(os.ReadFile(name))(t)) }

// nginxPlain returns a whole configuration, which sets nothing but where files are.
func nginxPlain(t *testing.T) string { return file(t, "testdata/nginx.conf") }

// nginxDocumented has the documented server in place of that.
func nginxDocumented(t *testing.T) string {
	const server = "location / { proxy_pass http://" + upstream + "; }"
	require.Contains(t, nginxPlain(t), server)
	return strings.Replace(nginxPlain(t), server, documented(t, "nginx"), 1)
}

// caddyDocumented returns the documented configuration as the installed version spells
// it: up to 2.6.2, which Debian 12 has, an option has another name.
func caddyDocumented(t *testing.T) string {
	t.Helper()
	version := testkit.Must(exec.CommandContext(t.Context(), "caddy", "version").Output())(t)
	config := documented(t, "caddyfile")
	const option = "request_buffers 8MiB"
	require.Contains(t, config, option)
	if strings.HasPrefix(strings.TrimPrefix(string(version), "v"), "2.6.2") {
		config = strings.Replace(config, option, "buffer_requests", 1)
	}
	return "{\n\tadmin off\n}\n" + config
}

// documented returns a code block of docs/operating.md by its language.
func documented(t *testing.T, language string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(file(t, "../../docs/operating.md"))
	require.NotNil(t, block, "no block of %s", language)
	return block[1]
}

// TestProxies asks a connector behind each proxy, as it comes and as docs/operating.md
// sets it up. Rows have to arrive while the source still works.
func TestProxies(t *testing.T) {
	for _, p := range proxies {
		t.Run(p.name, func(t *testing.T) {
			goOn := make(chan struct{})
			listener := testkit.Must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- connector.Serve(ctx, listener, inServeMux(shop(goOn)), nil) }()
			t.Cleanup(func() { stop(); <-served })

			client := p.start(t, listener.Addr().String())
			ask(t, client, "http://shop", goOn, false)
			largest := `{"credentials":{},"timeoutMs":60000}`
			largest += strings.Repeat(" ", 8<<20-len(largest))
			status, _ := testkit.Send(t, client, "http://shop/shop/check", token, largest)
			require.Equal(t, p.body, status, "the status of a request of 8 MiB")
		})
	}
}

// start runs the proxy on a socket in a folder, until the test ends. The client
// connects to that.
func (p proxy) start(t *testing.T, connector string) *http.Client {
	t.Helper()
	testkit.Needs(t, p.program)
	dir := testkit.Must(os.MkdirTemp("", "proxy"))(t) // short, as a socket's path has to be
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, configFile := filepath.Join(dir, "socket"), filepath.Join(dir, "config")
	config := p.config(t)
	require.Contains(t, config, upstream)
	config = strings.NewReplacer(
		nginxListens, "listen unix:"+socket+";",
		haproxyListens, "bind unix@"+socket,
		caddyListens, "http:// {\n\tbind unix/"+socket,
		upstream, connector,
	).Replace(config)
	require.Contains(t, config, socket)
	require.NoError(t, os.WriteFile(configFile, []byte(config), 0o600))

	args := make([]string, len(p.args))
	for i, arg := range p.args {
		args[i] = strings.NewReplacer("CONFIG", configFile, "DIR", dir).Replace(arg)
	}
	var said bytes.Buffer
	run := exec.CommandContext(t.Context(), p.program, args...)
	run.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	run.Stdout, run.Stderr = &said, &said
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	run.WaitDelay = 5 * time.Second
	require.NoError(t, run.Start())
	ended := make(chan struct{})
	go func() { _ = run.Wait(); close(ended) }()
	t.Cleanup(func() { // t.Context is over here
		<-ended
		if t.Failed() {
			t.Log(said.String())
		}
	})

	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	listens := func() bool {
		conn, err := dial(t.Context(), "", "")
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}
	require.Eventually(t, listens, 10*time.Second, 20*time.Millisecond, "%s does not start", p.program)
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
