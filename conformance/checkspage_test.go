package conformance_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
)

// checksPage is the page of all checks, which reports link to.
const checksPage = "../docs/checks.md"

// TestChecksPage keeps docs/checks.md equal to the checks, and gives each the anchor that
// its URL names.
func TestChecksPage(t *testing.T) {
	want := writeChecks(t)
	if *update {
		require.NoError(t, os.WriteFile(checksPage, []byte(want), 0o644))
	}
	page, err := os.ReadFile(checksPage)
	require.NoError(t, err)
	require.Equal(t, want, string(page), "the checks have changed: run this test with -update and review the page")

	anchors := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if heading, found := strings.CutPrefix(strings.TrimSpace(line), "### "); found {
			// GitHub makes an anchor of a heading by small letters, without punctuation.
			anchor := strings.Map(func(r rune) rune {
				if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) {
					return r
				}
				return -1
			}, strings.ToLower(heading))
			require.False(t, anchors[anchor], "two headings have the anchor %s", anchor)
			anchors[anchor] = true
		}
	}
	for _, c := range conformance.Checks() {
		address, anchor, _ := strings.Cut(c.Link(), "#")
		require.True(t, anchors[anchor], "%s leads nowhere", c.Link())
		require.True(t, strings.HasSuffix(address, "/docs/checks.md"), address)
	}
	require.Len(t, anchors, len(conformance.Checks()))
}

// writeChecks returns the page.
func writeChecks(t *testing.T) string {
	t.Helper()
	page := template.Must(template.New("checks.md.tmpl").Funcs(template.FuncMap{
		"phase": conformance.PhaseName, "markdown": markdown,
		"join": func(list any) string { return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ") },
		"once": func(id string) []string { return conformance.Retired[id] },
		"link": func(id string) string { return fmt.Sprintf("[%s](protocol.md#%s)", id, id) },
		"cell": func(text string) string { return strings.ReplaceAll(markdown(text), "|", `\|`) },
		"rule": func(id string) string {
			rule, ok := rules.Lookup(id)
			require.True(t, ok, id)
			return rule.Text
		},
	}).ParseFiles("testdata/checks.md.tmpl"))
	byPhase := map[int][]conformance.Check{}
	for _, c := range conformance.Checks() {
		byPhase[c.Phase] = append(byPhase[c.Phase], c)
	}
	var b strings.Builder
	require.NoError(t, page.Execute(&b, byPhase))
	return b.String()
}

// markdown returns a sentence in which nothing but code between backticks is markup.
func markdown(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;").Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
