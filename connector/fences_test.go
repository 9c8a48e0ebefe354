package connector_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/connectorsdk/connector-sdk-go"

// fences are the borders between packages: of our own packages and of other
// modules, which each may reach, directly or not. Tests are not fenced.
var fences = map[string]struct {
	own     []string
	foreign []string
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
	"internal/planets": {
		own: []string{"wire", "filter", "internal/lines", "internal/relation", "internal/secret", "connector", "connector/memsource"},
	},
	"internal/memlisten":           {},
	"internal/netguard":            {},
	"wire/schema":                  {},
	"filter":                       {own: []string{"wire"}, foreign: []string{"github.com/shopspring/decimal"}},
	"ndjson":                       {own: []string{"wire", "internal/lines"}},
	"connector/internal/batch":     {own: []string{"wire", "ndjson"}},
	"connector/internal/textvalue": {own: []string{"wire", "filter"}},
	"connector/internal/hostlog":   {},
	"connector/internal/finish": {
		own: []string{"wire", "filter", "ndjson", "internal/relation", "connector/internal/batch"},
	},
	"connector": {
		own: []string{"wire", "filter", "ndjson", "internal/relation", "connector/internal/batch", "connector/internal/finish",
			"connector/internal/hostlog"},
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
	"connector/memsource": {
		own:     []string{"wire", "filter", "ndjson", "connector", "connector/rowmap", "internal/relation"},
		foreign: []string{"github.com/shopspring/decimal"},
	},
	"connector/filesource": {own: []string{"wire", "filter", "ndjson", "connector", "connector/memsource"}},
	"connector/restsource": {
		own: []string{"wire", "filter", "ndjson", "connector", "connector/memsource", "connector/restsource/internal/recording",
			"internal/netguard"},
	},
	"connector/restsource/internal/recording": {own: []string{"wire"}},
	"connector/restsource/record":             {own: []string{"wire", "connector/restsource/internal/recording"}},
	"connector/standalone":                    {own: []string{"wire", "filter", "ndjson", "connector"}},
	// Our engines see of sqlsource what those of others see.
	"connector/sqlsource/sqlengine":         {own: []string{"wire", "filter"}},
	"connector/sqlsource/internal/mysql":    {own: []string{"wire", "filter", "connector/sqlsource/sqlengine"}},
	"connector/sqlsource/internal/postgres": {own: []string{"wire", "filter", "connector/sqlsource/sqlengine"}},
	"connector/sqlsource/internal/sqlite":   {own: []string{"wire", "filter", "connector/sqlsource/sqlengine"}},
	"connector/sqlsource/internal/sqltext":  {own: []string{"wire", "filter", "connector/sqlsource/sqlengine"}},
	"connector/sqlsource/internal/session": {own: []string{"wire", "filter", "ndjson", "connector", "connector/memsource",
		"connector/sqlsource/sqlengine", "connector/sqlsource/internal/sqltext"}},
	"connector/sqlsource/internal/request": {own: []string{"wire", "filter", "ndjson", "connector", "connector/memsource",
		"connector/sqlsource/sqlengine", "connector/sqlsource/internal/sqltext", "connector/sqlsource/internal/session"}},
	"connector/sqlsource/internal/discover": {own: []string{"wire", "filter", "ndjson", "connector", "connector/memsource",
		"connector/sqlsource/sqlengine", "connector/sqlsource/internal/sqltext", "connector/sqlsource/internal/session",
		"connector/sqlsource/internal/request"}},
	"connector/sqlsource": {own: []string{"wire", "filter", "ndjson", "connector", "connector/memsource", "connector/sqlsource/sqlengine",
		"connector/sqlsource/internal/sqltext", "connector/sqlsource/internal/session", "connector/sqlsource/internal/request",
		"connector/sqlsource/internal/discover", "connector/sqlsource/internal/mysql", "connector/sqlsource/internal/postgres",
		"connector/sqlsource/internal/sqlite"}},
	"connector/connectortest": {own: []string{"wire", "filter", "ndjson", "connector", "internal/memlisten", "conformance",
		"conformance/platform"}},
	"conformance": {
		own: []string{"docs", "internal/netguard", "internal/memlisten", "internal/rules", "wire", "wire/schema", "internal/oracle",
			"conformance/corpus"},
		foreign: []string{"github.com/santhosh-tekuri/jsonschema/v5"},
	},
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
	"conformance/corpus": {own: []string{"wire"}},
	"connector/sqlsource/sqlsourcetest": {
		own: []string{"wire", "filter", "ndjson", "connector", "connector/sqlsource", "connector/connectortest",
			"connector/sqlsource/sqlengine", "internal/memlisten", "internal/oracle", "conformance", "conformance/platform"},
		foreign: []string{"github.com/stretchr/testify"},
	},
}

// below are the internal packages that a package's users may use too.
var below = map[string][]string{
	"wire":                {"internal/jsontext", "internal/scan", "internal/secret", "internal/terms"},
	"ndjson":              {"internal/lines"},
	"connector":           {"internal/relation", "connector/internal/batch", "connector/internal/finish", "connector/internal/hostlog"},
	"connector/rowmap":    {"connector/internal/textvalue"},
	"connector/memsource": {"connector/rowmap", "connector/internal/textvalue"},
	"connector/sqlsource": {
		"connector/sqlsource/internal/mysql", "connector/sqlsource/internal/postgres", "connector/sqlsource/internal/sqlite",
		"connector/sqlsource/internal/sqltext", "connector/sqlsource/internal/session", "connector/sqlsource/internal/request",
		"connector/sqlsource/internal/discover",
	},
	"conformance": {
		"docs", "internal/netguard", "internal/rules", "wire/schema", "internal/oracle", "conformance/corpus",
	},
	"conformance/platform": {"internal/keyset", "internal/relation", "internal/netguard", "internal/memlisten"},
}

// judge is where the packages of the conformance program begin. They have fences of
// their own, in its TestImports.
const judge = "conformance/internal/"

// direct are the modules the library's go.mod may require directly.
var direct = []string{
	"github.com/go-playground/validator/v10",
	"github.com/santhosh-tekuri/jsonschema/v5",
	"github.com/shopspring/decimal",
	"github.com/stretchr/testify",
}

type listed struct {
	ImportPath string
	Name       string
	Standard   bool
	Deps       []string
	Imports    []string
	Module     *struct{ Path string }
}

func golist(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Standard,Deps,Imports,Module"}, args...)...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
	var list []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// TestFences keeps design section 2: who may import whom. In particular the
// judge shares the alphabet with the judged, not the code.
func TestFences(t *testing.T) {
	all := golist(t, "-deps", "./...")
	home := map[string]string{} // package -> module, "" for the standard library
	for _, p := range all {
		if p.Module != nil {
			home[p.ImportPath] = p.Module.Path
		}
	}
	// What a module of ours drags in with it is its own affair: only direct
	// imports of foreign modules are held against the fence.
	imports := map[string][]string{}
	for _, p := range all {
		imports[p.ImportPath] = p.Imports
	}
	seen := map[string]bool{}
	for _, p := range all {
		short, ours := strings.CutPrefix(p.ImportPath, module+"/")
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
			switch from := home[dep]; {
			case from == "":
			case from == module:
				own := strings.TrimPrefix(dep, module+"/")
				if !slices.Contains(fence.own, own) && !(graded && strings.HasPrefix(own, judge)) {
					t.Errorf("%s reaches %s", short, own)
				}
			case slices.Contains(p.Imports, dep) && !slices.Contains(fence.foreign, from):
				t.Errorf("%s imports %s", short, dep)
			}
		}
	}
	for _, must := range []string{
		"wire", "filter", "ndjson", "connector", "connector/memsource", "connector/restsource", "connector/sqlsource",
		"connector/connectortest", "conformance", "internal/oracle", "conformance/corpus",
	} {
		require.True(t, seen[must], "package %s was not looked at", must)
	}
}

// TestConformanceIsIndependent keeps I2: the judge reaches neither connector
// nor filter. The platform's side, and the page that shows it, have the filters of
// the platform.
func TestConformanceIsIndependent(t *testing.T) {
	for _, p := range golist(t, "./...") {
		short := strings.TrimPrefix(p.ImportPath, module+"/")
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
}

// TestConformLinksNoTesting keeps package testing, and its flags, out of the command.
func TestConformLinksNoTesting(t *testing.T) {
	for _, p := range golist(t, "-deps", "./conformance/cmd/conform") {
		require.NotEqual(t, "testing", p.ImportPath)
	}
}

// TestPlatformWithoutJudge keeps the platform's client small: a program that reads a
// connector links neither the conformance program nor the schemas it judges by.
func TestPlatformWithoutJudge(t *testing.T) {
	packages := golist(t, "-deps", "./conformance/platform")
	require.Equal(t, module+"/conformance/platform", packages[len(packages)-1].ImportPath)
	for _, p := range packages[:len(packages)-1] {
		for _, judging := range []string{module + "/conformance", module + "/wire/schema", "github.com/santhosh-tekuri/jsonschema"} {
			if p.ImportPath == judging || strings.HasPrefix(p.ImportPath, judging+"/") {
				t.Errorf("conformance/platform reaches %s", p.ImportPath)
			}
		}
	}
}

// TestRelationBelowSources keeps one implementation of sorts, joins, folds and measures:
// internal/relation knows the protocol only, and who needs them imports it.
func TestRelationBelowSources(t *testing.T) {
	const relation = module + "/internal/relation"
	imports := map[string][]string{}
	for _, p := range golist(t, "./internal/relation", "./connector/internal/finish", "./connector/memsource", "./conformance/platform") {
		imports[strings.TrimPrefix(p.ImportPath, module+"/")] = p.Imports
	}
	for _, name := range []string{"connector/internal/finish", "connector/memsource", "conformance/platform"} {
		require.Contains(t, imports[name], relation, name)
	}
	below := []string{"wire", "filter", "internal/terms"}
	for _, name := range imports["internal/relation"] {
		if own, ours := strings.CutPrefix(name, module+"/"); ours && !slices.Contains(below, own) {
			t.Errorf("internal/relation imports %s", own)
		}
	}
}

// TestRequirements keeps the library's own go.mod at the four modules it may
// require directly.
func TestRequirements(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = ".."
	out, err := cmd.Output()
	require.NoError(t, err)
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
	require.Equal(t, direct, got)
}
