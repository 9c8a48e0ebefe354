package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilesExist requires that each Go file which a document names exists.
func TestFilesExist(t *testing.T) {
	goFile := regexp.MustCompile(`[a-z0-9]+(?:/[a-z0-9_]+)*/[a-z0-9_]+\.go\b`)
	for _, name := range []string{"architecture.md", "authoring.md", "engines.md", "operating.md", "protocol.md"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, path := range goFile.FindAllString(string(text), -1) {
			_, err := os.Stat(filepath.Join("..", path))
			if err != nil {
				t.Errorf("%s names %s, which does not exist", name, path)
			}
		}
	}
}
