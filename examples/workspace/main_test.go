package main

import (
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

var curl = regexp.MustCompile(`(?m)^curl -sS (\S+) -H "Authorization: Bearer (\S+)"(?: -d '(.*)')?$`)

// launch starts the program on a free port, until the test ends.
func launch(t *testing.T, args ...string) *testkit.Log {
	t.Helper()
	printed, _ := testkit.Launch(t, func(ctx context.Context, out io.Writer) error {
		return run(ctx, args, func(name string) string { return map[string]string{"PORT": "0"}[name] }, out)
	})
	return printed
}

// TestRun sends every request that the program prints.
func TestRun(t *testing.T) {
	printed := launch(t)
	printed.Await(t, "curl -sS http://127.0.0.1")
	requests := curl.FindAllStringSubmatch(printed.String(), -1)
	require.Len(t, requests, 5)
	for _, r := range requests {
		status, answer := testkit.Send(t, http.DefaultClient, r[1], r[2], r[3])
		assert.Equal(t, 200, status, answer)
		assert.NotContains(t, answer, `"error"`)
	}
}

// TestUpstream: without the stand-in, no tenant reaches into the host's network.
func TestUpstream(t *testing.T) {
	printed := launch(t, "-upstream")
	printed.Await(t, "Serving")
	fields := strings.Fields(printed.String())
	token, address := fields[1], fields[len(fields)-1]
	var connections atomic.Int32
	local := httptest.NewUnstartedServer(http.NotFoundHandler())
	local.Config.ConnState = func(net.Conn, http.ConnState) { connections.Add(1) }
	local.StartTLS()
	defer local.Close()
	for _, typed := range []string{local.URL, strings.Replace(local.URL, "https", "http", 1),
		strings.Replace(local.URL, "127.0.0.1", "localhost", 1), "https://10.0.0.1", "https://169.254.169.254"} {
		status, answer := testkit.Send(t, http.DefaultClient, address+"/check", token,
			`{"credentials":{"baseUrl":"`+typed+`","token":"a-token"},"timeoutMs":10000}`)
		assert.Equal(t, 400, status, typed)
		assert.Contains(t, answer, "check_failed", typed)
	}
	assert.Zero(t, connections.Load())
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
