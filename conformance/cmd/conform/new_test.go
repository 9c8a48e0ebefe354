package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/conform/internal/project"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// root is the folder of the library, whose tree the new connectors are made of.
const root = "../../.."

// TestNewRefuses requires that what is missing is named, and that nothing is written.
func TestNewRefuses(t *testing.T) {
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "mine.txt"), nil, 0o600))
	under := func(name string) string { return filepath.Join(t.TempDir(), name) }
	for _, c := range []struct {
		why  string
		args []string
		says string
	}{
		{"no folder", []string{"-kind", "rest", "-replace", root}, "expected the name of one folder, got 0"},
		{"two folders", []string{"a", "b", "-kind", "rest", "-replace", root}, "expected the name of one folder, got 2"},
		{"no kind", []string{under("x"), "-replace", root}, "-kind memory|rest|graphql|sql|files|lake"},
		{"an unknown kind", []string{under("x"), "-kind", "soap", "-replace", root}, `no kind "soap"; the kinds are memory, rest`},
		{"a program of a clone, which no go.mod can require", []string{under("x"), "-kind", "rest"}, "give -replace and the folder"},
		{"a clone that is none", []string{under("x"), "-kind", "rest", "-replace", full}, "-replace: "},
		{"a clone of another module", []string{under("x"), "-kind", "rest", "-replace", root + "/examples/sql"}, "is no clone of"},
		{"a folder with files", []string{full, "-kind", "rest", "-replace", root}, "new: "},
		{"a name that no image can have", []string{under("My Shop"), "-kind", "rest", "-replace", root}, "small letters"},
		{"a module that is none", []string{under("x"), "-kind", "rest", "-replace", root, "-module", "a b"}, "-module: "},
		{"no address", []string{under("x"), "-kind", "rest", "-replace", root, "-base", "api.example.org"}, "-base: expected an address"},
		{"an address with a user", []string{under("x"), "-kind", "rest", "-replace", root, "-base", "https://me:secret@api.example.org"},
			"-base: expected an address without a user, such as https://api.example.com/v2\n"},
		{"an address of no API", []string{under("x"), "-kind", "sql", "-replace", root, "-base", "https://api.example.org"}, "-base: "},
		{"an unknown flag", []string{under("x"), "-sort", "rest"}, "conform new -h tells the flags"},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := conform(t, nil, append([]string{"new"}, c.args...)...)
			require.Equal(t, check.ExitNotRun, r.code)
			require.Contains(t, r.err, c.says)
			if c.args[0] != full {
				require.NoDirExists(t, c.args[0])
			}
		})
	}
	entries := testkit.Must(os.ReadDir(full))(t)
	require.Len(t, entries, 1)
	require.Contains(t, conform(t, nil, "new", "-h").out, "-kind")
}

// TestAsk: what a person answers on a terminal is what the flags say.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		typed string
		args  string // or the error
	}{
		{"rest\nhttps://api.example.org/v1\norders\n", "-kind rest -base https://api.example.org/v1 orders"},
		{" graphql \n\norders", "-kind graphql orders"},
		{"sql\norders\n", "-kind sql orders"},
		{"sql\n", "-kind sql "}, // which is no name of a folder
		{"soap\n", `-kind: there is no kind "soap"`},
		{"", "say what the data comes from"},
	} {
		var asked strings.Builder
		args, err := ask(strings.NewReader(c.typed), &asked)
		if err != nil {
			require.ErrorContains(t, err, c.args)
			continue
		}
		require.Equal(t, c.args, strings.Join(args, " "))
		require.Equal(t, strings.Contains(c.args, "rest") || strings.Contains(c.args, "graphql"), strings.Contains(asked.String(), "address"))
	}
}

// TestNewBase: main.go of every kind with an API has the address that is given.
func TestNewBase(t *testing.T) {
	library := testkit.Must(project.LibraryOf("", root))(t)
	for i := range project.Kinds {
		kind := &project.Kinds[i]
		if kind.Base == "" {
			continue
		}
		p := project.Project{Dir: filepath.Join(t.TempDir(), "orders"), Kind: kind, Library: library, Base: "https://api.example.org/v1"}
		require.NoError(t, p.Make())
		text := testkit.Must(os.ReadFile(filepath.Join(p.Dir, "main.go")))(t)
		require.Contains(t, string(text), `"https://api.example.org/v1"`)
		require.NotContains(t, string(text), kind.Base)
	}
}
