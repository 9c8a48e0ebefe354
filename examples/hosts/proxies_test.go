package main

import (
	"bytes"
	"context"
	"io"
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
	config  string
	body    int // the status of a request of 8 MiB, which the connector takes
}

// The configurations name these addresses, and the test its own.
const (
	nginxListens   = "listen 80;"
	haproxyListens = "bind :443 ssl crt /etc/haproxy/connector.pem"
	caddyListens   = "connector.example.com {"
	upstream       = "127.0.0.1:8080"
)

var (
	nginxArgs   = []string{"-p", "DIR", "-c", "CONFIG", "-e", "stderr"}
	haproxyArgs = []string{"-db", "-f", "CONFIG"}
	caddyArgs   = []string{"run", "--adapter", "caddyfile", "--config", "CONFIG"}
)

// TestProxies asks a connector behind each proxy, as it comes and as docs/operating.md
// sets it up. Rows have to arrive while the source still works.
func TestProxies(t *testing.T) {
	read := func(file string) string { return string(testkit.Must(os.ReadFile(file))(t)) }
	documented := map[string]string{} // by the language of their blocks
	for _, block := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(read("../../docs/operating.md"), -1) {
		documented[block[1]] = block[2]
	}
	nginx := read("testdata/nginx.conf") // it sets nothing but where files are
	const server, buffers = "location / { proxy_pass http://" + upstream + "; }", "request_buffers 8MiB"
	require.Contains(t, nginx, server)
	caddy := "{\n\tadmin off\n}\n" + documented["caddyfile"]
	require.Contains(t, caddy, buffers)
	// Up to 2.6.2, which Debian 12 has, the option has another name.
	if version, _ := exec.CommandContext(t.Context(), "caddy", "version").Output(); bytes.Contains(version, []byte("2.6.2")) {
		caddy = strings.Replace(caddy, buffers, "buffer_requests", 1)
	}
	for _, p := range []proxy{
		{"nginx as it comes", "nginx", nginxArgs, nginx, 413},
		{"nginx as documented", "nginx", nginxArgs, strings.Replace(nginx, server, documented["nginx"], 1), 200},
		{"HAProxy as it comes", "haproxy", haproxyArgs, read("testdata/haproxy.cfg"), 200},
		{"HAProxy as documented", "haproxy", haproxyArgs, documented["haproxy"], 200},
		{"Caddy as documented", "caddy", caddyArgs, caddy, 200},
	} {
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
	require.Contains(t, p.config, upstream)
	config := strings.NewReplacer(
		nginxListens, "listen unix:"+socket+";",
		haproxyListens, "bind unix@"+socket,
		caddyListens, "http:// {\n\tbind unix/"+socket,
		upstream, connector,
	).Replace(p.config)
	require.Contains(t, config, socket)
	require.NoError(t, os.WriteFile(configFile, []byte(config), 0o600))

	args := make([]string, len(p.args))
	for i, arg := range p.args {
		args[i] = strings.NewReplacer("CONFIG", configFile, "DIR", dir).Replace(arg)
	}
	said, _ := testkit.Launch(t, func(ctx context.Context, out io.Writer) error {
		run := exec.CommandContext(ctx, p.program, args...)
		run.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		run.Stdout, run.Stderr = out, out
		run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
		run.WaitDelay = 5 * time.Second
		if err := run.Run(); ctx.Err() == nil {
			return err
		}
		return nil // it was told to end
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(said)
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
