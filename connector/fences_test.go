package connector_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

const module = "github.com/connectorsdk/connector-sdk-go"

// borders is testdata/fences.json. Packages are the borders between packages: of our own packages and of
// other modules, which each may reach, directly or not. Tests are not fenced. Below are the internal
// packages that a package's users may use too.
type borders struct {
	Packages map[string]struct{ Own, Foreign []string }
	Below    map[string][]string
}

// judge is where the packages of the conformance program begin. They have fences of their own, in its TestImports.
const judge = "conformance/internal/"

// required are the modules the library's go.mod may require directly.
var required = []string{
	"github.com/go-playground/validator/v10",
	"github.com/santhosh-tekuri/jsonschema/v5",
	"github.com/shopspring/decimal",
	"github.com/stretchr/testify",
}

type listed struct {
	ImportPath string
	Name       string
	Deps       []string
	Imports    []string
	Module     *struct{ Path string }
}

// packages returns those of this module and all that they need, by import path.
var packages = sync.OnceValues(func() (map[string]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Deps,Imports,Module", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	list := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list[p.ImportPath] = p
	}
})

// TestFences keeps design section 2: who may import whom. In particular the judge shares the alphabet with the judged,
// not the code, the platform's client links no judge, and what is computed over rows knows the protocol alone.
func TestFences(t *testing.T) {
	all := testkit.Must(packages())(t)
	var fences borders
	require.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile("testdata/fences.json"))(t), &fences))
	seen := map[string]bool{}
	for path, p := range all {
		short, ours := strings.CutPrefix(path, module+"/")
		ofTests := func(path string) bool { return strings.HasPrefix(path, module+"/internal/testkit") }
		if ours && !ofTests(path) && slices.ContainsFunc(p.Deps, ofTests) {
			t.Errorf("%s: internal/testkit is for tests", short)
		}
		if !ours || p.Name == "main" || strings.HasPrefix(short, "examples/") || strings.HasPrefix(short, judge) {
			continue
		}
		fence, known := fences.Packages[short]
		for pkg, under := range fences.Below {
			if slices.Contains(fence.Own, pkg) {
				fence.Own = append(slices.Clone(fence.Own), under...)
			}
		}
		if !known {
			t.Errorf("%s: a package without a fence; say in fences.json what it may reach", short)
			continue
		}
		seen[short] = true
		graded := short == "conformance" || slices.Contains(fence.Own, "conformance")
		for _, dep := range append(slices.Clone(p.Deps), p.Imports...) {
			from := ""
			if m := all[dep].Module; m != nil {
				from = m.Path
			}
			switch from {
			case "": // the standard library
			case module:
				own := strings.TrimPrefix(dep, module+"/")
				allowed := slices.Contains(fence.Own, own) || graded && strings.HasPrefix(own, judge)
				assert.True(t, allowed, "%s reaches %s", short, own)
			default:
				// What a module of ours drags in with it is its own affair: only direct
				// imports of foreign modules are held against the fence.
				allowed := !slices.Contains(p.Imports, dep) || slices.Contains(fence.Foreign, from)
				assert.True(t, allowed, "%s imports %s", short, dep)
			}
		}
	}
	for _, must := range []string{
		"wire", "filter", "ndjson", "connector", "connector/memsource", "connector/restsource", "connector/sqlsource",
		"connector/connectortest", "conformance", "conformance/platform", "internal/oracle", "conformance/corpus", "internal/relation",
	} {
		require.True(t, seen[must], "package %s was not looked at", must)
	}
	// One implementation of sorts, joins, folds and measures.
	for _, short := range []string{"connector/internal/finish", "connector/memsource", "conformance/platform"} {
		require.Contains(t, all[module+"/"+short].Imports, module+"/internal/relation", short)
	}
	// The kit for engines compares with the oracle alone.
	for _, short := range []string{"filter", "connector/memsource"} {
		require.NotContains(t, all[module+"/connector/sqlsource/sqlsourcetest"].Imports, module+"/"+short)
	}
	for _, path := range all[module+"/internal/relation"].Imports {
		if own, ours := strings.CutPrefix(path, module+"/"); ours {
			require.Contains(t, []string{"wire", "filter", "internal/terms"}, own)
		}
	}
}

// TestEnginesAreNamedByThemselves: what serves any engine names none, and no driver. Comments of
// packages that users read may, as may the functions that return the flavors.
func TestEnginesAreNamedByThemselves(t *testing.T) {
	names := regexp.MustCompile(`(?i)postgres|pgx|lib/pq|mysql|maria|sqlite|duckdb`)
	var files []string
	for _, pattern := range []string{"*.go", "sqlengine/*.go", "sqlsourcetest/*.go", "internal/*/*.go"} {
		found := testkit.Must(filepath.Glob(filepath.Join("sqlsource", pattern)))(t)
		require.NotEmpty(t, found, pattern)
		files = append(files, found...)
	}
	for _, file := range files {
		internal := strings.Contains(file, "internal")
		if names.MatchString(filepath.Dir(file)) || strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "engines.go" {
			continue
		}
		text := testkit.Must(os.ReadFile(file))(t)
		for line := range strings.Lines(string(text)) {
			if internal || !strings.HasPrefix(strings.TrimSpace(line), "//") {
				require.NotRegexp(t, names, line, file)
			}
		}
	}
}

// TestConformanceIsIndependent keeps I2: the judge reaches neither connector nor filter. The platform's side, and the
// page that shows it, have the filters of the platform. Package testing, and its flags, stay out of the command.
func TestConformanceIsIndependent(t *testing.T) {
	all := testkit.Must(packages())(t)
	for path, p := range all {
		short := strings.TrimPrefix(path, module+"/")
		if short != "conformance" && !strings.HasPrefix(short, "conformance/") {
			continue
		}
		for _, dep := range p.Deps {
			own := strings.TrimPrefix(dep, module+"/")
			// The programs show rows through the platform's client. What judges is package conformance.
			finishes := strings.HasPrefix(short, "conformance/platform") || strings.HasPrefix(short, "conformance/cmd/")
			forbidden := own == "filter" && !finishes || own == "connector" || strings.HasPrefix(own, "connector/")
			assert.False(t, forbidden, "%s reaches %s", short, own)
		}
	}
	require.NotContains(t, all[module+"/conformance/cmd/conform"].Deps, "testing")
	require.Contains(t, all[module+"/conformance/cmd/conform"].Deps, module+"/conformance")
}

// TestRequirements keeps the library's own go.mod at the four modules it may require directly.
func TestRequirements(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = ".."
	out := testkit.Must(cmd.Output())(t)
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	require.NoError(t, json.Unmarshal(out, &mod))
	var got []string
	for _, r := range mod.Require {
		if !r.Indirect {
			got = append(got, r.Path)
		}
	}
	slices.Sort(got)
	require.Equal(t, required, got)
}
