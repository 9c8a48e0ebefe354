package house

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestPromise compares the listing of the API with that of the last release: what was
// removed or changed since then stands in the changelog, by name.
func TestPromise(t *testing.T) {
	promised, err := os.ReadFile("../../docs/api-released.txt")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("nothing is promised before the first release, which writes docs/api-released.txt")
	}
	require.NoError(t, err)
	version, listing, found := strings.Cut(string(promised), "\n")
	require.True(t, found, "the first line of docs/api-released.txt is the version")
	now := testkit.Must(os.ReadFile("../../docs/api.txt"))(t)
	changelog := testkit.Must(os.ReadFile("../../CHANGELOG.md"))(t)
	for _, name := range broken(t, listing, string(now), sinceRelease(t, string(changelog), version)) {
		t.Errorf("%s is not what %s promised; restore it, or name `%s` in CHANGELOG.md above %s, with before and after",
			name, version, name, version)
	}
}

// TestPromiseBroken gives two listings and what the changelog says since the release.
func TestPromiseBroken(t *testing.T) {
	const released = `# package shop

const (
    First Kind = iota
    Second
)
var ErrGone = errors.New("gone")
func Open(name string) (*Shop, error)
type Kind int
type Shop struct {
    Name string ` + "`json:\"name\"`" + `
    Rows, Limit int
    // contains filtered or unexported fields
}
func (s *Shop) Close() error
type Source interface {
    Query(text string) error
}

# package shop/cart

func Open()

`
	broke := func(t *testing.T, old, new, changelog, want string) {
		require.Contains(t, released, old)
		assert.Equal(t, want, strings.Join(broken(t, released, strings.Replace(released, old, new, 1), changelog), " "))
	}
	for _, c := range testkit.Table(t, "testdata/promise.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			var words [3]string
			for i := range words {
				words[i] = testkit.Must(strconv.Unquote(c[i]))(t)
			}
			broke(t, words[0], words[1], words[2], strings.TrimPrefix(c[3], "-"))
		})
	}
	gone := released[strings.Index(released, "type Shop struct"):strings.Index(released, "type Source")]
	broke(t, gone, "", "", "shop.Shop") // instead of its members
}

// TestPromiseOfTheListing reads the listing that there is: each declaration of it would
// be missed.
func TestPromiseOfTheListing(t *testing.T) {
	listing := testkit.Must(os.ReadFile("../../docs/api.txt"))(t)
	all := declarations(t, string(listing))
	require.Greater(t, len(all), 800)
	assert.Contains(t, all, "connector Source")
	assert.Contains(t, all, "connector Options.WriteStall")
	members := 0
	for name := range all {
		if strings.Contains(name, ".") {
			members++
		}
	}
	assert.Empty(t, broken(t, string(listing), string(listing), ""))
	assert.Len(t, broken(t, string(listing), "", ""), len(all)-members)
}

// TestSinceRelease finds the part of a changelog that no release has.
func TestSinceRelease(t *testing.T) {
	const changelog = "# Changelog\n\n## Unreleased\n\n- new\n\n## v0.1.0 - 2026-11-23\n\n- old\n"
	assert.Equal(t, "# Changelog\n\n## Unreleased\n\n- new\n", sinceRelease(t, changelog, "v0.1.0"))
}

// sinceRelease returns what the changelog says above the section of a version.
func sinceRelease(t *testing.T, changelog, version string) string {
	t.Helper()
	above, _, found := strings.Cut(changelog, "\n## "+version+" - ")
	require.True(t, found, "CHANGELOG.md has no section %s", version)
	return above
}

// broken returns what a listing has removed or changed of an earlier one, as far as the
// changelog does not name it.
func broken(t *testing.T, before, after, changelog string) []string {
	t.Helper()
	old, now := declarations(t, before), declarations(t, after)
	var names []string
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if now[key] == old[key] {
			continue
		}
		pkg, name, _ := strings.Cut(key, " ")
		owner, _, member := strings.Cut(name, ".")
		if _, stands := now[pkg+" "+owner]; member && !stands {
			continue // with its type
		}
		name = path.Base(pkg) + "." + name
		if !regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(name) + `($|\W)`).MatchString(changelog) {
			names = append(names, name)
		}
	}
	return names
}

// declarations returns the text of each declaration of a listing, under the package's
// path and the name. The fields of a struct are declarations of their own, as their
// number may grow; the methods of an interface are not.
func declarations(t *testing.T, listing string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for part := range strings.SplitSeq("\n"+listing, "\n# package ") {
		pkg, text, _ := strings.Cut(part, "\n")
		if strings.TrimSpace(text) == "" {
			continue
		}
		file := testkit.Must(parser.ParseFile(token.NewFileSet(), pkg, "package p\n"+text, parser.SkipObjectResolution))(t)
		for _, decl := range file.Decls {
			for name, text := range declared(t, decl) {
				require.NotContains(t, found, pkg+" "+name)
				found[pkg+" "+name] = text
			}
		}
	}
	return found
}

// declared returns what one declaration declares, by name.
func declared(t *testing.T, decl ast.Decl) map[string]string {
	t.Helper()
	found := map[string]string{}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
		}
		found[name] = printed(t, d)
	case *ast.GenDecl:
		var last *ast.ValueSpec // a constant without a value repeats the last one
		for i, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				if last == nil || len(s.Values) > 0 {
					last = s
				}
				for j, name := range s.Names {
					text := fmt.Sprint(d.Tok, j, " ", printed(t, &ast.ValueSpec{
						Names: []*ast.Ident{ast.NewIdent("_")}, Type: last.Type, Values: last.Values,
					}))
					if strings.Contains(text, "iota") {
						text += fmt.Sprint(" ", i)
					}
					found[name.Name] = text
				}
			case *ast.TypeSpec:
				maps.Copy(found, typed(t, s))
			}
		}
	}
	return found
}

// typed returns what the declaration of a type declares.
func typed(t *testing.T, spec *ast.TypeSpec) map[string]string {
	t.Helper()
	fields, isStruct := spec.Type.(*ast.StructType)
	if !isStruct {
		return map[string]string{spec.Name.Name: printed(t, spec)}
	}
	head := *spec
	head.Type = &ast.StructType{Fields: &ast.FieldList{}}
	found := map[string]string{spec.Name.Name: printed(t, &head)}
	for _, field := range fields.Fields.List {
		text := printed(t, field.Type)
		if field.Tag != nil {
			text += " " + field.Tag.Value
		}
		for _, name := range field.Names {
			found[spec.Name.Name+"."+name.Name] = text
		}
		if len(field.Names) == 0 { // embedded
			found[spec.Name.Name+"."+receiver(field.Type)] = "embedded " + text
		}
	}
	return found
}

// receiver returns the name of a type without its package, pointer and parameters.
func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", expr)
}

// printed returns a node in one spelling, whatever stood around it. Names of a
// function's parameters and results are part of it.
func printed(t *testing.T, node any) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, (&printer.Config{Mode: printer.RawFormat}).Fprint(&text, token.NewFileSet(), node))
	return text.String()
}
