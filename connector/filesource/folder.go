package filesource

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/memo"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
)

// root is the folder that the source serves. Each of its sub-folders belongs to
// one tenant.
type root struct {
	files fs.FS
	// escape is the error for a link that leads out of a folder; package os does not name it.
	escape error
	// enter opens the sub-folder of that name, which is an entry of files. The
	// opened folder reaches nothing outside itself, whatever links it holds.
	enter func(name string) (*folder, error)
	close func() error
	decoy decoy
}

// openRoot opens a folder of the host's disk.
func openRoot(dir string) (*root, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	_, out := r.Lstat("..")
	escape := pathCause(out)
	enter := func(name string) (*folder, error) {
		// The tenant gets a root of its own: below the outer root a link could
		// lead from one tenant's folder into another's.
		before, err := r.Lstat(name)
		if err != nil {
			return nil, err
		}
		sub, err := r.OpenRoot(name)
		if err != nil {
			return nil, err
		}
		// Lstat sees a link as itself, which is never the folder it leads to.
		if after, err := sub.Stat("."); err != nil || !os.SameFile(before, after) {
			_ = sub.Close()
			return nil, errors.Join(errNotItsOwn, err)
		}
		return &folder{name: name, files: sub.FS(), escape: escape, close: sub.Close}, nil
	}
	return &root{files: r.FS(), escape: escape, enter: enter, close: r.Close}, nil
}

var errNotItsOwn = errors.New("a link, or replaced while it was opened; a tenant's folder must be a folder of its own")

// fsRoot wraps a file system that has no links, such as an embedded one.
func fsRoot(files fs.FS) *root {
	nothing := func() error { return nil }
	enter := func(name string) (*folder, error) {
		sub, err := fs.Sub(files, name)
		if err != nil {
			return nil, err
		}
		return &folder{name: name, files: sub, close: nothing}, nil
	}
	return &root{files: files, enter: enter, close: nothing}
}

// tenants returns the names of the sub-folders, sorted, without hidden ones and
// links.
func (r *root) tenants() ([]string, error) {
	entries, err := fs.ReadDir(r.files, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && utf8.ValidString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// folder is one tenant's folder.
type folder struct {
	name   string
	files  fs.FS
	escape error // as the root's
	close  func() error
}

// listing is the content of a folder.
type listing struct {
	tables   []tableFile // sorted by table
	warnings []string
}

// tableFile is a file that is served as a table.
type tableFile struct {
	table string // the file's name without its extension
	file  string
}

// list finds the tables. Two files that would make one table make none: with a
// choice between them, the table's rows would change when a file comes or goes.
func (f *folder) list() (listing, error) {
	entries, err := fs.ReadDir(f.files, ".")
	if err != nil {
		return listing{}, err
	}
	var l listing
	var sidecars, others, folders []string
	for _, e := range entries {
		name := e.Name()
		if textfile.Hidden(name) {
			continue
		}
		if e.IsDir() {
			folders = append(folders, name)
			continue
		}
		if table, ok := strings.CutSuffix(name, textfile.SidecarExtension); ok {
			sidecars = append(sidecars, table)
			continue
		}
		table, ok := textfile.TableOf(name)
		if !ok {
			others = append(others, name)
			continue
		}
		if !utf8.ValidString(name) {
			l.warnings = append(l.warnings, textfile.Shown(name)+" is left out: its name is not valid UTF-8")
			continue
		}
		l.tables = append(l.tables, tableFile{table, name})
	}
	if len(folders) > 0 {
		l.warnings = append(l.warnings, textfile.Listed(folders)+" not served: what is in a folder of the tenant's is no table")
	}
	l.warnings = append(l.warnings, textfile.NotServed(others, textfile.Extensions()...)...)
	slices.SortStableFunc(l.tables, func(a, b tableFile) int { return strings.Compare(a.table, b.table) })
	l.dropTwins()
	for _, table := range sidecars {
		if !slices.ContainsFunc(l.tables, func(t tableFile) bool { return t.table == table }) {
			l.warnings = append(l.warnings, fmt.Sprintf("%s describes no table: there is no %s or %s to serve beside it",
				textfile.Shown(table+textfile.SidecarExtension), textfile.Shown(table+".csv"), textfile.Shown(table+".ndjson")))
		}
	}
	return l, nil
}

// dropTwins removes tables that several files would make.
func (l *listing) dropTwins() {
	var kept []tableFile
	for twins := l.tables; len(twins) > 0; {
		n := 1
		names := twins[0].file
		for n < len(twins) && twins[n].table == twins[0].table {
			names += " and " + twins[n].file
			n++
		}
		if n == 1 {
			kept = append(kept, twins[0])
		} else {
			l.warnings = append(l.warnings, names+" are left out: they would be one table; rename one of them")
		}
		twins = twins[n:]
	}
	l.tables = kept
}

// table finds the file of a table. It looks the name up among the folder's own
// entries, so the name never becomes part of a path.
func (f *folder) table(name string) (t tableFile, ok bool, err error) {
	l, err := f.list()
	if err != nil {
		return t, false, err
	}
	i := slices.IndexFunc(l.tables, func(t tableFile) bool { return t.table == name })
	if i < 0 {
		return t, false, nil
	}
	return l.tables[i], true, nil
}

// stat returns what the folder knows of a file that it lists. It fails with a
// fault if the host has to mend something; other errors may pass.
func (f *folder) stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(f.files, name)
	if err != nil {
		if link, e := fs.Lstat(f.files, name); leadsNowhere(err, f.escape) && e == nil && link.Mode().Type() == fs.ModeSymlink {
			return nil, &textfile.Fault{File: name, Problem: "a link that leads nowhere, or out of the folder"}
		}
		return nil, forbidden(name, err)
	}
	return info, regular(name, info)
}

// regular refuses all but regular files: opening a pipe would block, and a
// device has no end.
func regular(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &textfile.Fault{File: name, Problem: "not a regular file"}
	}
	return nil
}

// forbidden returns what the host has to mend if the connector may not read a file.
func forbidden(name string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &textfile.Fault{File: name, Problem: "the connector has no permission to read it"}
	}
	return err
}

// file is an open file of a tenant. Several readers may read it at once.
type file struct {
	name string
	info fs.FileInfo
	data io.ReaderAt
	open fs.File
}

// openFile opens a file that the folder lists.
func (f *folder) openFile(name string) (*file, error) {
	if _, err := f.stat(name); err != nil {
		return nil, err
	}
	opened, err := f.files.Open(name)
	if err != nil {
		return nil, forbidden(name, err)
	}
	info, err := opened.Stat()
	if err == nil {
		err = regular(name, info) // it may have been replaced
	}
	data, ok := opened.(io.ReaderAt)
	if err == nil && !ok {
		err = errors.New("the file system cannot read from a position")
	}
	if err != nil {
		_ = opened.Close()
		return nil, err
	}
	return &file{name: name, info: info, data: data, open: opened}, nil
}

func (f *file) close() { _ = f.open.Close() }

// reader reads the file from its start to the length it had when it was
// opened. It fails if the file system ends the file before or after that
// [rule error-10].
func (f *file) reader() io.Reader { return &fileReader{file: f} }

type fileReader struct {
	*file
	at int64
}

func (r *fileReader) Read(p []byte) (int, error) {
	left := r.info.Size() - r.at
	if left == 0 {
		if n, _ := r.data.ReadAt(make([]byte, 1), r.at); n > 0 {
			return 0, fmt.Errorf("%s: %w", r.name, errChanged)
		}
		return 0, io.EOF
	}
	n, err := r.data.ReadAt(p[:min(int64(len(p)), left)], r.at)
	r.at += int64(n)
	switch {
	case errors.Is(err, io.EOF) && int64(n) == left:
		err = nil
	case errors.Is(err, io.EOF) && errors.Is(r.unchanged(), errChanged): // no caller may take it for the end
		err = fmt.Errorf("%s: %w", r.name, errChanged)
	case errors.Is(err, io.EOF):
		err = &fs.PathError{Op: "read", Path: r.name, Err: fmt.Errorf("only %d of %d bytes can be read", r.at, r.info.Size())}
	case n == 0 && err == nil:
		err = io.ErrNoProgress
	}
	return n, err
}

// errChanged means that a file was written to while it was read. It is deliberate, because
// nothing of the host is broken: who asks again may get an answer.
var errChanged = connector.UpstreamTimeout("%s", changedText)

const changedText = "the file changed while it was read; put a new version in place by renaming it over the old one"

// unchanged fails if the file was written to since it was opened. What was read
// of it may then be a mixture of two versions.
func (f *file) unchanged() error { return f.still(f.info) }

// still fails if the file is no longer the given version.
func (f *file) still(version fs.FileInfo) error {
	now, err := f.open.Stat()
	if err != nil {
		return err
	}
	if !memo.SameVersion(version, now) {
		return fmt.Errorf("%s: %w", f.name, errChanged)
	}
	return nil
}

// small reads a file of at most so many bytes.
func (f *folder) small(name string, most int64) ([]byte, error) {
	opened, err := f.openFile(name)
	if err != nil {
		return nil, err
	}
	defer opened.close()
	if opened.info.Size() > most {
		return nil, &textfile.Fault{File: name, Problem: fmt.Sprintf("larger than %d bytes", most)}
	}
	return io.ReadAll(opened.reader())
}
