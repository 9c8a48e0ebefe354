package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository is a small one with a library, a nested module that requires it, one that
// requires both, and one that stays unreleased.
var repository = map[string]string{
	".gitignore":   "/secret.txt\n",
	"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- all of it\n",
	"LICENSE":      "MIT\n",
	"docs/api.txt": "# package a\n\nfunc A()\n",
	"go.mod":       "module github.com/acme/a\n\ngo 1.26.0\n",
	"a.go":         "package a\n\nfunc A() {}\n",
	"b/go.mod": "module github.com/acme/a/b\n\ngo 1.26.0\n\nrequire github.com/acme/a v0.0.0\n\n" +
		"replace github.com/acme/a => ../\n",
	"b/b.go": "package b\n\nimport \"github.com/acme/a\"\n\nfunc B() { a.A() }\n",
	"b/c/go.mod": "module github.com/acme/a/b/c\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/acme/a v0.0.0 // indirect\n" +
		"\tgithub.com/acme/a/b v0.0.0\n)\n\nreplace (\n\tgithub.com/acme/a => ../..\n\tgithub.com/acme/a/b => ../\n)\n",
	"b/c/main.go": "package main\n\nimport \"github.com/acme/a/b\"\n\nfunc main() { b.B() }\n",
	"examples/bench/go.mod": "module github.com/acme/a/examples/bench\n\ngo 1.26.0\n\nrequire github.com/acme/a v0.0.0\n\n" +
		"replace github.com/acme/a => ../..\n",
	"secret.txt": "not listed by git\n",
}

// newRepository writes and commits the repository, with some files changed.
func newRepository(t *testing.T, changed map[string]string) string {
	t.Helper()
	// The repository's own configuration and that of its user stay out.
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+role+"_NAME", "Somebody")
		t.Setenv("GIT_"+role+"_EMAIL", "somebody@example.com")
	}
	root := t.TempDir()
	for _, files := range []map[string]string{repository, changed} {
		for name, text := range files {
			write(t, root, name, text)
		}
	}
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "."}, {"commit", "--quiet", "-m", "first"}} {
		_, err := git(root, args...)
		require.NoError(t, err)
	}
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	name = filepath.Join(root, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

func TestProxyOfTree(t *testing.T) {
	root, proxy := newRepository(t, nil), t.TempDir()
	write(t, root, "new.go", "package a\n") // not committed, and of the tree
	require.NoError(t, os.Remove(filepath.Join(root, "CHANGELOG.md")))
	require.NoError(t, proxyOfTree(root, proxy, "v0.1.0"))

	at := func(name string) string { return filepath.Join(proxy, "github.com", "acme", filepath.FromSlash(name)) }
	assert.NoDirExists(t, at("a/examples"), "what nobody imports is not released")
	library := names(t, at("a/@v/v0.1.0.zip"))
	assert.Contains(t, library, "github.com/acme/a@v0.1.0/new.go")
	assert.NotContains(t, library, "github.com/acme/a@v0.1.0/secret.txt", "git ignores it")
	assert.NotContains(t, library, "github.com/acme/a@v0.1.0/CHANGELOG.md", "deleted")
	assert.NotContains(t, library, "github.com/acme/a@v0.1.0/b/b.go", "it is in a module of its own")
	assert.Contains(t, names(t, at("a/b/@v/v0.1.0.zip")), "github.com/acme/a/b@v0.1.0/LICENSE")

	goMod, err := os.ReadFile(at("a/b/c/@v/v0.1.0.mod"))
	require.NoError(t, err)
	assert.Equal(t, "module github.com/acme/a/b/c\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/acme/a v0.1.0 // indirect\n"+
		"\tgithub.com/acme/a/b v0.1.0\n)\n", string(goMod))
	list, err := os.ReadFile(at("a/b/@v/list"))
	require.NoError(t, err)
	assert.Equal(t, "v0.1.0\n", string(list))
}

func names(t *testing.T, archive string) []string {
	t.Helper()
	r, err := zip.OpenReader(archive)
	require.NoError(t, err)
	defer r.Close()
	var all []string
	for _, f := range r.File {
		all = append(all, f.Name)
	}
	return all
}

// TestTag releases the small repository, and then changes its line with the library's
// go.mod, whose checksum the nested modules name.
func TestTag(t *testing.T) {
	root := newRepository(t, nil)
	require.ErrorContains(t, tag(root, "v0.1.0", true, io.Discard), "no section v0.1.0")
	require.NoError(t, prepare(root, "v0.1.0", time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)))
	require.ErrorContains(t, tag(root, "v0.1.0", true, io.Discard), "the working tree differs")
	for _, args := range [][]string{{"add", "."}, {"commit", "--quiet", "-m", "release"}} {
		_, err := git(root, args...)
		require.NoError(t, err)
	}

	var dry bytes.Buffer
	require.NoError(t, tag(root, "v0.1.0", false, &dry))
	assert.Contains(t, dry.String(), " b/c/v0.1.0\n")
	assert.Equal(t, "", output(t, root, "tag"), "it was dry")

	require.NoError(t, tag(root, "v0.1.0", true, io.Discard))
	assert.Equal(t, "b/c/v0.1.0\nb/v0.1.0\nv0.1.0", output(t, root, "tag"))
	assert.Equal(t, output(t, root, "rev-parse", "main"), output(t, root, "rev-parse", "v0.1.0^{commit}"))
	assert.Equal(t, output(t, root, "rev-parse", "main"), output(t, root, "rev-parse", "b/v0.1.0^{commit}^"))
	assert.Equal(t, "", output(t, root, "status", "--porcelain"), "nothing in the tree has moved")
	assert.NotContains(t, output(t, root, "show", "b/v0.1.0:b/go.mod"), "replace")
	assert.Contains(t, output(t, root, "show", "b/v0.1.0:b/go.sum"), "github.com/acme/a v0.1.0 h1:")
	bench := output(t, root, "show", "b/v0.1.0:examples/bench/go.mod")
	assert.Contains(t, bench, "replace github.com/acme/a => ../..")
	assert.Contains(t, bench, "github.com/acme/a v0.1.0", "the released modules require that version")

	require.ErrorContains(t, tag(root, "v0.1.0", true, io.Discard), "a tag is never moved")
}

func output(t *testing.T, root string, args ...string) string {
	t.Helper()
	out, err := git(root, args...)
	require.NoError(t, err)
	return out
}

// TestVerify gives a tag a commit whose files are not those whose checksums were taken.
func TestVerify(t *testing.T) {
	root, work := newRepository(t, nil), t.TempDir()
	staged, proxy := filepath.Join(work, "tree"), filepath.Join(work, "proxy")
	modules, err := stage(root, staged)
	require.NoError(t, err)
	require.NoError(t, writeProxy(staged, proxy, "v0.1.0", time.Now(), modules))
	head := output(t, root, "rev-parse", "HEAD")
	err = verify(root, work, proxy, "v0.1.0", modules, map[string]string{"v0.1.0": head, "b/v0.1.0": head, "b/c/v0.1.0": head})
	require.ErrorContains(t, err, "the tag b/v0.1.0 gives")
}

func TestRefused(t *testing.T) {
	for _, test := range []struct{ why, file, text, want string }{
		{"a module in another folder than its path says", "b/go.mod", "module github.com/acme/b\n", "its folder makes it github.com/acme/a/b"},
		{"two modules that require each other", "go.mod",
			"module github.com/acme/a\n\nrequire github.com/acme/a/b v0.0.0\n", "require each other"},
		{"a replacement of somebody else's module", "b/go.mod",
			"module github.com/acme/a/b\n\nreplace example.com/x => example.com/y v1.0.0\n", "b/go.mod replaces example.com/x"},
		{"a requirement of what is not released", "b/c/go.mod",
			"module github.com/acme/a/b/c\n\nrequire github.com/acme/a/examples/bench v0.0.0\n", "which is not released"},
		{"a module without a name", "b/go.mod", "go 1.26.0\n", "has no module line"},
		{"a license of its own", "b/LICENSE", "GPL\n", "a license that is not the library's"},
	} {
		t.Run(test.why, func(t *testing.T) {
			root := newRepository(t, map[string]string{test.file: test.text})
			require.ErrorContains(t, proxyOfTree(root, t.TempDir(), "v0.1.0"), test.want)
		})
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"", "one version"},
		{"0.1.0", "one version"},
		{"v0.1", "one version"},
		{"v0.1.0 -tag", "one version"},
		{"v2.0.0", "suffix"},
		{"-proxy proxy v0.1.0", "not an absolute path"},
		{"-proxy /proxy -tag v0.1.0", "at most one"},
		{"-prepare -tag v0.1.0", "at most one"},
	} {
		t.Run(test.args, func(t *testing.T) {
			require.ErrorContains(t, run(strings.Fields(test.args), io.Discard), test.want)
		})
	}
}

func TestDateChangelog(t *testing.T) {
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct{ why, before, want, refused string }{
		{why: "the first release", before: "# C\n\n## Unreleased\n\n- new\n", want: "# C\n\n## Unreleased\n\n## v0.2.0 - 2026-11-23\n\n- new\n"},
		{why: "a later one", before: "# C\n\n## Unreleased\n\n- new\n\n## v0.1.0 - 2026-01-02\n\n- old\n",
			want: "# C\n\n## Unreleased\n\n## v0.2.0 - 2026-11-23\n\n- new\n\n## v0.1.0 - 2026-01-02\n\n- old\n"},
		{why: "done before", before: "# C\n\n## Unreleased\n\n## v0.2.0 - 2026-11-22\n\n- new\n", refused: "already"},
		{why: "nothing changed", before: "# C\n\n## Unreleased\n\n## v0.1.0 - 2026-11-22\n\n- old\n", refused: "is empty"},
		{why: "no section", before: "# C\n", refused: "no section"},
	} {
		t.Run(test.why, func(t *testing.T) {
			got, err := dateChangelog(test.before, "v0.2.0", day)
			if test.refused != "" {
				require.ErrorContains(t, err, test.refused)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}
