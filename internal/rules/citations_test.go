package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
)

var (
	// citation is a rule cited in a comment, a document or a test case. It
	// also finds citations of a wrong form. (The text of the expression is in
	// two parts, so that it does not find itself.)
	citation = regexp.MustCompile(`\[` + `rules?[ :]+([^\]\n]*)\]`)
	// checkID is what looks like the id of a check of the conformance program.
	checkID = regexp.MustCompile(`\b(?:P[0-4]\.[0-9]+[a-z]?|[LMT][0-9]+|A\.[0-9]+)\b`)
)

// A file is a text of the repository with its path from the root.
type file struct{ path, text string }

// files returns the texts of the repository that have one of the extensions,
// those of nested modules included.
func files(t *testing.T, extensions ...string) (list []file) {
	t.Helper()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(extensions, filepath.Ext(path)):
			return nil
		}
		data, err := fs.ReadFile(root, path)
		list = append(list, file{path, string(data)})
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

// line returns the number of the line at an offset of a text.
func line(text string, offset int) int {
	return 1 + strings.Count(text[:offset], "\n")
}

// TestCitations requires that each rule that is cited exists.
func TestCitations(t *testing.T) {
	cited := 0
	for _, f := range files(t, ".go", ".md", ".json", ".txtar", ".txt", ".yml") {
		for _, at := range citation.FindAllStringSubmatchIndex(f.text, -1) {
			id := f.text[at[2]:at[3]]
			_, ok := rules.Lookup(id)
			assert.True(t, ok, "%s:%d: docs/protocol.md has no rule %q", f.path, line(f.text, at[0]), id)
			cited++
		}
	}
	require.NotZero(t, cited)
}

// TestCheckIDs requires that each check that a document names exists. The page of checks names retired ids too.
func TestCheckIDs(t *testing.T) {
	checks, err := (&conformance.Options{Mode: conformance.ModeBoth}).Checks()
	require.NoError(t, err)
	named := 0
	for _, page := range files(t, ".md") {
		for _, at := range checkID.FindAllStringIndex(page.text, -1) {
			id := page.text[at[0]:at[1]]
			known := slices.ContainsFunc(checks, func(c conformance.Check) bool { return strings.EqualFold(c.ID, id) })
			if page.path == "docs/checks.md" && !known {
				retired, err := (&conformance.Options{Mode: conformance.ModeBoth, Match: "^" + id + "$"}).Checks()
				known = err == nil && len(retired) == 1
			}
			assert.True(t, known, "%s:%d: the conformance program has no check %q", page.path, line(page.text, at[0]), id)
			named++
		}
	}
	require.NotZero(t, named)
}

// TestRulesCiteRules requires that rules which the rulebook mentions exist.
func TestRulesCiteRules(t *testing.T) {
	mention := regexp.MustCompile("`([a-z]+-[0-9]+[a-z]?)`")
	for _, r := range rules.All() {
		for _, m := range mention.FindAllStringSubmatch(r.Text+r.Example, -1) {
			_, ok := rules.Lookup(m[1])
			require.True(t, ok, "%s mentions %s", r.ID, m[1])
		}
	}
}

var (
	// bareCode is what a rule was called before the rulebook had ids: a letter
	// and a number, or a section of the specification.
	bareCode = regexp.MustCompile(`\b[A-I][0-9]{1,2}a?\b|\bprotocol, (?:/[a-zA-Z]+|[A-Z][a-z]+)`)
	// codeSpan is text in Markdown that is quoted literally.
	codeSpan = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// notCodes holds the words that look like a bare code and are none, by file,
// with what they are, for example {"connector/serve.go": {"H2": "HTTP/2"}}.
var notCodes = map[string]map[string]string{}

// TestBareCodes requires that comments and documents say rules in words, or
// cite them by id: a code such as the letter A with the number 6 can be looked
// up nowhere. Messages in string literals are held to the same.
func TestBareCodes(t *testing.T) {
	found := map[string]map[string]bool{}
	report := func(path string, line int, text string) {
		for _, code := range bareCode.FindAllString(text, -1) {
			if notCodes[path][code] == "" {
				t.Errorf("%s:%d: %s resolves to nothing; say the rule in words, or cite its id", path, line, code)
				continue
			}
			if found[path] == nil {
				found[path] = map[string]bool{}
			}
			found[path][code] = true
		}
	}
	for _, f := range files(t, ".md") {
		text := codeSpan.ReplaceAllStringFunc(f.text, func(span string) string {
			return strings.Repeat("\n", strings.Count(span, "\n"))
		})
		for n, line := range strings.Split(text, "\n") {
			report(f.path, n+1, line)
		}
	}
	for _, f := range files(t, ".go") {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, group := range parsed.Comments {
			for _, c := range group.List {
				report(f.path, set.Position(c.Pos()).Line, c.Text)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				report(f.path, set.Position(lit.Pos()).Line, lit.Value)
			}
			return true
		})
	}
	for path, words := range notCodes {
		for word := range words {
			require.True(t, found[path][word], "%s: the exception %s is not needed", path, word)
		}
	}
}
