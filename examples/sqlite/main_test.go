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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testToken = "a-token-for-tests-0123456789abcdef"

// demoFile creates the demo database.
func demoFile(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "demo.sqlite")
	require.NoError(t, createDemo(t.Context(), file))
	return file
}

// TestRun starts the program on a free port, follows the line that it prints,
// and stops it.
func TestRun(t *testing.T) {
	file := demoFile(t)
	require.NoError(t, createDemo(t.Context(), file), "a second run finds it")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	printed, out := io.Pipe()
	stopped := make(chan error, 1)
	var plans bytes.Buffer
	go func() {
		stopped <- run(ctx, []string{"-db", file, "-explain"}, func(name string) (string, bool) {
			value, set := map[string]string{"PORT": "0", "PLATFORM_CONNECTOR_TOKEN": testToken}[name]
			return value, set
		}, out, &plans)
		_ = out.Close()
	}()
	var url string
	lines := bufio.NewScanner(printed)
	for url == "" && lines.Scan() {
		if line, found := strings.CutPrefix(lines.Text(), "curl -sS "); found && strings.Contains(line, "/discovery ") {
			url, _, _ = strings.Cut(line, " ")
		}
	}
	require.NotEmpty(t, url)
	go func() { _, _ = io.Copy(io.Discard, printed) }()
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
	stop()
	require.NoError(t, <-stopped)
	assert.Contains(t, plans.String(), "Discover\n  statement: SELECT ")
}

// TestRunRefuses reports what is wrong before anything is served.
func TestRunRefuses(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.sqlite")
	err := run(t.Context(), []string{"-db", none}, os.LookupEnv, io.Discard, io.Discard)
	assert.ErrorContains(t, err, "-db: stat "+none)
	// A folder and a file of another kind open without an error: only reading shows what they are.
	text := filepath.Join(t.TempDir(), "text.sqlite")
	require.NoError(t, os.WriteFile(text, []byte("not a database, though its name says so"), 0o600))
	for _, file := range []string{t.TempDir(), text} {
		ended, stop := context.WithCancel(t.Context())
		stop() // a program that serves would end without an error
		err = run(ended, []string{"-db", file}, os.LookupEnv, io.Discard, io.Discard)
		assert.ErrorContains(t, err, "-db: "+file+" cannot be read as a SQLite database")
	}
	err = run(t.Context(), []string{"-db", demoFile(t), "-cert", "none.pem", "-key", "none.pem"}, os.LookupEnv, io.Discard, io.Discard)
	require.ErrorContains(t, err, "the certificate and its key: open none.pem", "https is asked for by flags [rule http-11a]")
	err = run(t.Context(), []string{"my.db"}, os.LookupEnv, io.Discard, io.Discard)
	assert.ErrorContains(t, err, `"my.db" is not a flag; to serve a database of your own, give -db my.db`)
	err = run(t.Context(), []string{"-db", demoFile(t)}, func(string) (string, bool) { return "short", true }, io.Discard, io.Discard)
	assert.ErrorContains(t, err, "PLATFORM_CONNECTOR_TOKEN: a token needs at least 32 characters")
}

// skipShort skips a test with -short, as the race run is: SQLite is written in Go,
// and takes minutes under the race detector.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes minutes under the race detector; run without -short")
	}
}

// TestGraded grades the connector over the demo with the conformance program.
func TestGraded(t *testing.T) {
	skipShort(t)
	db, err := open(demoFile(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	token, err := wire.NewToken(testToken)
	require.NoError(t, err)
	source, err := sqlsource.New(db, sqlsource.SQLite(), nil)
	require.NoError(t, err)
	handler, err := connector.New(definition, source, token, nil)
	require.NoError(t, err)
	target, done := conformance.InProcess(handler, testToken)
	defer done()
	conformance.Test(t, target, &conformance.Options{Mode: conformance.ModeLive})
}

// TestDemo exercises the demo database, and verifies every answer.
func TestDemo(t *testing.T) {
	skipShort(t)
	db, err := open(demoFile(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	source, err := sqlsource.New(db, sqlsource.SQLite(), nil)
	require.NoError(t, err)
	connectortest.Run(t, definition, source, nil)
}
