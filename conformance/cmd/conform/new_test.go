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
	for _, c := range testkit.Table(t, "testdata/new.tsv", 3) {
		t.Run(c[0], func(t *testing.T) {
			words := strings.NewReplacer("ROOT", root, "FULL", full, "NEW", t.TempDir(), "~", " ")
			args := strings.Fields("new " + c[1])
			for i, arg := range args {
				args[i] = words.Replace(arg)
			}
			r := conform(t, nil, args...)
			require.Equal(t, check.ExitNotRun, r.code)
			require.Contains(t, r.err, strings.ReplaceAll(c[2], "↵", "\n"))
			if args[1] != full {
				require.NoDirExists(t, args[1])
			}
		})
	}
	require.Len(t, testkit.Must(os.ReadDir(full))(t), 1)
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
