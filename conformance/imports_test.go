package conformance_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImports keeps the layers of the program: a package imports only what is below
// it, and the themes of checks import neither each other nor conformance.
func TestImports(t *testing.T) {
	const module = "github.com/connectorsdk/connector-sdk-go/"
	const internal = "conformance/internal/"
	below := []string{"internal/jsontext", "internal/routes", "internal/scan", "internal/secret", "internal/terms", "wire", "wire/schema",
		"conformance/corpus", "internal/oracle", "internal/shrink", "internal/exam"}
	allowed := map[string][]string{}
	for _, name := range []string{
		"check", "defaults", "phrase", "payload", "message", "declared", "compare", "redact", "coverage", "session", "refusal", "ask",
	} {
		allowed[internal+name] = below
		below = append(slices.Clone(below), internal+name)
	}
	all := []string{"internal/netguard", "internal/memlisten", "internal/rules"}
	for _, theme := range []string{"document", "authentication", "fixture", "protocol", "live", "tenants", "clocks", "advice"} {
		allowed[internal+"checks/"+theme] = below
		all = append(all, internal+"checks/"+theme)
	}
	allowed[internal+"release"] = nil
	all = append(all, internal+"release")
	allowed[internal+"checks/advice"] = append(slices.Clone(below), "internal/netguard") // what the platform refuses is said once
	allowed["conformance"] = append(all, below...)

	list, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, ".", "./internal/...").Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")
	require.Len(t, lines, len(allowed), "a package has no entry here, or an entry no package")
	for _, line := range lines {
		imports := strings.Fields(line)
		name := strings.TrimPrefix(imports[0], module)
		for _, path := range imports[1:] {
			if own, ok := strings.CutPrefix(path, module); ok {
				require.Contains(t, allowed[name], own, "%s must not import %s", name, own)
			}
		}
	}
}
