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

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

const module = "github.com/connectorsdk/connector-sdk-go"

// fences are the borders between packages: of our own packages and of other
// modules, which each may reach, directly or not. Tests are not fenced.
var fences = map[string]struct {
	own, foreign []string
}{
	"internal/jsontext": {},
	"internal/scan":     {own: []string{"wire"}},
	"internal/lines":    {own: []string{"wire"}},
	"internal/secret":   {},
	"internal/terms":    {},
	"wire":              {own: []string{"internal/jsontext", "internal/secret", "internal/terms"}},
	"docs":              {},
	"internal/rules":    {own: []string{"docs"}},
	"internal/house":    {},
	"internal/testrun":  {},
	"internal/testkit": {
		own: []string{"wire", "filter", "internal/lines", "internal/relation", "internal/secret", "internal/memlisten", "connector",
			"connector/memsource"},
	},
	"internal/testkit/verdicts":    {},
	"internal/testkit/semantics":   {own: []string{"wire"}},
	"internal/testkit/reference":   {own: []string{"wire"}},
	"internal/memlisten":           {},
	"internal/netguard":            {},
	"wire/schema":                  {},
	"filter":                       {own: []string{"wire"}, foreign: []string{"github.com/shopspring/decimal"}},
	"ndjson":                       {own: []string{"wire", "internal/lines"}},
	"connector/internal/batch":     {own: []string{"wire", "ndjson"}},
	"connector/internal/textvalue": {own: []string{"wire", "filter"}},
	"connector/internal/memo":      {},
	"connector/internal/textfile":  {own: []string{"wire", "filter", "connector/internal/textvalue"}},
	"connector/internal/hostlog":   {},
	"connector/internal/fit":       {own: []string{"wire"}},
	"connector/internal/finish": {
		own: []string{"wire", "filter", "ndjson", "internal/relation", "connector/internal/batch"},
	},
	"connector": {
		own: []string{"wire", "filter", "ndjson", "internal/relation", "connector/internal/batch", "connector/internal/finish",
			"connector/internal/hostlog", "connector/internal/fit"},
		foreign: []string{"github.com/go-playground/validator/v10"},
	},
	"connector/rowmap": {
		own:     []string{"wire", "filter", "ndjson", "connector", "connector/internal/textvalue"},
		foreign: []string{"github.com/shopspring/decimal"},
	},
	"internal/casetest": {own: []string{"wire", "wire/schema", "ndjson", "filter", "internal/memlisten", "internal/netguard",
		"internal/relation", "internal/oracle", "conformance/corpus", "conformance/platform"}},
	"internal/keyset":   {own: []string{"wire"}},
	"internal/relation": {own: []string{"wire", "filter"}},
	"internal/measures": {own: []string{"wire", "filter", "ndjson", "connector"}},
	"connector/memsource": {
		own:     []string{"wire", "filter", "ndjson", "connector", "connector/rowmap", "internal/measures"},
		foreign: []string{"github.com/shopspring/decimal"},
	},
	"connector/filesource": {
		own: []string{"wire", "filter", "ndjson", "connector", "connector/memsource", "connector/internal/memo", "connector/internal/textfile"},
	},
	"connector/restsource": {
		own: []string{"wire", "filter", "ndjson", "connector", "connector/memsource", "connector/restsource/internal/recording",
			"internal/netguard"},
	},
	"connector/restsource/internal/recording": {own: []string{"wire"}},
	"connector/restsource/record":             {own: []string{"wire", "connector/restsource/internal/recording"}},
	"connector/standalone":                    {own: []string{"wire", "filter", "ndjson", "connector"}},
	"connector/sqlsource/internal/settings":   {},
	// Our engines see of sqlsource what those of others see, and how settings are listed.
	"connector/sqlsource/sqlengine": {own: []string{"wire", "filter"}},
	"connector/sqlsource/internal/mysql": {own: []string{"wire", "filter", "connector/sqlsource/sqlengine",
		"connector/sqlsource/internal/settings"}},
	"connector/sqlsource/internal/postgres": {own: []string{"wire", "filter", "connector/sqlsource/sqlengine",
		"connector/sqlsource/internal/settings"}},
	"connector/sqlsource/internal/sqlite": {own: []string{"wire", "filter", "connector/sqlsource/sqlengine",
		"connector/sqlsource/internal/settings"}},
	"connector/sqlsource/internal/sqltext": {own: []string{"wire", "filter", "connector/sqlsource/sqlengine"}},
	"connector/sqlsource/internal/session": {own: []string{"wire", "filter", "ndjson", "connector", "internal/measures",
		"connector/sqlsource/sqlengine", "connector/sqlsource/internal/sqltext"}},
	"connector/sqlsource/internal/request": {own: []string{"wire", "filter", "ndjson", "connector", "internal/measures",
		"connector/sqlsource/sqlengine", "connector/sqlsource/internal/sqltext", "connector/sqlsource/internal/session"}},
	"connector/sqlsource/internal/discover": {own: []string{"wire", "filter", "ndjson", "connector", "internal/measures",
		"connector/sqlsource/sqlengine", "connector/sqlsource/internal/sqltext", "connector/sqlsource/internal/session",
		"connector/sqlsource/internal/request"}},
	"connector/sqlsource": {own: []string{"wire", "filter", "ndjson", "connector", "internal/measures", "connector/sqlsource/sqlengine",
		"connector/sqlsource/internal/sqltext", "connector/sqlsource/internal/session", "connector/sqlsource/internal/request",
		"connector/sqlsource/internal/discover", "connector/sqlsource/internal/mysql", "connector/sqlsource/internal/postgres",
		"connector/sqlsource/internal/sqlite", "connector/sqlsource/internal/settings"}},
	"connector/connectortest": {own: []string{"wire", "filter", "ndjson", "connector", "internal/memlisten", "conformance",
		"conformance/conformancetest", "conformance/platform"}},
	"conformance": {
		own: []string{"docs", "internal/netguard", "internal/memlisten", "internal/rules", "wire", "wire/schema", "internal/oracle",
			"internal/shrink", "internal/exam", "conformance/corpus"},
		foreign: []string{"github.com/santhosh-tekuri/jsonschema/v5"},
	},
	"conformance/killtest":        {}, // tests alone
	"conformance/conformancetest": {own: []string{"wire", "conformance", "internal/memlisten"}},
	"conformance/platform": {
		own: []string{"wire", "ndjson", "filter", "internal/keyset", "internal/memlisten", "internal/netguard",
			"internal/relation"},
		foreign: []string{"github.com/shopspring/decimal"},
	},
	"internal/entity": {
		own: []string{"wire", "ndjson", "filter", "internal/relation", "conformance/platform"},
	},
	"conformance/cmd/conform/internal/project": {own: []string{"conformance/internal/release"}},
	"conformance/cmd/connect/internal/lifecycle": {
		own: []string{"wire", "ndjson", "filter", "internal/memlisten", "internal/relation", "conformance", "conformance/platform"},
	},
	"internal/oracle":    {own: []string{"wire"}},
	"internal/shrink":    {own: []string{"wire"}},
	"internal/exam":      {own: []string{"wire", "internal/oracle", "internal/shrink"}},
	"conformance/corpus": {own: []string{"wire"}},
	"connector/sqlsource/sqlsourcetest": {
		own: []string{"wire", "filter", "ndjson", "connector", "internal/measures", "connector/sqlsource", "connector/connectortest",
			"connector/sqlsource/sqlengine", "internal/memlisten", "internal/oracle", "internal/shrink", "internal/exam", "conformance",
			"conformance/conformancetest", "conformance/platform"},
		foreign: []string{"github.com/stretchr/testify"},
	},
	// The files that the tests of engines play, which are modules of their own.
	"connector/sqlsource/internal/situation": {
		own: []string{"wire", "filter", "ndjson", "connector", "internal/measures", "connector/sqlsource", "connector/connectortest",
			"connector/sqlsource/sqlengine", "connector/sqlsource/sqlsourcetest", "internal/memlisten", "internal/oracle", "internal/shrink",
			"internal/exam", "conformance", "conformance/conformancetest", "conformance/platform"},
		foreign: []string{"github.com/stretchr/testify"},
	},
}

// below are the internal packages that a package's users may use too.
var below = map[string][]string{
	"wire":   {"internal/jsontext", "internal/scan", "internal/secret", "internal/terms"},
	"ndjson": {"internal/lines"},
	"connector": {"internal/relation", "connector/internal/batch", "connector/internal/finish", "connector/internal/hostlog",
		"connector/internal/fit"},
	"connector/rowmap":    {"connector/internal/textvalue"},
	"connector/memsource": {"connector/rowmap", "connector/internal/textvalue", "internal/measures"},
	"connector/sqlsource": {
		"connector/sqlsource/internal/mysql", "connector/sqlsource/internal/postgres", "connector/sqlsource/internal/sqlite",
		"connector/sqlsource/internal/sqltext", "connector/sqlsource/internal/session", "connector/sqlsource/internal/request",
		"connector/sqlsource/internal/discover", "connector/sqlsource/internal/settings",
	},
	"conformance": {
		"docs", "internal/netguard", "internal/rules", "wire/schema", "internal/oracle", "internal/shrink", "internal/exam", "conformance/corpus",
	},
	"conformance/platform": {"internal/keyset", "internal/relation", "internal/netguard", "internal/memlisten"},
}

// judge is where the packages of the conformance program begin. They have fences of
// their own, in its TestImports.
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

// TestFences keeps design section 2: who may import whom. In particular the
// judge shares the alphabet with the judged, not the code, the platform's client
// links no judge, and what is computed over rows knows the protocol alone.
func TestFences(t *testing.T) {
	all := testkit.Must(packages())(t)
	seen := map[string]bool{}
	for path, p := range all {
		short, ours := strings.CutPrefix(path, module+"/")
		if ours && slices.ContainsFunc(p.Deps, func(dep string) bool { return strings.HasPrefix(dep, module+"/internal/testkit") }) {
			t.Errorf("%s: internal/testkit is for tests", short)
		}
		if !ours || p.Name == "main" || strings.HasPrefix(short, "examples/") || strings.HasPrefix(short, judge) {
			continue
		}
		fence, known := fences[short]
		for pkg, under := range below {
			if slices.Contains(fence.own, pkg) {
				fence.own = append(slices.Clone(fence.own), under...)
			}
		}
		if !known {
			t.Errorf("%s: a package without a fence; say in fences what it may reach", short)
			continue
		}
		seen[short] = true
		graded := short == "conformance" || slices.Contains(fence.own, "conformance")
		for _, dep := range append(slices.Clone(p.Deps), p.Imports...) {
			from := ""
			if m := all[dep].Module; m != nil {
				from = m.Path
			}
			switch from {
			case "": // the standard library
			case module:
				own := strings.TrimPrefix(dep, module+"/")
				if !slices.Contains(fence.own, own) && !(graded && strings.HasPrefix(own, judge)) {
					t.Errorf("%s reaches %s", short, own)
				}
			default:
				// What a module of ours drags in with it is its own affair: only direct
				// imports of foreign modules are held against the fence.
				if slices.Contains(p.Imports, dep) && !slices.Contains(fence.foreign, from) {
					t.Errorf("%s imports %s", short, dep)
				}
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

// TestConformanceIsIndependent keeps I2: the judge reaches neither connector
// nor filter. The platform's side, and the page that shows it, have the filters of
// the platform. Package testing, and its flags, stay out of the command.
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
			if own == "filter" && !finishes || own == "connector" || strings.HasPrefix(own, "connector/") {
				t.Errorf("%s reaches %s", short, own)
			}
		}
	}
	require.NotContains(t, all[module+"/conformance/cmd/conform"].Deps, "testing")
	require.Contains(t, all[module+"/conformance/cmd/conform"].Deps, module+"/conformance")
}

// TestRequirements keeps the library's own go.mod at the four modules it may
// require directly.
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
