package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
