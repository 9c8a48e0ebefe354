package document

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOwnSlugs reads every slug that a program, a test or a document of the repository
// gives a connector: none is the name of a widespread kind [rule document-21], because
// readers copy what they see. Programs have the slug of the data that they serve.
func TestOwnSlugs(t *testing.T) {
	require.True(t, slices.IsSorted(kinds))
	const root = "../../../.."
	given := regexp.MustCompile(`Slug:\s*"([^"]*)"`)
	programs, found := map[string]bool{}, map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".go", ".md"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		dir := filepath.Dir(path)
		own := strings.HasPrefix(path, root+"/examples/") && !strings.HasSuffix(path, "_test.go")
		if own && strings.Contains(string(text), "\npackage main\n") {
			programs[dir] = programs[dir] || false
		}
		for _, m := range given.FindAllStringSubmatch(string(text), -1) {
			if found[m[1]] = true; own {
				programs[dir] = true
			}
			assert.NotContains(t, kinds, m[1], "%s: name it by its data", path)
		}
		return nil
	}))
	require.Greater(t, len(found), 30)
	require.Greater(t, len(programs), 10)
	for dir, stated := range programs {
		assert.Equal(t, dir != root+"/examples/workspace/cmd/receiver", stated, "%s: its slug is not read here", dir) // no connector
	}
}
