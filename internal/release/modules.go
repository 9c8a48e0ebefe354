package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// unreleased are the modules that nobody imports or runs from outside. They keep their
// replace directives, so they are tested against the tree at a tag too.
var unreleased = map[string]string{
	"conformance/cmd/connect/browsertest": "tests of a page",
	"connector/sqlsource/enginetest":      "tests of engines",
	"examples/bench":                      "measurements against rivals",
	"internal/release":                    "this program",
}

// mod is a module of the repository.
type mod struct {
	dir  string // its folder with slashes, "." of the library
	file *modfile.File
}

func (m *mod) path() string   { return m.file.Module.Mod.Path }
func (m *mod) released() bool { return unreleased[m.dir] == "" }

// tag returns the name of the tag that the go command looks for.
func (m *mod) tag(version string) string { return path.Join(m.dir, version) }

// requires reports whether the module requires another one of the repository directly
// or indirectly.
func (m *mod) requires(other *mod) bool {
	return slices.ContainsFunc(m.file.Require, func(r *modfile.Require) bool { return r.Mod.Path == other.path() })
}

// stage copies the working tree into dir and returns its modules, each behind those
// that it requires.
func stage(root, dir string) ([]*mod, error) {
	if err := copyTree(root, dir); err != nil {
		return nil, err
	}
	var modules []*mod
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "go.mod" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(dir, filepath.Dir(name))
		if err != nil {
			return err
		}
		m := &mod{dir: filepath.ToSlash(folder)}
		if m.file, err = modfile.Parse(path.Join(m.dir, "go.mod"), data, nil); err != nil {
			return err
		}
		if m.file.Module == nil {
			return fmt.Errorf("%s/go.mod has no module line; add it", m.dir)
		}
		modules = append(modules, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	library := slices.IndexFunc(modules, func(m *mod) bool { return m.dir == "." })
	if library < 0 {
		return nil, fmt.Errorf("%s has no go.mod", root)
	}
	for _, m := range modules {
		if want := path.Join(modules[library].path(), m.dir); m.path() != want {
			return nil, fmt.Errorf("%s/go.mod names the module %s; its folder makes it %s", m.dir, m.path(), want)
		}
	}
	return inOrder(modules)
}

// inOrder returns the modules, each behind those that it requires.
func inOrder(modules []*mod) ([]*mod, error) {
	var ordered []*mod
	for len(ordered) < len(modules) {
		before := len(ordered)
		for _, m := range modules {
			waits := slices.ContainsFunc(modules, func(other *mod) bool {
				return m.requires(other) && !slices.Contains(ordered, other)
			})
			if !waits && !slices.Contains(ordered, m) {
				ordered = append(ordered, m)
			}
		}
		if len(ordered) == before {
			return nil, fmt.Errorf("some modules of the repository require each other; their checksums cannot be computed")
		}
	}
	return ordered, nil
}

// rewrite changes the files of one staged module to those of the version: its requirements
// name the version, a released module replaces nothing, and its go.sum has the
// checksums of the modules before it. It writes nothing for the library.
func rewrite(staged, version string, m *mod, before []*mod, sums map[*mod]checksums) error {
	var added []string
	for _, other := range before {
		if !m.requires(other) {
			continue
		}
		if err := m.file.AddRequire(other.path(), version); err != nil {
			return err
		}
		if !m.released() {
			continue
		}
		if !other.released() {
			return fmt.Errorf("%s requires %s, which is not released; release it too, or move what it needs", m.path(), other.path())
		}
		if err := m.file.DropReplace(other.path(), ""); err != nil {
			return err
		}
		added = append(added, sums[other].lines(other.path(), version)...)
	}
	m.file.Cleanup()
	if m.released() && len(m.file.Replace) > 0 {
		return fmt.Errorf("%s/go.mod replaces %s; a released module may not, because nobody else's build sees it",
			m.dir, m.file.Replace[0].Old.Path)
	}
	if m.dir == "." {
		return nil
	}
	formatted, err := m.file.Format()
	if err != nil {
		return err
	}
	folder := filepath.Join(staged, filepath.FromSlash(m.dir))
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), formatted, 0o644); err != nil {
		return err
	}
	if !m.released() {
		return nil
	}
	if err := addLines(filepath.Join(folder, "go.sum"), added); err != nil {
		return err
	}
	return license(staged, folder)
}

// addLines adds lines to a file that is sorted by their first word, each behind those
// with the same word.
func addLines(name string, added []string) error {
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	first := func(line string) string {
		word, _, _ := strings.Cut(line, " ")
		return word
	}
	lines := slices.Collect(strings.Lines(string(data)))
	for _, line := range added {
		at := slices.IndexFunc(lines, func(old string) bool { return first(old) > first(line) })
		if at < 0 {
			at = len(lines)
		}
		lines = slices.Insert(lines, at, line)
	}
	return os.WriteFile(name, []byte(strings.Join(lines, "")), 0o644)
}

// license copies the library's license into a module that has none, as the go command
// does when it makes a module of a repository's folder.
func license(staged, folder string) error {
	text, err := os.ReadFile(filepath.Join(staged, "LICENSE"))
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
	if err == nil {
		if !bytes.Equal(own, text) {
			return fmt.Errorf("%s has a license that is not the library's", folder)
		}
		return nil
	}
	return os.WriteFile(filepath.Join(folder, "LICENSE"), text, 0o644)
}
