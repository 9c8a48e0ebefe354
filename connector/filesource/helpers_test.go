package filesource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var definition = connector.Definition{Slug: "files", Credentials: Credentials()}

// rested is the time at which test files were last written to: long enough ago
// to be trusted.
var rested = time.Now().Add(-time.Hour)

// put writes files, named by tenant and file, below dir. They have rested.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		require.NoError(t, os.Chtimes(path, rested, rested))
	}
}

// host serves a folder of the disk.
func host(t testing.TB, dir string) (*connectortest.Server, *Source) {
	t.Helper()
	r := testkit.Must(openRoot(dir))(t)
	return start(t, r, nil)
}

// inMemory serves files that are nowhere on the disk.
func inMemory(t testing.TB, files map[string]string) (*connectortest.Server, *Source) {
	t.Helper()
	return start(t, fsRoot(mapFS(files)), nil)
}

func mapFS(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content), ModTime: rested}
	}
	return m
}

func start(t testing.TB, r *root, opts *connector.Options) (*connectortest.Server, *Source) {
	t.Helper()
	src := newSource(r, &Options{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(func() { _ = src.Close() })
	return connectortest.Start(t, definition, src, opts), src
}

// body returns a request of a tenant: members, and then credentials and a timeout.
func body(tenant, password, members string) string {
	creds := map[string]string{CredentialTenant: tenant}
	if password != "" {
		creds[CredentialPassword] = password
	}
	c, err := json.Marshal(creds)
	if err != nil {
		panic(err)
	}
	if members != "" {
		members += ","
	}
	return fmt.Sprintf(`{%s"credentials":%s,"timeoutMs":60000}`, members, c)
}

// discovered asks for a tenant's discovery.
func discovered(t testing.TB, s *connectortest.Server, tenant string, password ...string) *wire.Discovery {
	t.Helper()
	status, answer := s.Post(wire.PathDiscovery, body(tenant, strings.Join(password, ""), ""))
	require.Equal(t, 200, status, answer)
	var d wire.Discovery
	require.NoError(t, wire.Decode([]byte(answer), &d))
	return &d
}

// rowsOf returns the rows of a query, as they cross the wire, without the served
// and the end line.
func rowsOf(t testing.TB, s *connectortest.Server, tenant, members string) []string {
	t.Helper()
	status, answer := s.Post(wire.PathQuery, body(tenant, "", members))
	require.Equal(t, 200, status, answer)
	for _, err := range ndjson.NewReader(strings.NewReader(answer)).Rows() {
		require.NoError(t, err)
	}
	rows := []string{}
	for line := range strings.Lines(answer) {
		var l struct{ Rows []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		for _, r := range l.Rows {
			rows = append(rows, string(r))
		}
	}
	return rows
}

// compact returns JSON without blanks between its tokens.
func compact(t testing.TB, text json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Compact(&b, text))
	return b.String()
}
