package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// operating returns a code block of operating.md by its language.
func operating(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("operating.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(string(text))
	require.NotNil(t, block, "no block of %s", language)
	return block[1]
}

// TestOperatingPod requires that the pod's description is YAML, and that it names
// what the program has.
func TestOperatingPod(t *testing.T) {
	pod := operating(t, "yaml")
	require.YAMLEq(t, pod, pod)
	require.Equal(t, 2, strings.Count(pod, "{path: /healthz, port: 8080}"), "both probes ask the port that is served")
	require.Contains(t, pod, "PLATFORM_CONNECTOR_TOKEN")
}

// TestOperatingUnit has systemd check the unit.
func TestOperatingUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed; on Debian it is in the package systemd")
	}
	unit := operating(t, "ini")
	require.Contains(t, unit, "ExecStart=/usr/local/bin/connector\n")
	file := filepath.Join(t.TempDir(), "connector.service")
	unit = strings.Replace(unit, "/usr/local/bin/connector", "/bin/true", 1) // it has to exist
	require.NoError(t, os.WriteFile(file, []byte(unit), 0o600))
	output, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", file).CombinedOutput()
	require.NoError(t, err, string(output))
	require.NotContains(t, string(output), "connector.service", "systemd warns")
}
