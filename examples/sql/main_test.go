package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testToken = "a-token-for-tests-0123456789abcdef"

// environment returns one that has any free port and a token.
func environment(token string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": token}[name]
		return value, set
	}
}

// cases returns the rows of a file of testdata, whose first line says what their cells are.
func cases(t *testing.T, name string) (rows [][]string) {
	content, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	_, lines, _ := strings.Cut(string(content), "\n")
	for line := range strings.Lines(lines) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	require.NotEmpty(t, rows)
	return rows
}

// demoFile creates the demo database.
func demoFile(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "demo.sqlite")
	require.NoError(t, createDemo(t.Context(), file))
	require.NoError(t, createDemo(t.Context(), file), "a second run finds it")
	return file
}

// TestRun starts the program on a free port, and stops it. With a server it does not
// connect before a request asks for a database.
func TestRun(t *testing.T) {
	words := strings.NewReplacer("{file}", demoFile(t), "{and}", ", ")
	for _, c := range cases(t, "serving.tsv") {
		t.Run(c[0], func(t *testing.T) {
			args := strings.Fields(c[1])
			for i := range args {
				args[i] = words.Replace(args[i])
			}
			lines := start(t, args, io.Discard)
			require.True(t, lines.Scan())
			assert.Contains(t, lines.Text(), "Serving "+words.Replace(c[2])+" at http://")
			assert.NotContains(t, lines.Text(), testToken)
		})
	}
}

// start runs the program until the test ends, and returns what it prints.
func start(t *testing.T, args []string, plans io.Writer) *bufio.Scanner {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	stopped := make(chan error, 1)
	go func() {
		stopped <- run(ctx, args, environment(testToken), out, plans)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		go func() { _, _ = io.Copy(io.Discard, printed) }()
		stop()
		require.NoError(t, <-stopped)
	})
	return bufio.NewScanner(printed)
}

// TestExplain follows the line that the program prints, and reads how the request was
// answered.
func TestExplain(t *testing.T) {
	var plans bytes.Buffer
	t.Run("served", func(t *testing.T) {
		var url string
		lines := start(t, []string{"-file", demoFile(t), "-explain"}, &plans)
		for url == "" && lines.Scan() {
			if line, found := strings.CutPrefix(lines.Text(), "curl -sS "); found && strings.Contains(line, "/discovery ") {
				url, _, _ = strings.Cut(line, " ")
			}
		}
		require.NotEmpty(t, url)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"credentials":{},"timeoutMs":30000}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+testToken)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		var d wire.Discovery
		require.NoError(t, wire.Decode(body, &d))
		require.Len(t, d.Tables, 3)
	})
	assert.Contains(t, plans.String(), "Discover\n  statement: SELECT ")
}

// TestRunRefuses reports what is wrong before anything is served. A program that
// serves ends without an error when the time is over.
func TestRunRefuses(t *testing.T) {
	// A folder and a file of another kind open without an error: only reading shows what they are.
	file, dir := demoFile(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text.sqlite"), []byte("not a database, though its name says so"), 0o600))
	words := strings.NewReplacer("{file}", file, "{dir}", dir)
	for _, c := range cases(t, "refused.tsv") {
		token := testToken
		if strings.HasPrefix(c[0], "a short token") {
			token = "short"
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		err := run(ctx, strings.Fields(words.Replace(c[1])), environment(token), io.Discard, io.Discard)
		stop()
		require.ErrorContains(t, err, words.Replace(c[2]), c[0])
		assert.NotContains(t, err.Error(), "pw7c1e", c[0])
	}
}
