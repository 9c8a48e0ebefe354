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
	file := demoFile(t)
	for _, c := range []struct {
		why     string
		args    []string
		serving string
	}{
		{"a file", []string{"-file", file}, file},
		{"the engine by its name", []string{"-db", "sqlite", "-file", file}, file},
		{"a server", []string{"-db", "postgres", "-server", "db.invalid:1", "-schema", "sales, crm"}, "the databases of db.invalid:1"},
		{"the usual port", []string{"-db", "postgres"}, "the databases of localhost:5432"},
		{"another server", []string{"-db", "mysql", "-server", "db.invalid:1", "-tls"}, "the databases of db.invalid:1"},
		{"its usual port", []string{"-db", "mysql"}, "the databases of localhost:3306"},
	} {
		t.Run(c.why, func(t *testing.T) {
			lines := start(t, c.args, io.Discard)
			require.True(t, lines.Scan())
			assert.Contains(t, lines.Text(), "Serving "+c.serving+" at http://")
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
	file, missing := demoFile(t), filepath.Join(t.TempDir(), "none.sqlite")
	// A folder and a file of another kind open without an error: only reading shows what they are.
	folder, text := t.TempDir(), filepath.Join(t.TempDir(), "text.sqlite")
	require.NoError(t, os.WriteFile(text, []byte("not a database, though its name says so"), 0o600))
	const server, short = "-server: give host:port, such as db.internal:", "short"
	for _, c := range []struct {
		why, args, token, want string
	}{
		{"no file", "-file " + missing, testToken, "-file: stat " + missing},
		{"a folder", "-file " + folder, testToken, "-file: " + folder + " cannot be read as a SQLite database"},
		{"a file of another kind", "-file " + text, testToken, "-file: " + text + " cannot be read as a SQLite database"},
		{
			"http-11a: https is asked for by flags", "-file " + file + " -cert none.pem -key none.pem", testToken,
			"the certificate and its key: open none.pem",
		},
		{"https with another engine", "-db mysql -cert none.pem -key none.pem", testToken, "the certificate and its key: open none.pem"},
		{"no flag", "postgres://ada:pw7c1e@db:5432/shop", testToken, "give flags only: -file names a database of SQLite"},
		{"another engine", "-db postgres://ada:pw7c1e@db:5432/shop", testToken, "-db: give sqlite, postgres or mysql"},
		{"a file as the engine", "-db my.sqlite", testToken, "-file or -server says which database"},
		{"a file of a server", "-db postgres -file " + file, testToken, "-file does not go with -db postgres"},
		{"a server of a file", "-server db:5432", testToken, "-server does not go with -db sqlite"},
		{"a schema of a file", "-schema sales", testToken, "-schema does not go with -db sqlite"},
		{"TLS to a file", "-tls", testToken, "-tls does not go with -db sqlite"},
		{"an address without a port", "-db postgres -server db", testToken, server + "5432"},
		{"the same of another engine", "-db mysql -server db", testToken, server + "3306"},
		{"a port by name", "-db postgres -server db:sql", testToken, server},
		{"a URL", "-db mysql -server mysql://ada:pw7c1e@db:3306/shop", testToken, server},
		{"a user", "-db postgres -server ada:pw7c1e@db:1", testToken, server},
		{"a user alone", "-db postgres -server pw7c1e@db:1", testToken, server},
		{"a short token", "-file " + file, short, "PLATFORM_CONNECTOR_TOKEN: a token needs at least 32 characters"},
		{"the same of another engine", "-db postgres", short, "PLATFORM_CONNECTOR_TOKEN: a token needs at least 32 characters"},
	} {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		err := run(ctx, strings.Fields(c.args), environment(c.token), io.Discard, io.Discard)
		stop()
		require.ErrorContains(t, err, c.want, c.why)
		assert.NotContains(t, err.Error(), "pw7c1e", c.why)
	}
}
