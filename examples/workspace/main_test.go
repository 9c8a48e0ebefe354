package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

var curl = regexp.MustCompile(`^curl -sS (\S+) -H "Authorization: Bearer (\S+)"(?: -d '(.*)')?$`)

// program is the running program, and the requests that it prints.
type program struct {
	requests []request
	stop     func() error
}

type request struct{ url, token, body string }

func (r request) send(t *testing.T) (status int, answer string) {
	t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if r.body != "" {
		method, body = http.MethodPost, strings.NewReader(r.body)
	}
	req := testkit.Must(http.NewRequestWithContext(t.Context(), method, r.url, body))(t)
	req.Header.Set("Authorization", "Bearer "+r.token)
	res := testkit.Must(http.DefaultClient.Do(req))(t)
	text := testkit.Must(io.ReadAll(res.Body))(t)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(text)
}

// launch starts the program on a free port, and returns once it has printed a line
// that begins with last.
func launch(t *testing.T, last string, args ...string) (string, program) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	stopped := make(chan error, 1)
	go func() {
		err := run(ctx, args, func(name string) string { return map[string]string{"PORT": "0"}[name] }, out)
		_ = out.CloseWithError(err)
		stopped <- err
	}()
	p := program{stop: func() error { cancel(); return <-stopped }}
	var all strings.Builder
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if m := curl.FindStringSubmatch(lines.Text()); m != nil {
			p.requests = append(p.requests, request{m[1], m[2], m[3]})
		}
		if strings.HasPrefix(lines.Text(), last) {
			go func() { _, _ = io.Copy(io.Discard, printed) }()
			return all.String(), p
		}
	}
	t.Fatalf("the program ended: %v", <-stopped)
	return "", p
}

// TestRun sends every request that the program prints.
func TestRun(t *testing.T) {
	_, p := launch(t, "curl -sS http://127.0.0.1")
	require.Len(t, p.requests, 5)
	for _, r := range p.requests {
		status, answer := r.send(t)
		assert.Equal(t, 200, status, answer)
		assert.NotContains(t, answer, `"error"`)
	}
	require.NoError(t, p.stop())
}

// TestUpstream: without the stand-in, no tenant reaches into the host's network.
func TestUpstream(t *testing.T) {
	printed, p := launch(t, "Serving", "-upstream")
	fields := strings.Fields(printed)
	token, address := fields[1], fields[len(fields)-1]
	var connections atomic.Int32
	local := httptest.NewUnstartedServer(http.NotFoundHandler())
	local.Config.ConnState = func(net.Conn, http.ConnState) { connections.Add(1) }
	local.StartTLS()
	defer local.Close()
	for _, typed := range []string{local.URL, strings.Replace(local.URL, "https", "http", 1),
		strings.Replace(local.URL, "127.0.0.1", "localhost", 1), "https://10.0.0.1", "https://169.254.169.254"} {
		r := request{address + "/check", token, `{"credentials":{"baseUrl":"` + typed + `","token":"a-token"},"timeoutMs":10000}`}
		status, answer := r.send(t)
		assert.Equal(t, 400, status, typed)
		assert.Contains(t, answer, "check_failed", typed)
	}
	assert.Zero(t, connections.Load())
	require.NoError(t, p.stop())
}

func TestRefuses(t *testing.T) {
	none := func(string) string { return "" }
	require.ErrorContains(t, run(t.Context(), []string{"https://platform.example.com"}, none, io.Discard), "is not a flag")
	require.Error(t, run(t.Context(), []string{"-x"}, none, io.Discard))
	err := run(t.Context(), nil, func(string) string { return "short" }, io.Discard)
	require.ErrorContains(t, err, "PLATFORM_CONNECTOR_TOKEN: a token needs at least 32 characters")
	err = run(t.Context(), nil, func(name string) string { return map[string]string{"PORT": "no port"}[name] }, io.Discard)
	require.ErrorContains(t, err, "PORT: ")
}
