package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEnginesQuotes requires that the code of DuckDB that engines.md quotes stands in
// its files as it is quoted.
func TestEnginesQuotes(t *testing.T) {
	text, err := os.ReadFile("engines.md")
	require.NoError(t, err)
	paths, err := filepath.Glob("../connector/sqlsource/duckdb/*.go")
	require.NoError(t, err)
	var all strings.Builder
	for _, path := range paths {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(source)
	}
	quotes := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, quotes, 4)
	for _, quote := range quotes[1:] { // the first is a call of the reader's
		require.Contains(t, all.String(), quote[1])
	}
}

// TestEnginesNames requires that the fields that engines.md names are those of the
// contract.
func TestEnginesNames(t *testing.T) {
	text, err := os.ReadFile("engines.md")
	require.NoError(t, err)
	var contract strings.Builder
	for _, path := range []string{"api.txt", "../connector/sqlsource/sqlengine/column.go", "../connector/sqlsource/sqlengine/flavor.go"} {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		contract.Write(source)
	}
	names := regexp.MustCompile("`(?:[A-Z][A-Za-z]+\\.)?([A-Z][a-z]+[A-Za-z]*)`").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(names), 30)
	for _, name := range names {
		require.Regexp(t, `\b`+name[1]+`\b`, contract.String())
	}
}
