package filesource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
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
	return start(t, testkit.Must(openRoot(dir))(t), nil)
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
	c, _ := json.Marshal(creds) // texts always can
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

// reads is how a file is read at a position, given how the file system does it.
type reads func(p []byte, at int64, read func([]byte, int64) (int, error)) (int, error)

// bent is a file system with its operations bent by the functions that are set.
type bent struct {
	fs.FS
	before func(op, name string) error // is called before an open, readdir, lstat, stat or read, and fails it
	list   func(name string, entries []fs.DirEntry) ([]fs.DirEntry, error)
	read   func(name string) reads // nil: as the file system does it
}

func (b bent) fail(op, name string) error {
	if b.before != nil {
		if err := b.before(op, name); err != nil {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return nil
}

func (b bent) Open(name string) (fs.File, error) {
	if err := b.fail("open", name); err != nil {
		return nil, err
	}
	f, err := b.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return bentFile{f, b, name}, nil
}

func (b bent) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := b.fail("readdir", name); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(b.FS, name)
	if err == nil && b.list != nil {
		return b.list(name, entries)
	}
	return entries, err
}

func (b bent) Lstat(name string) (fs.FileInfo, error) {
	if err := b.fail("lstat", name); err != nil {
		return nil, err
	}
	return fs.Lstat(b.FS, name)
}

func (b bent) Stat(name string) (fs.FileInfo, error) { return fs.Stat(b.FS, name) }
func (b bent) ReadLink(name string) (string, error)  { return fs.ReadLink(b.FS, name) }

type bentFile struct {
	fs.File
	fs   bent
	name string
}

func (f bentFile) Stat() (fs.FileInfo, error) {
	if err := f.fs.fail("stat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f bentFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.fs.fail("read", f.name); err != nil {
		return 0, err
	}
	read := f.File.(io.ReaderAt).ReadAt
	if f.fs.read != nil {
		if own := f.fs.read(f.name); own != nil {
			return own(p, at, read)
		}
	}
	return read(p, at)
}
