package main

import (
	"bufio"
	"encoding/json"
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
	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

const query = `{"table":"planets","fields":["name"],"and":[{"field":"moons","op":"gt","value":0}],"sort":[],` +
	`"credentials":{},"timeoutMs":5000}`

// scope matches the labels that the README leaves out.
var scope = regexp.MustCompile(`,otel_scope_[a-z_]+="[^"]*"`)

// TestProgram runs the program as the README does, asks a query, and checks that the page shows what the README shows
// and all that the dashboard and the alerts ask for, and that the log and the spans tell of the query.
func TestProgram(t *testing.T) {
	const bearer = "the-token-of-this-test-0123456789abcdef"
	program := filepath.Join(t.TempDir(), "prometheus")
	output, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(output))

	var ports [2]string // on which nobody listened a moment ago
	for i := range ports {
		l := testkit.Must(net.Listen("tcp", "localhost:0"))(t)
		require.NoError(t, l.Close())
		ports[i] = fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), "PLATFORM_CONNECTOR_TOKEN="+bearer, "PORT="+ports[0],
		"OTEL_METRICS_EXPORTER=prometheus", "OTEL_TRACES_EXPORTER=console", "OTEL_EXPORTER_PROMETHEUS_PORT="+ports[1])
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	stdout := testkit.Must(command.StdoutPipe())(t)
	var lines strings.Builder
	command.Stderr = &lines
	require.NoError(t, command.Start())
	printed := bufio.NewReader(stdout)
	for text := ""; !strings.Contains(text, "curl"); { // it prints its requests once it serves
		text = testkit.Must(printed.ReadString('\n'))(t)
	}

	_, answer := testkit.Send(t, http.DefaultClient, "http://localhost:"+ports[0]+"/query", bearer, query)
	require.Contains(t, answer, `{"end":1}`)
	status, page := testkit.Send(t, http.DefaultClient, "http://localhost:"+ports[1]+"/metrics", "", "")
	require.Equal(t, 200, status)
	page = scope.ReplaceAllString(page, "")

	var board struct {
		Templating struct {
			List []struct{ Name, Query string }
		}
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile("dashboard.json"))(t), &board))
	require.GreaterOrEqual(t, len(board.Panels), 8)
	places, expressions := map[any]bool{}, []string{}
	for i, panel := range board.Panels {
		require.Equal(t, i+1, panel.ID, panel.Title)
		require.False(t, places[panel.GridPos], "%s lies on another panel", panel.Title)
		places[panel.GridPos] = true
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			expressions = append(expressions, target.Expr)
		}
	}
	for _, variable := range board.Templating.List {
		if variable.Name == "slug" {
			expressions = append(expressions, variable.Query)
		}
	}

	var alerts struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(testkit.Must(os.ReadFile("alerts.yml"))(t), &alerts))
	guide := testkit.Must(os.ReadFile("../../docs/operating.md"))(t)
	require.Len(t, alerts.Groups, 1)
	require.NotEmpty(t, alerts.Groups[0].Rules)
	for _, rule := range alerts.Groups[0].Rules {
		require.Contains(t, string(guide), "| `"+rule.Alert+"` |")
		require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		require.Contains(t, []string{"page", "ticket"}, rule.Labels["severity"], rule.Alert)
		expressions = append(expressions, rule.Expr)
	}

	for _, expression := range expressions { // each of its metrics and labels is on the page
		names := metricName.FindAllString(expression, -1)
		require.NotEmpty(t, names, "no metric in %s", expression)
		for _, name := range names {
			assert.True(t, elsewhere[name] != "" || strings.Contains(page, "\n"+name+"{"), "no metric %s: %s", name, expression)
		}
		for _, found := range labelName.FindAllStringSubmatch(expression, -1) {
			for label := range strings.SplitSeq(found[1]+found[2], ",") {
				label = strings.TrimSpace(label)
				assert.True(t, elsewhere[label] != "" || regexp.MustCompile(`[{,]`+label+`="`).MatchString(page), "no label %q: %s", label, expression)
			}
		}
	}

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

// elsewhere are the names that an expression may use and the page of this program does
// not show.
var elsewhere = map[string]string{
	"up":              "Prometheus itself makes it of every target",
	"job":             "Prometheus adds it to every target",
	"connector_fault": "nothing fails in this program; see requestAttributes of package otelconnector",
}

var (
	metricName = regexp.MustCompile(`\b(?:http|connector)_[a-z_]+?_(?:count|sum|bucket|total)\b|\bup\b`)
	labelName  = regexp.MustCompile(`[{,]\s*([a-z_]+)\s*(?:=|!=|=~|!~)\s*"|by \(([^)]*)\)`)
)
