package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSameSizeAndTime writes other rows over a file, and keeps its size and its time of writing, as
// rsync --inplace --times does. Only the time of its last change tells.
func TestSameSizeAndTime(t *testing.T) {
	for _, ext := range []string{".csv", ".parquet"} {
		p, dir, hourAgo := newInstances(&FolderOptions{Memory: "200MB"}), t.TempDir(), time.Now().Add(-time.Hour)
		for version := range 2 {
			file := filepath.Join(dir, "a"+ext)
			content := written(t, ext, fmt.Sprintf("SELECT range + %d AS n FROM range(1, 6)", 1000*(version+1)))
			require.NoError(t, os.WriteFile(file, content, 0o600))
			require.NoError(t, os.Chtimes(file, hourAgo, hourAgo))
			conn, _ := described(t, p, dir)
			var count int
			statement := fmt.Sprintf("SELECT count(*) FROM (%s) WHERE n > %d", selectN, 1000*(version+1))
			require.NoError(t, conn.QueryRowContext(t.Context(), statement).Scan(&count))
			require.Equal(t, 5, count, ext)
		}
	}
}
