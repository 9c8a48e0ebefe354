package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const query = `{"table":"planets","fields":["name"],"and":[{"field":"moons","op":"gt","value":0}],"sort":[],` +
	`"credentials":{},"timeoutMs":5000}`

// TestMetricsPage asks a query and checks that the page shows what the README shows.
func TestMetricsPage(t *testing.T) {
	const bearer = "the-token-of-this-test-0123456789abcdef"
	token, err := wire.NewToken(bearer)
	require.NoError(t, err)
	var lines strings.Builder
	telemetry, err := newTelemetry()
	require.NoError(t, err)
	options := telemetry.Options(connector.Options{Logger: slog.New(slog.NewJSONHandler(&lines, nil))})
	handler, err := connector.New(definition, source(), token, options)
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodPost, "/query", strings.NewReader(query))
	r.Header.Set("Authorization", "Bearer "+bearer)
	w := httptest.NewRecorder()
	telemetry.Handler(handler).ServeHTTP(w, r)
	require.Equal(t, 200, w.Code, w.Body)
	page := httptest.NewRecorder()
	promhttp.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	assert.Contains(t, lines.String(), `"msg":"request","slug":"planets","route":"/query"`)

	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, shown, ok := strings.Cut(string(readme), "```text\n")
	require.True(t, ok)
	shown, _, _ = strings.Cut(shown, "```")
	for line := range strings.Lines(shown) {
		assert.Contains(t, page.Body.String(), line)
	}
	assert.Greater(t, strings.Count(shown, "\n"), 10)
}
