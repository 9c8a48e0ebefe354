package filesource

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// failing is a file system in which one operation on some names fails while its error is
// set.
type failing struct {
	fs.FS
	fault *hostFault
}

type hostFault struct {
	op, name string
	err      error
}

func (f failing) fail(op, name string) error {
	if f.fault.err != nil && f.fault.op == op && f.fault.name == name {
		return &fs.PathError{Op: op, Path: name, Err: f.fault.err}
	}
	return nil
}

func (f failing) Open(name string) (fs.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	opened, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return failingFile{opened, f, name}, nil
}

func (f failing) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.fail("readdir", name); err != nil {
		return nil, err
	}
	return fs.ReadDir(f.FS, name)
}

func (f failing) Lstat(name string) (fs.FileInfo, error) {
	if err := f.fail("lstat", name); err != nil {
		return nil, err
	}
	return fs.Stat(f.FS, name)
}

func (f failing) ReadLink(name string) (string, error) { return fs.ReadLink(f.FS, name) }

type failingFile struct {
	fs.File
	fs   failing
	name string
}

func (f failingFile) Stat() (fs.FileInfo, error) {
	if err := f.fs.fail("stat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f failingFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.fs.fail("read", f.name); err != nil {
		return 0, err
	}
	return f.File.(io.ReaderAt).ReadAt(p, at)
}

// TestFaultsOfTheHost breaks the host's folder in each way and place while a tenant asks.
// No answer takes such a fault for a wrong password, for a folder without the table or
// for a table without its sidecar: nothing of this is known.
func TestFaultsOfTheHost(t *testing.T) {
	const query = `"table":"t","and":[],"sort":[],"fields":[]`
	files := mapFS(map[string]string{
		"acme/.password": "secret-horse", "acme/t.csv": "a;b\n1;1\n", "acme/t.table.json": `{"primaryKey":["a"],` +
			`"foreignKeys":[{"field":"a","targetTable":"u","targetField":"k"}]}`, "acme/u.csv": "k\n1\n",
	})
	for _, c := range []struct {
		op, name string
		routes   string // that need it: the check, discovery, and a query
		stranger bool   // whose answer depends on it
	}{
		{"readdir", ".", "cdq", true},
		{"open", "acme/.password", "cdq", true},
		{"stat", "acme/.password", "cdq", true},
		{"read", "acme/.password", "cdq", true},
		{"readdir", "acme", "dq", false},
		{"open", "acme/t.csv", "dq", false},
		{"stat", "acme/t.csv", "dq", false},
		{"read", "acme/t.csv", "dq", false},
		{"open", "acme/t.table.json", "dq", false},
		{"stat", "acme/t.table.json", "dq", false},
		{"read", "acme/t.table.json", "dq", false},
		{"read", "acme/u.csv", "d", false},
	} {
		for _, broken := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ENOMEM, io.ErrUnexpectedEOF,
			errors.New("of a kind of its own")} {
			t.Run(fmt.Sprintf("%s %s %v", c.op, c.name, broken), func(t *testing.T) {
				fault := &hostFault{op: c.op, name: c.name}
				var logged testkit.Log
				opts := &Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))}
				src := newSource(fsRoot(failing{files, fault}), opts)
				defer func() { require.NoError(t, src.Close()) }()
				s := connectortest.Start(t, definition, src, &connector.Options{Logger: opts.Logger})
				ask := func(tenant string) (statuses, answers string) {
					for i, path := range []string{wire.PathCheck, wire.PathDiscovery, wire.PathQuery} {
						members := ""
						if path == wire.PathQuery {
							members = query
						}
						status, answer := s.Post(path, body(tenant, "secret-horse", members))
						answers += answer + "\n"
						switch {
						case status == 500, strings.Contains(answer, `"code":"internal"`):
							statuses += "cdq"[i : i+1]
						case tenant == "nobody":
							require.Equal(t, 400, status, answer)
						default:
							require.Equal(t, 200, status, answer)
						}
					}
					return statuses, answers
				}
				fault.err = broken
				statuses, answers := ask("acme")
				assert.Equal(t, c.routes, statuses, answers)
				assert.NotContains(t, answers, refusalText)
				assert.Contains(t, logged.String(), "level=ERROR")
				assert.NotContains(t, logged.String(), "secret-horse")
				statuses, _ = ask("nobody")
				if c.stranger {
					assert.Equal(t, "cdq", statuses, "a stranger learns nothing that a tenant does not")
				}
				fault.err = nil
				statuses, _ = ask("acme")
				assert.Empty(t, statuses, "what passed is forgotten")
				d := discovered(t, s, "acme", "secret-horse")
				require.Len(t, d.Tables, 2)
				assert.Equal(t, []string{"a"}, d.Tables[0].PrimaryKey)
				assert.Len(t, d.Tables[0].ForeignKeys, 1)
				fault.err = broken
				ask("acme")
			})
		}
	}
}

// TestFaultsAreLogged prepares a folder on a disk that fails.
func TestFaultsAreLogged(t *testing.T) {
	var logged testkit.Log
	fault := &hostFault{"open", "acme/t.csv", syscall.EMFILE}
	src := newSource(fsRoot(failing{mapFS(map[string]string{"acme/t.csv": "a\n1\n"}), fault}),
		&Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	defer func() { require.NoError(t, src.Close()) }()
	src.Prepare(t.Context())
	assert.Contains(t, logged.String(), `level=ERROR msg="a tenant's folder cannot be read" tenant=acme cause="too many open files"`)
}

// TestLinksThatLeadNowhere keeps what is wrong with a link apart from what is wrong with
// the host: the table is left out by name, and the others are served.
func TestLinksThatLeadNowhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on Windows")
	}
	dir := t.TempDir()
	put(t, dir, map[string]string{"acme/t.csv": "a\n1\n"})
	for name, target := range map[string]string{"loop.csv": "loop.csv", "out.csv": "../other/t.csv", "gone.csv": "nothing",
		"through.csv": "t.csv/x", "long.csv": strings.Repeat("x", 300)} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, "acme", name)))
	}
	s, _ := host(t, dir)
	d := discovered(t, s, "acme")
	require.Len(t, d.Tables, 1)
	require.Len(t, d.Warnings, 5)
	for _, w := range d.Warnings {
		assert.Contains(t, w, ".csv: a link that leads nowhere, or out of the folder; the file is left out")
	}
}
