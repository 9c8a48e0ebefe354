package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// root is the folder that is served. Each of its sub-folders belongs to one
// tenant.
type root struct {
	files fs.FS
	// enter opens the sub-folder of that name, which stands in files. What it
	// opens reaches nothing outside itself, whatever links it holds.
	enter func(name string) (*folder, error)
	decoy decoy
}

// openRoot serves a directory of the host.
func openRoot(dir string) (*root, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &root{files: r.FS(), enter: func(name string) (*folder, error) {
		// A root of its own: through the outer one, a link could lead from
		// one tenant's folder into another's.
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
			return nil, errors.Join(errors.New("a link, or replaced while it was opened; a tenant's folder must be a folder of its own"), err)
		}
		return &folder{name: name, files: sub.FS(), close: sub.Close}, nil
	}}, nil
}

// fsRoot serves a file system that has no links, such as an embedded one.
func fsRoot(files fs.FS) *root {
	return &root{files: files, enter: func(name string) (*folder, error) {
		sub, err := fs.Sub(files, name)
		if err != nil {
			return nil, err
		}
		return &folder{name: name, files: sub, close: func() error { return nil }}, nil
	}}
}

// tenants are the names of the sub-folders, sorted. Hidden ones, links and
// files are none.
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
	name  string
	files fs.FS
	close func() error
}

// listing is what a folder holds.
type listing struct {
	tables   []tableFile // sorted by table
	warnings []string
}

// tableFile is a file that is served as a table.
type tableFile struct {
	table string // the file's name without its extension
	file  string
	parse format
}

const sidecarExtension = ".table.json"

// list finds the tables. Two files that would make one table make none: to
// pick one would change the table's rows when the other file comes or goes.
func (f *folder) list() (listing, error) {
	entries, err := fs.ReadDir(f.files, ".")
	if err != nil {
		return listing{}, err
	}
	var l listing
	var sidecars []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		if table, ok := strings.CutSuffix(name, sidecarExtension); ok {
			sidecars = append(sidecars, table)
			continue
		}
		ext := path.Ext(name)
		parse := formats[strings.ToLower(ext)]
		if parse == nil {
			continue
		}
		if !utf8.ValidString(name) {
			l.warnings = append(l.warnings, shown(name)+" is left out: its name is not valid UTF-8")
			continue
		}
		l.tables = append(l.tables, tableFile{strings.TrimSuffix(name, ext), name, parse})
	}
	slices.SortStableFunc(l.tables, func(a, b tableFile) int { return strings.Compare(a.table, b.table) })
	l.dropTwins()
	for _, table := range sidecars {
		if !slices.ContainsFunc(l.tables, func(t tableFile) bool { return t.table == table }) {
			l.warnings = append(l.warnings, fmt.Sprintf("%s describes no table: there is no %s or %s to serve beside it",
				shown(table+sidecarExtension), shown(table+".csv"), shown(table+".ndjson")))
		}
	}
	return l, nil
}

// shown is the name of a file as a text may hold it.
func shown(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return strconv.QuoteToASCII(name)
}

// dropTwins takes out tables that several files claim.
func (l *listing) dropTwins() {
	kept := l.tables[:0:0]
	for i := 0; i < len(l.tables); {
		j := i + 1
		for j < len(l.tables) && l.tables[j].table == l.tables[i].table {
			j++
		}
		if j == i+1 {
			kept = append(kept, l.tables[i])
		} else {
			var names []string
			for _, t := range l.tables[i:j] {
				names = append(names, t.file)
			}
			l.warnings = append(l.warnings, strings.Join(names, " and ")+" are left out: they would be one table; rename one of them")
		}
		i = j
	}
	l.tables = kept
}

// table is the file of a table. The name is looked up among the folder's own
// entries and never becomes part of a path.
func (f *folder) table(name string) (tableFile, bool, error) {
	l, err := f.list()
	if err != nil {
		return tableFile{}, false, err
	}
	i := slices.IndexFunc(l.tables, func(t tableFile) bool { return t.table == name })
	if i < 0 {
		return tableFile{}, false, nil
	}
	return l.tables[i], true, nil
}

// stat is what the folder says of a file that it lists. Only regular files are
// read: opening a pipe would block, and a device has no end. What the host has
// to mend is a fault; other errors may pass.
func (f *folder) stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(f.files, name)
	if err != nil {
		if link, err := fs.Lstat(f.files, name); err == nil && link.Mode().Type() == fs.ModeSymlink {
			return nil, &fault{name, 0, "a link that leads nowhere, or out of the folder"}
		}
		return nil, forbidden(name, err)
	}
	return info, regular(name, info)
}

func regular(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &fault{name, 0, "not a regular file"}
	}
	return nil
}

func forbidden(name string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &fault{name, 0, "the connector has no permission to read it"}
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
// opened.
func (f *file) reader() io.Reader { return io.NewSectionReader(f.data, 0, f.info.Size()) }

// errChanged means that a file was written to while it was read.
var errChanged = errors.New("the file changed while it was read; put a new version in place by renaming it over the old one")

// unchanged fails when the file was written to since it was opened. What was
// read of it then may be a mixture.
func (f *file) unchanged() error {
	now, err := f.open.Stat()
	if err != nil {
		return err
	}
	if !sameVersion(f.info, now) {
		return fmt.Errorf("%s: %w", f.name, errChanged)
	}
	return nil
}

// sameVersion reports whether both are the same file with the same content, as
// far as the file system tells.
func sameVersion(a, b fs.FileInfo) bool {
	if a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
		return false
	}
	// An embedded file has no identity beyond its name.
	return a.Sys() == nil || b.Sys() == nil || os.SameFile(a, b)
}

// small reads a small file of the folder whole.
func (f *folder) small(name string, most int64) ([]byte, error) {
	opened, err := f.openFile(name)
	if err != nil {
		return nil, err
	}
	defer opened.close()
	if opened.info.Size() > most {
		return nil, fmt.Errorf("larger than %d bytes", most)
	}
	return io.ReadAll(opened.reader())
}
