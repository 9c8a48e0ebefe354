package filesource

import (
	"io"
	"io/fs"
)

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
