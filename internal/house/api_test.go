package house

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite docs/api.txt")

// TestAPI compares the exported declarations of every public package with the
// committed listing, so that a change of the API shows in review.
func TestAPI(t *testing.T) {
	const listing = "../../docs/api.txt"
	var got bytes.Buffer
	cmd := exec.Command("go", "list", "-f", "{{if .GoFiles}}{{.Name}}\t{{.Dir}}{{end}}", "./...")
	cmd.Dir = "../.."
	out := testkit.Must(cmd.Output())(t)
	var dirs []string // of the packages that users may import, in the order of their paths
	for line := range strings.Lines(string(out)) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		slashed := filepath.ToSlash(dir)
		if name != "main" && !strings.Contains(slashed, "/internal") && !strings.Contains(slashed, "/examples/") {
			dirs = append(dirs, dir)
		}
	}
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		writeAPI(t, &got, dir)
	}
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(listing), 0o755))
		require.NoError(t, os.WriteFile(listing, got.Bytes(), 0o644))
	}
	want := testkit.Must(os.ReadFile(listing))(t)
	assert.Equal(t, string(want), got.String(),
		"the public API differs from docs/api.txt; if that is meant, run: go test ./internal/house -run TestAPI -update")
}

// writeAPI writes the exported declarations of one package, without comments
// and function bodies.
func writeAPI(t *testing.T, out *bytes.Buffer, dir string) {
	t.Helper()
	fset := token.NewFileSet()
	entries := testkit.Must(os.ReadDir(dir))(t)
	var files []*ast.File
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			file := testkit.Must(parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution))(t)
			files = append(files, file)
		}
	}
	root := testkit.Must(filepath.Abs("../.."))(t)
	path := testkit.Must(filepath.Rel(root, dir))(t)
	pkg := testkit.Must(doc.NewFromFiles(fset, files, filepath.ToSlash(path)))(t)

	write := func(decl ast.Decl) {
		if f, ok := decl.(*ast.FuncDecl); ok {
			f.Body = nil
		}
		var text bytes.Buffer
		require.NoError(t, (&printer.Config{Mode: printer.UseSpaces, Tabwidth: 4}).Fprint(&text, token.NewFileSet(), decl))
		// The printer puts the mark of unexported fields behind the brace.
		const mark = "// contains filtered or unexported fields"
		if shown, hidden := bytes.CutSuffix(bytes.TrimSpace(text.Bytes()), []byte(mark)); hidden {
			out.Write(bytes.TrimRight(bytes.TrimSuffix(shown, []byte("}")), "\n"))
			out.WriteString("\n    " + mark + "\n}\n")
			return
		}
		out.Write(text.Bytes())
		out.WriteString("\n")
	}
	writeAll := func(values []*doc.Value, funcs []*doc.Func) {
		for _, v := range values {
			write(v.Decl)
		}
		for _, f := range funcs {
			write(f.Decl)
		}
	}
	fmt.Fprintf(out, "# package %s\n\n", pkg.ImportPath)
	writeAll(slices.Concat(pkg.Consts, pkg.Vars), pkg.Funcs)
	for _, typ := range pkg.Types {
		write(typ.Decl)
		writeAll(slices.Concat(typ.Consts, typ.Vars), slices.Concat(typ.Funcs, typ.Methods))
	}
	out.WriteString("\n")
}
