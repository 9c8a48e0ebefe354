package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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

// TestFreshFiles leases engines for a Parquet file that has just been written to: what an engine keeps of it may be
// of another version within the same tick of a clock, so the next request gets another engine.
func TestFreshFiles(t *testing.T) {
	p, _ := counted()
	file := filepath.Join(t.TempDir(), "a.parquet")
	for _, age := range []time.Duration{time.Second, time.Hour} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.NoError(t, os.Chtimes(file, time.Now(), time.Now().Add(-age)))
		files := fingerprints{file: testkit.Must(os.Lstat(file))(t)}
		i, e := lease(t, p, "", files)
		again, other := lease(t, p, "", files)
		p.release(i)
		p.release(again)
		require.Equal(t, age > time.Minute, e == other)
	}
}
