package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// connectorMayRead are the variables that every program here may read: the token and
// the port [rule tenant-5] [rule http-11a].
var connectorMayRead = []string{"PLATFORM_CONNECTOR_TOKEN", "PORT"}

// TestEnvironment finds what the programs and packages of all modules read of the
// environment: every call of os.Getenv and its like, and of functions that are named
// as they are, with the variable as a constant.
func TestEnvironment(t *testing.T) {
	read := map[string][]string{} // by folder
	constants := map[string]string{}
	files := map[string]*ast.File{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		files[path] = file
		for name, value := range textConstants(file) {
			constants[file.Name.Name+"."+name] = value
		}
		return nil
	}))
	require.Greater(t, len(files), 500)
	for path, file := range files {
		dir := testkit.Must(filepath.Rel("../..", filepath.Dir(path)))(t)
		dir = filepath.ToSlash(dir)
		for _, name := range environment(file, constants) {
			if !slices.Contains(read[dir], name) {
				read[dir] = append(read[dir], name)
			}
		}
	}
	mayReadToo := map[string][]string{}
	for _, c := range testkit.Table(t, "testdata/environment.tsv", 3) {
		mayReadToo[c[0]] = strings.Fields(c[1])
		assert.Subset(t, read[c[0]], mayReadToo[c[0]], "%s reads one of them no more", c[0])
	}
	for dir, names := range read {
		assert.Subset(t, slices.Concat(connectorMayRead, mayReadToo[dir]), names,
			"%s reads the environment: make it a field or a flag, or say in testdata/environment.tsv why not", dir)
	}
	assert.ElementsMatch(t, connectorMayRead, read["connector/standalone"], "the test finds what there is")
}

// textConstants returns the constants of a file that are texts.
func textConstants(file *ast.File) map[string]string {
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
			for i, name := range spec.Names {
				if text, ok := literal(spec.Values[i]); ok {
					found[name.Name] = text
				} else if other, ok := spec.Values[i].(*ast.SelectorExpr); ok { // a constant of another package
					found[name.Name] = alias + qualified(file, other)
				}
			}
		}
		return true
	})
	return found
}

// alias marks the name of another constant in the place of a text.
const alias = "\x00"

// qualified returns a name with its package's, or "".
func qualified(file *ast.File, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return file.Name.Name + "." + e.Name
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			return pkg.Name + "." + e.Sel.Name
		}
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// environment returns the names of the variables that a file reads. What reads others
// than those that the code names is returned as it is written, such as os.Environ.
func environment(file *ast.File, constants map[string]string) (names []string) {
	for _, spec := range file.Imports {
		if path, _ := literal(spec.Path); strings.HasPrefix(path, "go.opentelemetry.io/contrib/exporters/autoexport") {
			names = append(names, "OTEL_*")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ast.Expr(n.Fun)
			if s, ok := name.(*ast.SelectorExpr); ok {
				name = s.Sel
			}
			if f, ok := name.(*ast.Ident); ok && readsVariable(f) && len(n.Args) == 1 {
				names = append(names, variable(file, n.Args[0], constants))
			}
		case *ast.AssignStmt: // a function under another name is not followed
			for i, value := range n.Rhs {
				if f, ok := value.(*ast.SelectorExpr); ok && readsVariable(f.Sel) && len(n.Lhs) == len(n.Rhs) {
					if to, ok := n.Lhs[i].(*ast.Ident); !ok || !readsVariable(to) {
						names = append(names, f.Sel.Name)
					}
				}
			}
		case *ast.SelectorExpr:
			if slices.Contains([]string{"Environ", "ExpandEnv", "ProxyFromEnvironment"}, n.Sel.Name) {
				names = append(names, n.Sel.Name)
			}
		}
		return true
	})
	return names
}

// readsVariable reports whether a function is named as those that read one variable.
func readsVariable(f *ast.Ident) bool {
	return slices.Contains([]string{"getenv", "lookupenv"}, strings.ToLower(f.Name))
}

// variable returns the value of a constant, or a text that no variable is named by.
func variable(file *ast.File, e ast.Expr, constants map[string]string) string {
	if text, ok := literal(e); ok {
		return text
	}
	name := qualified(file, e)
	text, ok := constants[name]
	for strings.HasPrefix(text, alias) {
		text, ok = constants[strings.TrimPrefix(text, alias)]
	}
	if ok {
		return text
	}
	return fmt.Sprintf("(not a constant: %s)", name)
}
