package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSizes counts the lines of the programs that authoring.md says the size of. A
// library that needs more of its users has to change the table.
func TestSizes(t *testing.T) {
	text, err := os.ReadFile("authoring.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\|.*\]\((\S+\.go)\) \| (\d+) \|$`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, 6)
	for _, row := range rows {
		source, err := os.ReadFile(filepath.FromSlash(row[1]))
		require.NoError(t, err)
		require.Equal(t, row[2], strconv.Itoa(codeLines(string(source))), row[1])
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
