package project

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/release"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

const root = "../../../../.."

func TestLibraryOf(t *testing.T) {
	got := testkit.Must(LibraryOf("v0.1.0", ""))(t)
	require.Equal(t, Library{Version: "v0.1.0"}, got)
	_, err := LibraryOf("", "")
	require.ErrorContains(t, err, "give -replace", "there is nothing to require")
	got = testkit.Must(LibraryOf("v0.1.0", root))(t)
	require.True(t, filepath.IsAbs(got.Folder))
	require.Empty(t, got.Version, "a clone goes before the version")
}

// TestVersions requires that projects begin with the versions that the library is tested with.
func TestVersions(t *testing.T) {
	for file, required := range map[string][]string{
		"go.mod":              {"decimal", "testify"},
		"examples/sql/go.mod": {"sqlite"},
	} {
		text := testkit.Must(os.ReadFile(filepath.Join(root, file)))(t)
		for _, name := range required {
			require.Contains(t, string(text), "\t"+versions[name]+"\n", file)
		}
	}
}

// TestReleased makes each kind with a released library and checks what needs no network.
func TestReleased(t *testing.T) {
	for i := range Kinds {
		kind := &Kinds[i]
		t.Run(kind.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "acme-orders")
			p := Project{Dir: dir, Kind: kind, Module: "example.com/acme/orders", Library: Library{Version: "v0.1.0"}}
			require.NoError(t, p.Make())
			require.ErrorContains(t, p.Make(), "not empty", "nothing is written over")
			read := func(name string) string {
				return string(testkit.Must(os.ReadFile(filepath.Join(dir, name)))(t))
			}

			mod := read("go.mod")
			require.True(t, strings.HasPrefix(mod, "module example.com/acme/orders\n"))
			require.Contains(t, mod, "\t"+release.Path+" v0.1.0\n")
			require.NotContains(t, mod, "replace")
			if kind.Nested != "" {
				require.Contains(t, mod, "\t"+release.Path+"/"+kind.Nested+" v0.1.0\n")
			}

			page := read("README.md")
			require.Contains(t, page, "blob/v0.1.0/docs/operating.md")
			for n := 1; n <= 3; n++ {
				require.Contains(t, page, "\n"+strconv.Itoa(n)+". ")
			}
			for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(page, -1) {
				require.FileExists(t, filepath.Join(dir, link[1]))
			}
			require.Contains(t, read(".github/workflows/ci.yml"), "/.github/actions/conform@v0.1.0\n")
			if kind.Credentials != "" {
				require.True(t, json.Valid([]byte(kind.Credentials)))
				require.Contains(t, read(".github/workflows/ci.yml"), "'"+kind.Credentials+"'")
			}
			workflow(t, read(".github/workflows/ci.yml"))
			dockerfile(t, dir, read("Dockerfile"))

			marks := 0
			require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
				require.NotContains(t, name, ".tmpl")
				if err == nil && !entry.IsDir() {
					text := strings.Join(strings.Fields(strings.ReplaceAll(read(strings.TrimPrefix(name, dir)), "//", "")), " ")
					require.NotContains(t, text, "{{.", name)
					marks += strings.Count(text, "FILL IN")
				}
				return err
			}))
			require.GreaterOrEqual(t, marks, 3, "what to change is marked")
		})
	}
}

// workflow requires that the last step of a workflow gives the action inputs that it has.
func workflow(t *testing.T, text string) {
	t.Helper()
	type step struct {
		Uses string
		With map[string]string
	}
	var made struct {
		Jobs map[string]struct{ Steps []step }
	}
	require.NoError(t, yaml.Unmarshal([]byte(text), &made))
	steps := made.Jobs["connector"].Steps
	require.NotEmpty(t, steps)
	last := steps[len(steps)-1]
	folder, _, _ := strings.Cut(strings.TrimPrefix(last.Uses, "connectorsdk/connector-sdk-go/"), "@")
	described := testkit.Must(os.ReadFile(filepath.Join(root, filepath.FromSlash(folder), "action.yml")))(t)
	var action struct{ Inputs map[string]any }
	require.NoError(t, yaml.Unmarshal(described, &action))
	require.NotEmpty(t, last.With)
	for input := range last.With {
		require.Contains(t, action.Inputs, input)
	}
}

// dockerfile checks what can be checked without a container builder: who runs what, on
// which image, and that the files it copies are there.
func dockerfile(t *testing.T, dir, text string) {
	t.Helper()
	var base, user, entry, built string
	for line := range strings.Lines(text) {
		name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "FROM":
			base = args
		case "USER":
			user = args
		case "ENTRYPOINT":
			entry = args
		case "RUN":
			if found := regexp.MustCompile(`-o (\S+)`).FindStringSubmatch(args); found != nil {
				built = found[1]
			}
		case "COPY":
			fields := strings.Fields(args)
			for _, source := range fields[:len(fields)-1] {
				if !strings.HasPrefix(args, "--from=") && source != "go.sum" { // go mod tidy writes that
					testkit.Must(os.Stat(filepath.Join(dir, source)))(t, line)
				}
			}
		}
	}
	require.Regexp(t, `^gcr\.io/distroless/(static|cc)-debian12:nonroot$`, base)
	require.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, user, "by number, and not root")
	require.Equal(t, `["`+built+`"]`, entry, "what was built is what starts")
}

// TestNames lists the folders of the kinds, so that none is forgotten in the table.
func TestNames(t *testing.T) {
	entries := testkit.Must(kinds.ReadDir("_kinds"))(t)
	require.Len(t, entries, len(Kinds)+1, "each kind, and what they have in common")
	for i := range Kinds {
		for _, required := range Kinds[i].Requires {
			require.Contains(t, versions, required)
		}
		require.Same(t, &Kinds[i], testkit.Must(KindOf(Kinds[i].Name))(t))
	}
}
