package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// read returns the text of a file, whose path is relative to this folder.
func read(t *testing.T, name string) string {
	t.Helper()
	return string(testkit.Must(os.ReadFile(filepath.FromSlash(name)))(t))
}

// TestFilesExist requires that each Go file which a document names exists.
func TestFilesExist(t *testing.T) {
	goFile := regexp.MustCompile(`[a-z0-9]+(?:/[a-z0-9_]+)*/[a-z0-9_]+\.go\b`)
	for _, name := range []string{"architecture.md", "authoring.md", "engines.md", "operating.md", "protocol.md"} {
		for _, path := range goFile.FindAllString(read(t, name), -1) {
			_, err := os.Stat(filepath.Join("..", path))
			assert.NoError(t, err, "%s names %s, which does not exist", name, path)
		}
	}
}

// TestEnginesQuotes requires that the code of DuckDB and Firebird that engines.md quotes
// stands in their files as it is quoted.
func TestEnginesQuotes(t *testing.T) {
	paths := testkit.Must(filepath.Glob("../connector/sqlsource/duckdb/*.go"))(t)
	paths = append(paths, "../connector/sqlsource/enginetest/firebird/testdata/types.jsonl")
	var all strings.Builder
	for _, path := range paths {
		all.WriteString(read(t, path))
	}
	quotes := regexp.MustCompile("(?s)```(?:go|json)\n(.*?)```").FindAllStringSubmatch(read(t, "engines.md"), -1)
	require.Len(t, quotes, 4)
	for _, quote := range quotes[1:] { // the first is a call of the reader's
		require.Contains(t, all.String(), quote[1])
	}
}

// TestEnginesNames requires that the fields that engines.md names are those of the
// contract.
func TestEnginesNames(t *testing.T) {
	var contract strings.Builder
	for _, path := range []string{"api.txt", "../connector/sqlsource/sqlengine/column.go", "../connector/sqlsource/sqlengine/flavor.go"} {
		contract.WriteString(read(t, path))
	}
	names := regexp.MustCompile("`(?:[A-Z][A-Za-z]+\\.)?([A-Z][a-z]+[A-Za-z]*)`").FindAllStringSubmatch(read(t, "engines.md"), -1)
	require.Greater(t, len(names), 30)
	for _, name := range names {
		require.Regexp(t, `\b`+name[1]+`\b`, contract.String())
	}
}

// operating returns a code block of operating.md by its language.
func operating(t *testing.T, language string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(read(t, "operating.md"))
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

// TestSizes counts the lines of the programs that authoring.md says the size of. A
// library that needs more of its users has to change the table.
func TestSizes(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\|.*\]\((\S+\.go)\) \| (\d+) \|$`).FindAllStringSubmatch(read(t, "authoring.md"), -1)
	require.Len(t, rows, 6)
	for _, row := range rows {
		require.Equal(t, row[2], strconv.Itoa(codeLines(read(t, row[1]))), row[1])
	}
}

// codeLines counts the lines of a program that are neither blank nor comments. A
// doc.go has its program in the comment of the package.
func codeLines(source string) (n int) {
	const indent = "//\t"
	if strings.Contains(source, indent+"package main\n") {
		_, program, _ := strings.Cut(source, indent+"package main\n")
		program, _, _ = strings.Cut(program, indent+"}\n//\n// ") // prose goes on
		n = 2                                                     // the first line and the last
		source = strings.ReplaceAll(strings.ReplaceAll(program, indent, ""), "//\n", "\n")
	}
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}
