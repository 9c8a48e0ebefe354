package main

import (
	"bufio"
	"fmt"
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

const query = `{"table":"planets","fields":["name"],"and":[{"field":"moons","op":"gt","value":0}],"sort":[],` +
	`"credentials":{},"timeoutMs":5000}`

// scope matches the labels that the README leaves out.
var scope = regexp.MustCompile(`,otel_scope_[a-z_]+="[^"]*"`)

// TestProgram runs the program as the README does, asks a query, and checks that the
// page shows what the README shows, and that the log and the spans tell of the query.
func TestProgram(t *testing.T) {
	const bearer = "the-token-of-this-test-0123456789abcdef"
	program := filepath.Join(t.TempDir(), "prometheus")
	output, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(output))

	port, metricsPort := freePort(t), freePort(t)
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), "PLATFORM_CONNECTOR_TOKEN="+bearer, "PORT="+port,
		"OTEL_METRICS_EXPORTER=prometheus", "OTEL_TRACES_EXPORTER=console", "OTEL_EXPORTER_PROMETHEUS_PORT="+metricsPort)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	stdout := testkit.Must(command.StdoutPipe())(t)
	var lines strings.Builder
	command.Stderr = &lines
	require.NoError(t, command.Start())
	printed := bufio.NewReader(stdout)
	for text := ""; !strings.Contains(text, "curl"); { // it prints its requests once it serves
		text = testkit.Must(printed.ReadString('\n'))(t)
	}

	_, answer := testkit.Send(t, http.DefaultClient, "http://localhost:"+port+"/query", bearer, query)
	require.Contains(t, answer, `{"end":1}`)
	status, page := testkit.Send(t, http.DefaultClient, "http://localhost:"+metricsPort+"/metrics", "", "")
	require.Equal(t, 200, status)
	page = scope.ReplaceAllString(page, "")

	checkExpressions(t, page, dashboardExpressions(t))
	checkExpressions(t, page, alertExpressions(t))

	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	spans := testkit.Must(io.ReadAll(printed))(t)
	require.NoError(t, command.Wait(), "it stops cleanly")
	assert.Contains(t, lines.String(), `"msg":"request","slug":"planets","route":"/query"`)
	assert.Contains(t, string(spans), `"Name":"POST /query"`)
	assert.NotContains(t, string(spans)+page+lines.String(), bearer)

	readme := testkit.Must(os.ReadFile("README.md"))(t)
	_, shown, ok := strings.Cut(string(readme), "```text\n")
	require.True(t, ok)
	shown, _, _ = strings.Cut(shown, "```")
	for line := range strings.Lines(shown) {
		assert.Contains(t, page, line)
	}
	assert.Greater(t, strings.Count(shown, "\n"), 10)
}

// freePort returns a port that nobody listened on a moment ago.
func freePort(t *testing.T) string {
	l := testkit.Must(net.Listen("tcp", "localhost:0"))(t)
	require.NoError(t, l.Close())
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
