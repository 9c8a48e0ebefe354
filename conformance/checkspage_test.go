package conformance_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

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
	var b strings.Builder
	b.WriteString(`# The checks

Every check of the conformance program: what must hold, the rules of [the rulebook](protocol.md) that say so, and what the author
of a connector that fails it most likely has to do. A report links here. This page is made of the checks themselves, by
` + "`go test ./conformance -run TestChecksPage -update`" + `.

A check of many parts names the *facets* that fail. Each was a check of its own *once*, with an id that is retired: no
other check gets it, and ` + "`-run`, `-explain`" + ` and older reports that name it mean the check that it is part of.

A check marked *advice* changes no verdict. ` + "`conform -explain ID`" + ` prints the same on a terminal.
`)
	phase := -1
	for _, c := range sortedByPhase(conformance.Checks()) {
		if c.Phase != phase {
			phase = c.Phase
			var modes []string
			for _, mode := range c.In() {
				modes = append(modes, string(mode))
			}
			fmt.Fprintf(&b, "\n## %s\n\nIn the modes %s.\n", conformance.PhaseName(c.Phase), strings.Join(modes, ", "))
		}
		fmt.Fprintf(&b, "\n### %s\n\n**%s**", c.ID, markdown(c.Title))
		if c.Advice {
			b.WriteString(" (*advice*)")
		}
		b.WriteString("\n")
		for _, id := range c.Rules {
			rule, ok := rules.Lookup(id)
			require.True(t, ok, id)
			fmt.Fprintf(&b, "\n- [%s](protocol.md#%s): %s", id, id, rule.Text)
		}
		fmt.Fprintf(&b, "\n\n*If it fails:* %s\n", markdown(c.Fix))
		if once := conformance.Retired[c.ID]; len(once) > 0 {
			fmt.Fprintf(&b, "\n*Once also:* %s.\n", strings.Join(once, ", "))
		}
		if len(c.Facets) > 0 {
			b.WriteString("\n| Facet | What holds | Rules | If it fails | Once |\n|---|---|---|---|---|\n")
		}
		for _, f := range c.Facets {
			var links []string
			for _, id := range f.Rules {
				links = append(links, fmt.Sprintf("[%s](protocol.md#%s)", id, id))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", markdown(f.Name), markdown(f.Title), strings.Join(links, " "),
				strings.ReplaceAll(markdown(f.Fix), "|", `\|`), f.Was)
		}
	}
	return b.String()
}

// sortedByPhase returns the checks phase by phase, each in the order in which it runs.
func sortedByPhase(checks []conformance.Check) (sorted []conformance.Check) {
	for phase := range 5 {
		for _, c := range checks {
			if c.Phase == phase {
				sorted = append(sorted, c)
			}
		}
	}
	return sorted
}

// markdown returns a sentence in which nothing but code between backticks is markup.
func markdown(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;").Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
