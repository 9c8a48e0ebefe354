package duckdb

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestReaderOptions compares the options that are stated, or left, with those that the
// engine's functions have: a new one is a new guess.
func TestReaderOptions(t *testing.T) {
	db := testkit.Must(newInstances(&FolderOptions{Memory: "100MB"}).openFolder(t.TempDir()))(t)
	defer func() { _ = db.Close() }()
	tests := testNames(t)
	for function, list := range map[string][]readerOption{
		"read_csv": csvOptions, "read_json": jsonOptions, "read_parquet": parquetOptions,
	} {
		var has string
		require.NoError(t, db.QueryRow("SELECT string_agg(DISTINCT p, ' ' ORDER BY p) FROM (SELECT unnest(parameters) AS p FROM "+
			"duckdb_functions() WHERE function_name = "+literal(function)+") WHERE p <> 'col0'").Scan(&has))
		var listed []string
		for _, o := range list {
			require.NotEmpty(t, o.why, o.name)
			name, situation, is := strings.Cut(o.test, "/")
			require.Contains(t, tests, name, "%s of %s", o.name, function)
			if is {
				require.FileExists(t, "testdata/situations/"+situation+".txtar", o.name)
			}
			require.NotContains(t, listed, o.name)
			listed = append(listed, o.name)
		}
		slices.Sort(listed)
		require.Equal(t, strings.Fields(has), listed, function)
	}
}

// testNames returns the names of the tests of this package.
func testNames(t *testing.T) []string {
	files := testkit.Must(filepath.Glob("*_test.go"))(t)
	var names []string
	for _, file := range files {
		text := testkit.Must(os.ReadFile(file))(t)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
