package conformance

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/release"
)

// url returns the address where a person reads on about a check: its place in
// docs/checks.md, at the version of the running program.
func (c *Check) url() string {
	return release.Page(release.Current(), "docs/checks.md") + "#" + headingAnchor(c.ID)
}

// ruleURL returns the address of a rule in the rulebook.
func ruleURL(id string) string {
	return release.Page(release.Current(), "docs/protocol.md") + "#" + headingAnchor(id)
}

// headingAnchor returns the anchor that a heading gets where the repository is rendered:
// in small letters and without its dots.
func headingAnchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), ".", "")
}
