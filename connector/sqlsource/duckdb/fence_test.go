package duckdb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestFence runs statements that no request can make: even these read no file but the
// folder's, reach no network and load nothing.
func TestFence(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "inside out")
	for _, folder := range []string{in, out} {
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "a.csv"), []byte("n\n1\n"), 0o600))
	}
	db := testkit.Must(newInstances(&FolderOptions{Memory: "100MB"}).openFolder(in))(t)
	defer func() { _ = db.Close() }()
	testkit.Must(db.Exec("SELECT * FROM read_csv(" + literal(filepath.Join(in, "a.csv")) + ")"))(t)
	for _, statement := range []string{
		"SELECT * FROM read_csv(" + literal(filepath.Join(out, "a.csv")) + ")",
		"SELECT * FROM " + literal(filepath.Join(out, "a.csv")),
		"SELECT * FROM " + literal(in+"/../inside out/a.csv"),
		"SELECT * FROM " + literal(dir+"/i*/*.csv"),
		"SELECT * FROM glob(" + literal(dir+"/*") + ")",
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT * FROM read_blob('/proc/self/environ')",
		"SELECT * FROM 'https://example.com/a.parquet'",
		"COPY (SELECT 1) TO " + literal(filepath.Join(out, "b.csv")),
		"ATTACH " + literal(filepath.Join(out, "b.duckdb")),
		"EXPORT DATABASE " + literal(out),
		"INSTALL httpfs", "LOAD httpfs", "LOAD " + literal(filepath.Join(in, "a.csv")),
		"SET enable_external_access = true", "SET lock_configuration = false", "SET allowed_directories = ['/']",
		"RESET enable_external_access",
		"SET memory_limit = '10GB'", "SET temp_directory = '/tmp'", "PRAGMA enable_profiling = 'json'",
		"SET GLOBAL autoload_known_extensions = true",
	} {
		rows, err := db.Query(statement)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			_ = rows.Close()
		}
		require.Error(t, err, statement)
	}
}
