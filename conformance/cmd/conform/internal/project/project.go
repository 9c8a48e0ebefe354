// Package project makes the folder of a new connector: a program, its test, an image, a
// workflow, and a page that says what to change.
package project

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/release"
)

// kinds holds a folder for each kind, whose files are written as they are, and the
// templates that all have in common. Its name keeps the programs in it, which need
// modules that the library does not, out of the library's build.
//
//go:embed all:_kinds
var kinds embed.FS

// Project is what to make.
type Project struct {
	Dir     string // the folder, which must be empty or not there; its name is the program's
	Kind    *Kind
	Module  string // the path of the module; default: the name of the folder
	Base    string // the address of the API, of kinds that have one; default: one that is not there
	Library Library
}

// dirName are the names of folders that an image of a container can have too.
var dirName = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*$`)

// modulePath is what a path of a module consists of.
var modulePath = regexp.MustCompile(`^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$`)

// values is what the templates are filled with.
type values struct {
	*Kind
	Name, Module     string
	Require, Replace []string
	Docs, Ref        string
}

// Make writes the project's files. It changes no file that is there.
func (p *Project) Make() error {
	abs, err := filepath.Abs(p.Dir)
	if err != nil {
		return err
	}
	if !dirName.MatchString(filepath.Base(abs)) {
		return fmt.Errorf("the folder %q: its name is the program's and the image's; use small letters, digits and dashes", filepath.Base(abs))
	}
	v := p.values(filepath.Base(abs))
	if !modulePath.MatchString(v.Module) {
		return fmt.Errorf("-module: %q is no path of a module, such as example.com/acme/orders", v.Module)
	}
	if reserved(v.Module) {
		return fmt.Errorf("the module %q is a name of the go command's own; give -module, such as example.com/acme/%s", v.Module, v.Name)
	}
	base, err := url.Parse(p.Base)
	switch {
	case p.Base == "":
	case p.Kind.Base == "":
		return fmt.Errorf("-base: a connector of the kind %s has no address of an API", p.Kind.Name)
	case err != nil || base.Host == "" || base.User != nil || base.Scheme != "https" && base.Scheme != "http":
		return fmt.Errorf("-base: expected an address without a user, such as %s", p.Kind.Base) // not quoted: it may hold a secret
	}
	files, err := p.files(v)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(abs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty; name one that is not there yet", p.Dir)
	}
	for name, text := range files {
		to := filepath.Join(abs, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// reserved reports whether a path of a module means something else to the go command, such
// as a package of the standard library, so that go mod tidy would fail. Without the go
// command it reports false for a package.
func reserved(module string) bool {
	first, _, _ := strings.Cut(module, "/")
	switch {
	case slices.Contains([]string{"all", "go", "tool", "toolchain"}, module):
		return true
	case strings.Contains(first, "."):
		return false
	}
	said, _ := exec.Command("go", "list", "-e", "-find", "-f", "{{.Standard}}", "--", module).Output()
	return bytes.HasPrefix(said, []byte("true"))
}

// values returns what to write into the templates.
func (p *Project) values(name string) values {
	v := values{
		Kind:   p.Kind,
		Name:   name,
		Module: cmp.Or(p.Module, name),
		Docs:   release.Page(p.Library.Version, "docs"),
		Ref:    release.Ref(p.Library.Version),
	}
	for _, required := range p.Kind.Requires {
		v.Require = append(v.Require, versions[required])
	}
	folders := []string{""}
	if p.Kind.Nested != "" {
		folders = append(folders, p.Kind.Nested)
	}
	for _, folder := range folders {
		require, replace := p.Library.requirement(folder)
		v.Require = append(v.Require, require)
		if replace != "" {
			v.Replace = append(v.Replace, replace)
		}
	}
	return v
}

// files returns the content of each file by its name: those of the kind as they are, and
// the templates of all kinds, without their extension.
func (p *Project) files(v values) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, dir := range []string{"_kinds/common", path.Join("_kinds", p.Kind.Name)} {
		err := fs.WalkDir(kinds, dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := kinds.ReadFile(name)
			if err != nil {
				return err
			}
			to, templated := strings.CutSuffix(strings.TrimPrefix(name, dir+"/"), ".tmpl")
			if templated {
				if text, err = fill(name, string(text), v); err != nil {
					return err
				}
			}
			if p.Base != "" {
				text = bytes.ReplaceAll(text, []byte(strconv.Quote(p.Kind.Base)), []byte(strconv.Quote(p.Base)))
			}
			files[to] = text
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// fill returns a template with its values.
func fill(name, text string, v values) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, v)
	return b.Bytes(), err
}
